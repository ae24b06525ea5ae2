/** The laws of the folder itself: concurrent calls, its lock, and what other objects see of it. */
import { joinedBytes, numberOf } from '@bloom/bytes/internal';
import { holdsTheSame } from '../folder/folder.js';
import { type FolderLock, isMissing, type WritableFolder } from '../folder/writable-folder.js';
import { contents } from './contents.js';
import type { WritingLaw, WritingPlace } from './law.js';
import { type LawRun, shownError } from './law-run.js';

export const FOLDER_LAWS: readonly WritingLaw[] = [
  ['21. simultaneous calls do not disturb each other', simultaneousCalls],
  ['22. the folder is created unless it exists, removed only when it is empty, and missing in between', folderItself],
  ['23. lost is a folder of its own, into which files are moved', lostFolder],
  ['24. the lock has one holder until it is released', lock],
  ['25. a pinned folder has the files of the folder', pinnedFolder],
  ['26. a file that was changed or replaced has another identity', changedIdentities],
];

/** The laws that need another object for the same place. */
export const OTHER_OBJECT_LAWS: readonly WritingLaw[] = [
  ['27. another object for the same place sees every change at once', otherObjects],
];

const COUNT = 8;

/** Tables are written and obsolete files are deleted in the background, while callers write to the log. Calls of one file never overlap. */
async function simultaneousCalls(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const obsolete = Array.from({ length: COUNT }, (_, i) => `${i}.ldb`);
  const moved = Array.from({ length: COUNT }, (_, i) => `${i}.dbtmp`);
  for (const [i, name] of [...obsolete, ...moved].entries()) await run.put(folder, name, contents(i, 40));
  const names = Array.from({ length: COUNT }, (_, i) => `${i}.log`);
  await Promise.all([
    ...names.map(async (name, i) => {
      const file = await run.create(folder, name);
      const bytes = contents(i, 3000);
      for (let offset = 0; offset < 3000; offset += 1000) await run.append(file, bytes.slice(offset, offset + 1000));
      await run.sync(file);
      await run.closeFile(file);
    }),
    ...obsolete.map((name) => run.delete(folder, name)),
    ...moved.map((name, i) => run.rename(folder, name, `${i}.moved`)),
    run.names(folder),
    run.syncFolder(folder),
  ]);
  for (const [i, name] of names.entries()) await run.mustHold(folder, name, contents(i, 3000), ', which was written at the same time as others');
  for (const name of obsolete) await run.mustBeAbsent(folder, name, 'that was deleted at the same time as others');
  for (const [i, name] of moved.entries()) {
    await run.mustBeAbsent(folder, name, 'that was renamed at the same time as others');
    await run.mustHold(folder, `${i}.moved`, contents(COUNT + i, 40), ', to which a file was renamed at the same time as others');
  }
}

async function folderItself(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.newFolder();
  const mayNotBeThere = async (when: string): Promise<void> => {
    const outcome = await run.outcomeOf(`list() ${when}`, () => folder.list());
    if ('error' in outcome && !isMissing(outcome.error)) run.fail(`list() fails with an error other than ENOENT ${when}: ${shownError(outcome.error)}`, outcome.error);
    if (!('error' in outcome) && outcome.answer.length > 0) run.fail(`list() returns ${numberOf(outcome.answer.length, 'name')} ${when}`);
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

async function lostFolder(run: LawRun, place: WritingPlace): Promise<void> {
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

async function lock(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  if (folder.lock === undefined) return;
  const others = [folder, ...(place.again === undefined ? [] : [await place.again(folder)])];
  const held = await run.outcomeOf('lock()', () => folder.lock!());
  if ('error' in held) {
    // There are no locks here: a database is opened with `lock: 'none'` only.
    if (codeOf(held.error) === 'BLOOM_NO_LOCK') return;
    run.fail(`lock() fails with an error other than BLOOM_LOCKED or BLOOM_NO_LOCK: ${shownError(held.error)}`, held.error);
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
  if (codeOf(outcome.error) !== 'BLOOM_LOCKED') run.fail(`lock() fails with an error other than BLOOM_LOCKED ${when}: ${shownError(outcome.error)}`, outcome.error);
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null | undefined)?.code;
}

async function pinnedFolder(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  if (folder.pin === undefined) return;
  const [before, during] = [contents(1, 100), contents(2, 200)];
  await run.put(folder, 'a', before);
  const pinned = await run.call('pin()', () => folder.pin!());
  await run.mustHold(pinned, 'a', before, ', in the folder that pin() returns');
  await run.put(pinned, 'b', during);
  await run.mustHold(folder, 'b', during, ', after it was written in the folder that pin() returns');
  await run.mustList(pinned, ['a', 'b'], 'of the folder that pin() returns');
  await run.call('unpin()', () => pinned.unpin());
  const again = await run.call('pin() after unpin()', () => folder.pin!());
  await run.mustHold(again, 'b', during, ', when the folder was pinned again');
  await run.call('unpin()', () => again.unpin());
  await run.mustHold(folder, 'b', during, ', after unpin()');
}

const GROWN = 'has grown';

/** A reader reads a file again after a refresh only if the file's identity has changed. */
async function changedIdentities(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const name = '000005.ldb';
  const held = contents(1, 2000);
  await run.put(folder, name, held);

  await mustDiffer(run, folder, name, GROWN, async () => {
    const bytes = contents(2, 10);
    const file = await run.openForAppend(folder, name);
    if (file === undefined) return run.put(folder, name, joinedBytes([held, bytes]));
    await run.append(file, bytes);
    await run.sync(file);
    await run.closeFile(file);
  });
  await mustDiffer(run, folder, name, 'was replaced by create()', () => run.put(folder, name, contents(3, 2010)));
  await mustDiffer(run, folder, name, 'was replaced by rename()', async () => {
    await run.put(folder, '000009.dbtmp', contents(4, 2010));
    await run.rename(folder, '000009.dbtmp', name);
  });
  await mustDiffer(run, folder, name, 'was deleted and created again', async () => {
    await run.delete(folder, name);
    await run.put(folder, name, contents(5, 2010));
  });
}

async function mustDiffer(run: LawRun, folder: WritableFolder, name: string, what: string, change: () => Promise<void>): Promise<void> {
  const before = await run.open(folder, name);
  const { identity, byteLength } = before;
  await run.closeFile(before);
  await change();
  const after = await run.open(folder, name);
  // Other laws check that it is the file that was written.
  if (what === GROWN && after.byteLength === byteLength) return;
  if (holdsTheSame(identity, after.identity)) run.fail(`"${name}" has the identity that it had before it ${what}`);
  if (folder.identityOf !== undefined && holdsTheSame(identity, await run.call(`identityOf("${name}")`, () => folder.identityOf!(name)))) {
    run.fail(`identityOf("${name}") is what it was before the file ${what}`);
  }
  await run.closeFile(after);
}

/** What one object does to a place, another one sees: readers may be in another process. */
async function otherObjects(run: LawRun, place: WritingPlace): Promise<void> {
  if (place.again === undefined) return;
  const folder = await place.folder();
  const other = await place.again(folder);
  if (folder.place?.() !== other.place?.()) run.fail('place() of another object for the same place returns something else');
  const parts = [contents(1, 500), contents(2, 90_000)] as const;
  const file = await run.create(folder, '000004.log');
  await run.append(file, parts[0]);
  await run.mustHold(other, '000004.log', parts[0], ', as another object sees it while it is written');
  await run.append(file, parts[1]);
  await run.mustHold(other, '000004.log', joinedBytes(parts), ', as another object sees it while it is written');
  await run.mustList(other, ['000004.log'], 'of another object while a file is written');
  await run.sync(file);
  await run.closeFile(file);
  await run.rename(folder, '000004.log', '000005.log');
  await run.mustHold(other, '000005.log', joinedBytes(parts), ', as another object sees it after it was renamed');
  await run.mustBeAbsent(other, '000004.log', 'to another object after it was renamed');
  await run.mustList(other, ['000005.log'], 'of another object after a file was renamed');
  await run.delete(other, '000005.log');
  await run.mustBeAbsent(folder, '000005.log', 'after another object deleted it');
  await run.mustList(folder, [], 'after another object deleted the only file');
  const later = await place.again(folder);
  await run.put(later, 'CURRENT', parts[0]);
  await run.mustHold(folder, 'CURRENT', parts[0], ', after another object wrote it');
}
