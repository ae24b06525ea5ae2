import type { WritableFolder } from '../../folder/writable-folder.js';
import { isMissing } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import { type LawRun, shownError } from '../law-run.js';
import type { WritingPlace } from '../places.js';

export async function missingFiles<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const held = contents(1, 400);
  await run.put(folder, 'CURRENT', held);

  async function mustSayMissing(what: string, call: () => unknown): Promise<void> {
    const outcome = await run.outcomeOf(what, call);
    if (!('error' in outcome)) run.fail(`${what} succeeds, and there is no such file`);
    if (!isMissing(outcome.error)) run.fail(`${what} fails without the code ENOENT, and there is no such file: ${shownError(outcome.error)}`, outcome.error);
  }

  await mustSayMissing('rename("000001.dbtmp", "CURRENT")', () => folder.rename('000001.dbtmp', 'CURRENT'));
  await run.mustHold(folder, 'CURRENT', held, ', after a file that is missing was renamed to it');
  await mustSayMissing('rename("000001.dbtmp", "000002.dbtmp")', () => folder.rename('000001.dbtmp', '000002.dbtmp'));
  const lost = folder.lostFolder();
  await run.call('createFolder() of lostFolder()', () => lost.createFolder());
  await mustSayMissing('moveToLost("000001.log", "000001.log")', () => folder.moveToLost('000001.log', '000001.log'));

  const outcome = await run.outcomeOf('openForAppend("000001.log")', () => folder.openForAppend('000001.log'));
  if ('error' in outcome) {
    if (!isMissing(outcome.error)) run.fail(`openForAppend("000001.log") fails without the code ENOENT, and there is no such file: ${shownError(outcome.error)}`, outcome.error);
  } else if (outcome.answer !== undefined) {
    await run.closeFile(outcome.answer);
    run.fail('openForAppend("000001.log") gives a file, and there was none of that name');
  }
  for (const name of ['000001.dbtmp', '000002.dbtmp', '000001.log']) await run.mustBeAbsent(folder, name, 'after calls that failed because it was missing');
}
