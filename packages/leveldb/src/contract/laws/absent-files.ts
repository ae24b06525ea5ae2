import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { ReadingPlace } from '../places.js';
import { shownName } from '../show.js';

const HELD = ['CURRENT', '000005.ldb'];

/** Names of no file, and names that are no plain file names: CURRENT can hold any bytes, and what it holds is opened. */
export const NOT_PLAIN = ['', '.', '..', '../CURRENT', './CURRENT', '/CURRENT', 'CURRENT/', 'sub/../CURRENT', '..\\CURRENT', 'CURRENT\0', '\0'];
const ABSENT = ['000006.ldb', 'MANIFEST-000001', '5.ldb', '000005.ldb.tmp', 'CURREN', ...NOT_PLAIN];

export async function absentFiles(run: LawRun, place: ReadingPlace): Promise<void> {
  const folder = await place.folderWith(new Map(HELD.map((name, i) => [name, contents(i, 100)])));
  for (const name of ABSENT) {
    const file: unknown = await run.call(`open(${shownName(name)})`, () => folder.open(name));
    if (file !== undefined) run.fail(`open(${shownName(name)}) gives ${file === null ? 'null' : 'a file'}, and there is no such file`);
    if (folder.identityOf !== undefined) {
      const identity = await run.call(`identityOf(${shownName(name)})`, () => folder.identityOf!(name));
      if (identity !== undefined) run.fail(`identityOf(${shownName(name)}) gives an identity, and there is no such file`);
    }
    if (folder.openSync !== undefined) {
      const opened: unknown = run.callSync(`openSync(${shownName(name)})`, () => folder.openSync!(name));
      if (opened !== undefined) run.fail(`openSync(${shownName(name)}) gives a file, and there is no such file`);
    }
  }
}
