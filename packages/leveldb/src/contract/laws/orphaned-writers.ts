import type { WritableFolder } from '../../folder/writable-folder.js';
import { contents, joined } from '../contents.js';
import type { LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';
import { differenceOf } from '../show.js';
import type { WritableFile } from '../../folder/writable-folder.js';

const NAME = '000004.log';
const [FIRST, SECOND, OTHER] = [contents(1, 600), contents(2, 700), contents(3, 800)];

/** A file that is being written, and is taken away by somebody else. */
export async function orphanedWriters<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();

  async function begun(): Promise<WritableFile> {
    const file = await run.create(folder, NAME);
    await run.append(file, FIRST);
    await run.sync(file);
    await check(run, file, true, 'of a file that nobody has touched');
    return file;
  }

  /** Each of these calls may fail: what is written has no place to go. */
  async function writeOn(file: WritableFile): Promise<void> {
    await run.outcomeOf('append() to a file that was taken away', () => file.append(SECOND.slice()));
    await run.outcomeOf('sync() of a file that was taken away', () => file.sync());
    await run.outcomeOf('close() of a file that was taken away', () => file.close());
  }

  const deleted = await begun();
  await run.delete(folder, NAME);
  await check(run, deleted, false, 'after the file was deleted');
  await writeOn(deleted);
  await run.mustBeAbsent(folder, NAME, 'that was deleted, after it was written to');

  const replaced = await begun();
  await run.put(folder, NAME, OTHER);
  await check(run, replaced, false, 'after the file was replaced');
  await writeOn(replaced);
  await run.mustHold(folder, NAME, OTHER, ', after the file that it took the place of was written to');

  const renamed = await begun();
  await run.rename(folder, NAME, '000005.log');
  await writeOn(renamed);
  await run.mustBeAbsent(folder, NAME, 'that was renamed, after it was written to');
  const found = await run.contentsOf(folder, '000005.log');
  const isEither = [FIRST, joined(FIRST, SECOND)].some((held) => found !== undefined && differenceOf(found, held) === undefined);
  if (!isEither) run.fail('a file that was renamed while it was written holds neither what was appended before, nor all that was appended');
}

async function check(run: LawRun, file: WritableFile, isSound: boolean, when: string): Promise<void> {
  if (file.check === undefined) return;
  const outcome = await run.outcomeOf(`check() ${when}`, () => file.check!());
  if (isSound && 'error' in outcome) run.fail(`check() fails ${when}: ${String(outcome.error)}`, outcome.error);
  if (!isSound && !('error' in outcome)) run.fail(`check() succeeds ${when}, so what was appended is lost and nobody knows`);
}
