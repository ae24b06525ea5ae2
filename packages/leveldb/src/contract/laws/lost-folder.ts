import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';

export async function lostFolder<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const [moved, kept, copied] = [contents(1, 300), contents(2, 400), contents(3, 500)];
  await run.put(folder, '000003.log', moved);
  await run.put(folder, '000004.log', kept);
  const lost = folder.lostFolder();
  await run.call('createFolder() of lostFolder()', () => lost.createFolder());
  await run.mustList(lost, [], 'of lostFolder() when it is new');
  await run.put(lost, '000004.log', copied);
  await run.mustHold(folder, '000004.log', kept, ', after a file of the same name was written to lostFolder()');
  await run.call('moveToLost("000003.log", "000003.log.1")', () => folder.moveToLost('000003.log', '000003.log.1'));
  await run.mustBeAbsent(folder, '000003.log', 'after it was moved to lostFolder()');
  for (const each of [lost, folder.lostFolder()]) {
    await run.call('createFolder() of lostFolder(), which is there,', () => each.createFolder());
    await run.mustHold(each, '000003.log.1', moved, ', in lostFolder(), after it was moved there');
    await run.mustHold(each, '000004.log', copied, ', in lostFolder()');
    await run.mustList(each, ['000003.log.1', '000004.log'], 'of lostFolder()');
    await run.syncFolder(each);
  }
  await run.mustList(folder, ['000004.log'], 'after a file was moved to lostFolder()');
}
