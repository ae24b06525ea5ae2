import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents, joined } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

/** What one object for a place has done, another one sees: readers in another process do. */
export async function otherObjects<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  if (place.again === undefined) return;
  const folder = await place.folder();
  const other = await place.again(folder);
  const parts = [contents(1, 500), contents(2, 90_000)] as const;
  const file = await run.create(folder, '000004.log');
  await run.append(file, parts[0]);
  await run.mustHold(other, '000004.log', parts[0], ', as another object sees it while it is written');
  await run.append(file, parts[1]);
  await run.mustHold(other, '000004.log', joined(...parts), ', as another object sees it while it is written');
  await run.mustList(other, ['000004.log'], 'of another object while a file is written');
  await run.sync(file);
  await run.closeFile(file);
  await run.rename(folder, '000004.log', '000005.log');
  await run.mustHold(other, '000005.log', joined(...parts), ', as another object sees it after it was renamed');
  await run.mustBeAbsent(other, '000004.log', 'to another object after it was renamed');
  await run.mustList(other, ['000005.log'], 'of another object after a file was renamed');
  await run.delete(other, '000005.log');
  await run.mustBeAbsent(folder, '000005.log', 'after another object deleted it');
  await run.mustList(folder, [], 'after another object deleted the only file');
  const later = await place.again(folder);
  await run.put(later, 'CURRENT', parts[0]);
  await run.mustHold(folder, 'CURRENT', parts[0], ', after another object wrote it');
}
