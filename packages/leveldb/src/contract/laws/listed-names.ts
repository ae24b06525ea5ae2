import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { ReadingPlace } from '../places.js';

const NAMES = ['CURRENT', 'MANIFEST-000002', '000003.log', '000005.ldb', '000010.ldb', '18446744073709551615.sst', 'LOG', 'LOG.old'];

export async function listedNames(run: LawRun, place: ReadingPlace): Promise<void> {
  const folder = await place.folderWith(new Map(NAMES.map((name, i) => [name, contents(i, i)])));
  if (folder.list === undefined) return;
  await run.mustListOnce(folder, NAMES, 'when it is called first');
  for (const name of NAMES) await run.closeFile(await run.open(folder, name));
  await run.mustListOnce(folder, NAMES, 'after its files were opened');
}
