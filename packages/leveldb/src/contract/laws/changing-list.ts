import type { WritableFolder } from '../../folder/writable-folder.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

const ONE = new Uint8Array([1]);

/** The database lists the folder to find out what is obsolete, and deletes files while it goes through the names. */
export async function changingList<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  await run.mustListOnce(folder, [], 'of a new folder');
  await run.put(folder, '000001.log', ONE);
  await run.mustListOnce(folder, ['000001.log'], 'after a file was created');
  const open = await run.create(folder, '000002.log');
  await run.mustListOnce(folder, ['000001.log', '000002.log'], 'while a file is written');
  await run.closeFile(open);
  await run.put(folder, '000001.log', ONE);
  await run.mustListOnce(folder, ['000001.log', '000002.log'], 'after a file was created over another');
  const before = await run.call('list()', () => folder.list());
  const copy = [...before];
  await run.rename(folder, '000001.log', '000003.log');
  await run.mustListOnce(folder, ['000002.log', '000003.log'], 'after a file was renamed');
  await run.rename(folder, '000002.log', '000003.log');
  await run.mustListOnce(folder, ['000003.log'], 'after a file was renamed to another');
  await run.delete(folder, '000003.log');
  await run.mustListOnce(folder, [], 'after all files were deleted');
  if (before.length !== copy.length || before.some((name, i) => name !== copy[i])) run.fail('the array that list() gave changes when the folder does');
}
