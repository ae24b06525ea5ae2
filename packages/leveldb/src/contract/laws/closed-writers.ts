import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

/** After a failure the database closes a file that may have been closed before. */
export async function closedWriters<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const bytes = contents(1, 900);
  const file = await run.create(folder, '000004.log');
  await run.call('sync() of a file that is empty', () => file.sync());
  await run.append(file, bytes);
  await run.sync(file);
  await run.call('a second sync() in a row', () => file.sync());
  await run.closeFile(file);
  const other = await run.create(folder, '000005.log');
  await run.closeFile(file, 'a second close() of a file that was written');
  await run.append(other, bytes);
  await run.sync(other);
  await run.closeFile(file, 'a third close() of a file that was written');
  await run.closeFile(other);
  await run.mustHold(folder, '000004.log', bytes, ', after it was closed three times');
  await run.mustHold(folder, '000005.log', bytes, ', after another file was closed three times');

  const unsynced = await run.create(folder, '000006.log');
  await run.append(unsynced, bytes);
  await run.closeFile(unsynced);
  await run.mustHold(folder, '000006.log', bytes, ', after it was closed without sync()');
  await run.closeFile(await run.create(folder, '000007.log'));
  await run.mustHold(folder, '000007.log', new Uint8Array(0), ', after it was created and closed');
}
