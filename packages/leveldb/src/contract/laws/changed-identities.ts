import { holdsTheSame } from '../../folder/folder.js';
import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents, joined } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

const GROWN = 'has grown';

/** A reader that is refreshed reads again only what has another identity. */
export async function changedIdentities<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const name = '000005.ldb';
  const held = contents(1, 2000);
  await run.put(folder, name, held);

  await mustDiffer(run, folder, name, GROWN, async () => {
    const bytes = contents(2, 10);
    const file = await run.openForAppend(folder, name);
    if (file === undefined) return run.put(folder, name, joined(held, bytes));
    await run.append(file, bytes);
    await run.sync(file);
    await run.closeFile(file);
  });
  await mustDiffer(run, folder, name, 'was replaced by create()', () => run.put(folder, name, contents(3, 2010)));
  await mustDiffer(run, folder, name, 'was replaced by rename()', async () => {
    await run.put(folder, '000009.dbtmp', contents(4, 2010));
    await run.rename(folder, '000009.dbtmp', name);
  });
  await mustDiffer(run, folder, name, 'was deleted and created again', async () => {
    await run.delete(folder, name);
    await run.put(folder, name, contents(5, 2010));
  });
}

async function mustDiffer(run: LawRun, folder: WritableFolder, name: string, what: string, change: () => Promise<void>): Promise<void> {
  const before = await run.open(folder, name);
  const { identity, byteLength } = before;
  await run.closeFile(before);
  await change();
  const after = await run.open(folder, name);
  // That it is not the file that was written is for other laws.
  if (what === GROWN && after.byteLength === byteLength) return;
  if (holdsTheSame(identity, after.identity)) run.fail(`"${name}" has the identity that it had before it ${what}`);
  if (folder.identityOf !== undefined && holdsTheSame(identity, await run.call(`identityOf("${name}")`, () => folder.identityOf!(name)))) {
    run.fail(`identityOf("${name}") is what it was before the file ${what}`);
  }
  await run.closeFile(after);
}
