import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';
import { shownName } from '../show.js';
import { NOT_PLAIN } from './absent-files.js';

/** Names as databases have them, those that differ in little beside one another. Case is not among that: some file systems ignore it. */
const NAMES = [
  'CURRENT',
  'MANIFEST-000002',
  'MANIFEST-2',
  '000003.log',
  '3.log',
  '0000003.log',
  '000003.ldb',
  '000003.sst',
  '000003.dbtmp',
  '18446744073709551615.ldb',
  '1844674407370955161.ldb',
  'LOG',
  'LOG.old',
  '000003.log.1',
  '000003.log.10',
];

export async function plainNames<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const held = new Map(NAMES.map((name, i) => [name, contents(i, 50 + i)]));
  for (const [name, bytes] of held) await run.put(folder, name, bytes);
  for (const [name, bytes] of held) await run.mustHold(folder, name, bytes, ', beside files with names like it');
  for (const name of NOT_PLAIN) {
    await mustFail(run, `create(${shownName(name)})`, () => folder.create(name));
    await mustFail(run, `rename("LOG", ${shownName(name)})`, () => folder.rename('LOG', name));
  }
  for (const [name, bytes] of held) await run.mustHold(folder, name, bytes, ', after create() and rename() with names of no file');
}

async function mustFail(run: LawRun, what: string, call: () => unknown): Promise<void> {
  const outcome = await run.outcomeOf(what, call);
  if (!('error' in outcome)) run.fail(`${what} succeeds, and that is no plain file name`);
}
