import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { ReadingPlace } from '../places.js';

export async function closedFiles(run: LawRun, place: ReadingPlace): Promise<void> {
  const name = '000005.ldb';
  const bytes = contents(1, 3000);
  const folder = await place.folderWith(new Map([[name, bytes]]));
  const first = await run.open(folder, name);
  const second = await run.open(folder, name);
  await run.closeFile(first);
  await run.closeFile(first, 'a second close() of a file');
  await run.mustRead(second, name, bytes, ', after the same file, opened another time, was closed');
  const third = await run.open(folder, name);
  await run.closeFile(first, 'a third close() of a file');
  await run.mustRead(third, name, bytes, ', after an earlier file was closed again');
  await run.mustRead(second, name, bytes, ', after an earlier file was closed again');
  await run.closeFile(second);
  await run.closeFile(third);
}
