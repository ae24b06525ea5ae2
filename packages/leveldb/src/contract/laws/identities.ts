import { isSameState } from '../../folder/folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { ReadingPlace } from '../places.js';

/** A `refresh` asks the folder whether a table is still the file that was opened. */
export async function identities(run: LawRun, place: ReadingPlace): Promise<void> {
  const names = ['000005.ldb', '000007.ldb'];
  const folder = await place.folderWith(new Map(names.map((name, i) => [name, contents(i, 3000)])));
  if (folder.identityOf === undefined) return;
  for (const name of names) {
    const file = await run.open(folder, name);
    for (const when of ['', ' when it is asked again']) {
      const identity = await run.call(`identityOf("${name}")`, () => folder.identityOf!(name));
      // Some hosts know nothing of any file.
      if (identity === undefined && file.identity === undefined) return;
      if (!isSameState(identity, file.identity)) run.fail(`identityOf("${name}") is not the identity of the file that open gave${when}`);
    }
    await run.closeFile(file);
  }
}
