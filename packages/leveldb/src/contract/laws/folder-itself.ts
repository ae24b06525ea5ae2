import type { WritableFolder } from '../../folder/writable-folder.js';
import { isMissing } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import { type LawRun, shownError } from '../law-run.js';
import type { WritingPlace } from '../places.js';

export async function folderItself<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.newFolder();
  const mayNotBeThere = async (when: string): Promise<void> => {
    const outcome = await run.outcomeOf(`list() ${when}`, () => folder.list());
    if ('error' in outcome && !isMissing(outcome.error)) run.fail(`list() fails without the code ENOENT ${when}: ${shownError(outcome.error)}`, outcome.error);
    if (!('error' in outcome) && outcome.answer.length > 0) run.fail(`list() gives ${outcome.answer.length} names ${when}`);
    await run.mustBeAbsent(folder, 'CURRENT', when);
  };
  await mayNotBeThere('before the folder was created');
  await run.call('createFolder()', () => folder.createFolder());
  const bytes = contents(1, 70);
  await run.put(folder, 'CURRENT', bytes);
  await run.call('createFolder() of a folder that is there', () => folder.createFolder());
  await run.mustHold(folder, 'CURRENT', bytes, ', after createFolder() of the folder that it is in');
  await run.call('removeFolder() of a folder with a file', () => folder.removeFolder());
  await run.mustHold(folder, 'CURRENT', bytes, ', after removeFolder() of the folder that it is in');
  // A pinned folder ends with the folder that it is.
  if ('unpin' in folder) return;
  await run.delete(folder, 'CURRENT');
  await run.call('removeFolder() of an empty folder', () => folder.removeFolder());
  await mayNotBeThere('after the folder was removed');
  await run.call('removeFolder() of a folder that was removed', () => folder.removeFolder());
  await run.call('createFolder() of a folder that was removed', () => folder.createFolder());
  await run.put(folder, 'CURRENT', bytes);
  await run.mustHold(folder, 'CURRENT', bytes, ', in a folder that was removed and created again');
}
