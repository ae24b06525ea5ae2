import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

export async function pinnedFolder<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  if (folder.pin === undefined) return;
  const [before, during] = [contents(1, 100), contents(2, 200)];
  await run.put(folder, 'a', before);
  const pinned = await run.call('pin()', () => folder.pin!());
  await run.mustHold(pinned, 'a', before, ', in the folder that pin() gives');
  await run.put(pinned, 'b', during);
  await run.mustHold(folder, 'b', during, ', after it was written in the folder that pin() gives');
  await run.mustList(pinned, ['a', 'b'], 'of the folder that pin() gives');
  await run.call('unpin()', () => pinned.unpin());
  const again = await run.call('pin() after unpin()', () => folder.pin!());
  await run.mustHold(again, 'b', during, ', when the folder was pinned again');
  await run.call('unpin()', () => again.unpin());
  await run.mustHold(folder, 'b', during, ', after unpin()');
}
