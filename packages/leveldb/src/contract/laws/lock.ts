import type { FolderLock, WritableFolder } from '../../folder/writable-folder.js';
import { contents } from '../contents.js';
import { type LawRun, shownError } from '../law-run.js';
import type { WritingPlace } from '../places.js';

export async function lock<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  if (folder.lock === undefined) return;
  const others = [folder, ...(place.again === undefined ? [] : [await place.again(folder)])];
  const held = await run.outcomeOf('lock()', () => folder.lock!());
  if ('error' in held) {
    // There are no locks here: a database is opened with `lock: 'none'` only.
    if (codeOf(held.error) === 'BLOOM_NO_LOCK') return;
    run.fail(`lock() fails with other than BLOOM_LOCKED or BLOOM_NO_LOCK: ${shownError(held.error)}`, held.error);
  }
  const first = held.answer;
  for (const other of others) await mustBeLocked(run, other, 'while the lock is held');
  for (const other of others) await mustBeLocked(run, other, 'while the lock is held and another lock() was refused');
  await run.put(folder, 'CURRENT', contents(1, 20));
  await run.delete(folder, 'CURRENT');
  for (const other of others) await mustBeLocked(run, other, 'while the lock is held, after files were written and deleted');
  await run.call('release()', () => first.release());
  const second = await run.call('lock() after release()', () => others.at(-1)!.lock!());
  await run.outcomeOf('a second release() of a lock', () => first.release());
  for (const other of others) await mustBeLocked(run, other, 'while a second lock is held, after the first was released again');
  await run.call('release()', () => second.release());
}

async function mustBeLocked(run: LawRun, folder: WritableFolder, when: string): Promise<void> {
  const outcome = await run.outcomeOf('lock()', (): FolderLock | Promise<FolderLock> => folder.lock!());
  if (!('error' in outcome)) {
    await outcome.answer.release();
    run.fail(`lock() succeeds ${when}`);
  }
  if (codeOf(outcome.error) !== 'BLOOM_LOCKED') run.fail(`lock() fails with other than BLOOM_LOCKED ${when}: ${shownError(outcome.error)}`, outcome.error);
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code;
}
