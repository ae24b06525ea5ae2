/** The laws of the files that are written, renamed and deleted. */
import { joinedBytes, numberOf } from '@bloom/bytes/internal';
import { isMissing, type WritableFile, type WritableFolder } from '../folder/writable-folder.js';
import { contents } from './contents.js';
import type { WritingLaw, WritingPlace } from './law.js';
import { differenceOf, isChange, type LawRun, shownError, shownName } from './law-run.js';
import { NOT_PLAIN } from './reading-laws.js';

export const FILE_LAWS: readonly WritingLaw[] = [
  ['9. appended bytes can be read at once, in order and whole, before they are synced', appendedBytes],
  ['10. append neither keeps nor changes the bytes that it is given', lentBytes],
  ['11. a file that is open for reading stays as it was when it was opened, while it grows', openReaders],
  ['12. a file that is opened for appending continues at its end', appendingAgain],
  ['13. a created file is empty, and replaces a file of the same name', createdOver],
  ['14. a renamed file replaces a file of the new name at once', renamedFiles],
  ['15. deleting a file deletes no other; deleting a missing file is no error', deletedFiles],
  ['16. the list follows each creation, renaming and deletion', changingList],
  ['17. a missing file is reported as missing, and is not created', missingFiles],
  ['18. each name is a file of its own; names that are not plain file names are refused', plainNames],
  ['19. what is written to a file that was deleted, replaced or renamed gets into no other file', orphanedWriters],
  ['20. a written file can be synced again, closed again, and closed without a sync', closedWriters],
];

/** Small records, blocks of a log, and a part of a table: some folders write long arrays differently from short ones. */
const APPENDED_LENGTHS = [1, 7, 0, 32_768, 300, 200_000, 1];

/** The offset of each array in a larger one. */
const BEFORE = 5;
const AFTER = 9;

async function appendedBytes(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  const file = await run.create(folder, name);
  await run.mustHold(folder, name, new Uint8Array(0), ', when it was created');
  let held: Uint8Array = new Uint8Array(0);
  for (const [i, length] of APPENDED_LENGTHS.entries()) {
    const around = contents(i, BEFORE + length + AFTER);
    const bytes = around.subarray(BEFORE, BEFORE + length);
    held = joinedBytes([held, bytes]);
    await run.call(`append() of ${length} bytes`, () => file.append(bytes));
    await run.mustHold(folder, name, held, `, after ${i + 1} appends, of which the last had ${length} bytes and was not synced`);
  }
  await run.sync(file);
  await run.mustHold(folder, name, held, ', after sync');
  await run.closeFile(file);
  await run.mustHold(folder, name, held, ', after close');
}

/** Below and above the size that folders write at once. */
const LENT_LENGTHS = [100, 4000, 100_000, 100];

async function lentBytes(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  const file = await run.create(folder, name);
  const lent = new Uint8Array(Math.max(...LENT_LENGTHS));
  const held: Uint8Array[] = [];
  for (const [i, length] of LENT_LENGTHS.entries()) {
    const bytes = contents(i, length);
    held.push(bytes);
    lent.set(bytes);
    await run.call(`append() of ${length} bytes`, () => file.append(lent.subarray(0, length)));
    if (differenceOf(lent.subarray(0, length), bytes) !== undefined) run.fail('append() changes the bytes that it was lent');
    lent.fill(0xee);
  }
  await run.mustHold(folder, name, joinedBytes(held), ', after the arrays that append() was lent were changed');
  await run.sync(file);
  await run.closeFile(file);
  await run.mustHold(folder, name, joinedBytes(held), ', after the arrays that append() was lent were changed and the file was closed');
}

/** Readers open a log while it is written, and read it while it grows: what they see is a prefix of the writes. */
async function openReaders(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  const file = await run.create(folder, name);
  const parts = [contents(1, 500), contents(2, 40_000), contents(3, 90_000)];
  await run.append(file, parts[0]!);
  const reader = await run.open(folder, name);
  const read = await run.read(reader, name, 0, 500);
  for (const part of parts.slice(1)) {
    await run.append(file, part);
    await run.mustReadAsBefore(reader, name, parts[0]!, ' when the file grows');
    if (differenceOf(read, parts[0]!) !== undefined) run.fail(`an array that read() returned changes when "${name}" grows`);
  }
  await run.mustHold(folder, name, joinedBytes(parts), ', when it is opened after it has grown');
  await run.closeFile(reader);
  await run.closeFile(file);
}

/** With `reuseLogs`, a log and a MANIFEST of an earlier opening are continued. */
async function appendingAgain(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const name = '000004.log';
  let held = contents(0, 5000);
  await run.put(folder, name, held);
  for (let round = 1; round <= 3; round++) {
    const file = await run.openForAppend(folder, name);
    // Nothing must be appended to the file: the database then begins another one.
    if (file === undefined) return;
    await run.mustHold(folder, name, held, ', after openForAppend()');
    const bytes = contents(round, 1000 * round);
    await run.append(file, bytes);
    held = joinedBytes([held, bytes]);
    await run.mustHold(folder, name, held, `, after openForAppend() and append(), round ${round}`);
    await run.sync(file);
    await run.closeFile(file);
  }
  const untouched = await run.openForAppend(folder, name);
  if (untouched !== undefined) await run.closeFile(untouched);
  await run.mustHold(folder, name, held, ', after openForAppend() and close()');
}

/** A killed process may have left a file with the name of a new one. */
async function createdOver(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const name = '000005.ldb';
  const [before, after] = [contents(1, 5000), contents(2, 700)];
  await run.put(folder, name, before);
  const reader = await run.open(folder, name);
  const file = await run.create(folder, name);
  await run.mustHold(folder, name, new Uint8Array(0), ', after create() over a file of that name');
  await run.mustReadAsBefore(reader, name, before, ' when create() replaces the file');
  await run.append(file, after);
  await run.sync(file);
  await run.closeFile(file);
  await run.mustHold(folder, name, after, ', after create() over a file of that name');
  await run.mustReadAsBefore(reader, name, before, ' when create() has replaced the file');
  await run.closeFile(reader);
}

const CURRENT = 'CURRENT';
const TEMPORARY = '000009.dbtmp';

/** How often CURRENT is replaced while it is read. */
const RENAMINGS = 12;

async function renamedFiles(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const moved = contents(1, 3000);
  await run.put(folder, 'a', moved);
  await run.rename(folder, 'a', 'b');
  await run.mustHold(folder, 'b', moved, ', after a file was renamed to it');
  await run.mustBeAbsent(folder, 'a', 'after it was renamed');

  let current = contents(2, 4000);
  await run.put(folder, CURRENT, current);
  for (let round = 0; round < RENAMINGS; round++) {
    const next = contents(3 + round, 2000 + 500 * (round % 5));
    await run.put(folder, TEMPORARY, next);
    const reader = await run.open(folder, CURRENT);
    await renameWhileReading(run, folder, current, next);
    await run.mustHold(folder, CURRENT, next, ', after another file was renamed to it');
    await run.mustBeAbsent(folder, TEMPORARY, 'after it was renamed');
    await run.mustReadAsBefore(reader, CURRENT, current, ' when another file is renamed to it');
    await run.closeFile(reader);
    current = next;
  }
}

/** Replaces CURRENT, and reads it until that is done: it must always exist, with the old or the new contents. */
async function renameWhileReading(run: LawRun, folder: WritableFolder, before: Uint8Array, after: Uint8Array): Promise<void> {
  const progress = { isOver: false };
  const renaming = run.rename(folder, TEMPORARY, CURRENT).finally(() => (progress.isOver = true));
  // A failure is thrown where the promise is awaited.
  renaming.catch(() => undefined);
  for (let i = 1; !progress.isOver; i++) {
    const outcome = await run.outcomeOf(`open and read of "${CURRENT}"`, async () => {
      const file = await folder.open(CURRENT);
      if (file === undefined) return undefined;
      try {
        return file.byteLength === 0 ? new Uint8Array(0) : (await file.read(0, file.byteLength)).slice();
      } finally {
        await file.close?.();
      }
    });
    if ('error' in outcome) {
      if (!isChange(outcome.error)) run.fail(`"${CURRENT}" cannot be read while another file is renamed to it: ${String(outcome.error)}`, outcome.error);
    } else if (outcome.answer === undefined) {
      run.fail(`open("${CURRENT}") returns undefined while another file is renamed to it`);
    } else if (differenceOf(outcome.answer, before) !== undefined && differenceOf(outcome.answer, after) !== undefined) {
      run.fail(`"${CURRENT}" is neither the old file nor the new one while another file is renamed to it: it has ${numberOf(outcome.answer.length, 'byte')}`);
    }
    if (i % 4 === 0) await run.turn();
  }
  await renaming;
}

async function deletedFiles(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const names = ['000005.ldb', '000005.ld', '00000', '000005.ldb.1', '000006.ldb'];
  const held = new Map(names.map((name, i) => [name, contents(i, 800 + i)]));
  for (const [name, bytes] of held) await run.put(folder, name, bytes);
  const [name, ...others] = names as [string, ...string[]];
  const reader = await run.open(folder, name);
  await run.delete(folder, name);
  await run.mustBeAbsent(folder, name, 'after it was deleted');
  await run.mustReadAsBefore(reader, name, held.get(name)!, ' when the file is deleted');
  await run.closeFile(reader);
  for (const other of others) await run.mustHold(folder, other, held.get(other)!, `, after "${name}" was deleted`);
  await run.call(`delete("${name}"), which was deleted before,`, () => folder.delete(name));
  await run.call('delete("000099.ldb"), which never was,', () => folder.delete('000099.ldb'));
  for (const other of others) await run.mustHold(folder, other, held.get(other)!, ', after files were deleted that are not there');
  const again = contents(9, 300);
  await run.put(folder, name, again);
  await run.mustHold(folder, name, again, ', when it is created again after it was deleted');
}

const ONE = new Uint8Array([1]);

/** The database lists the folder to find obsolete files, and deletes files while it goes through the names. */
async function changingList(run: LawRun, place: WritingPlace): Promise<void> {
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
  if (before.length !== copy.length || before.some((name, i) => name !== copy[i])) run.fail('the array that list() returned changes when the folder does');
}

async function missingFiles(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const held = contents(1, 400);
  await run.put(folder, 'CURRENT', held);

  async function mustSayMissing(what: string, call: () => unknown): Promise<void> {
    const outcome = await run.outcomeOf(what, call);
    if (!('error' in outcome)) run.fail(`${what} succeeds although there is no such file`);
    if (!isMissing(outcome.error)) run.fail(`${what} fails with an error other than ENOENT, although there is no such file: ${shownError(outcome.error)}`, outcome.error);
  }

  await mustSayMissing('rename("000001.dbtmp", "CURRENT")', () => folder.rename('000001.dbtmp', 'CURRENT'));
  await run.mustHold(folder, 'CURRENT', held, ', after a file that is missing was renamed to it');
  await mustSayMissing('rename("000001.dbtmp", "000002.dbtmp")', () => folder.rename('000001.dbtmp', '000002.dbtmp'));
  const lost = folder.lostFolder();
  await run.call('createFolder() of lostFolder()', () => lost.createFolder());
  await mustSayMissing('moveToLost("000001.log", "000001.log")', () => folder.moveToLost('000001.log', '000001.log'));

  const outcome = await run.outcomeOf('openForAppend("000001.log")', () => folder.openForAppend('000001.log'));
  if ('error' in outcome) {
    if (!isMissing(outcome.error)) run.fail(`openForAppend("000001.log") fails with an error other than ENOENT, although there is no such file: ${shownError(outcome.error)}`, outcome.error);
  } else if (outcome.answer !== undefined) {
    await run.closeFile(outcome.answer);
    run.fail('openForAppend("000001.log") returns a file although there was none of that name');
  }
  for (const name of ['000001.dbtmp', '000002.dbtmp', '000001.log']) await run.mustBeAbsent(folder, name, 'after calls that failed because it was missing');
}

/** Names as databases have them; some differ only a little. None differ only in case, which some file systems ignore. */
const NAMES = [
  'CURRENT',
  'MANIFEST-000002',
  'MANIFEST-2',
  '000003.log',
  '3.log',
  '0000003.log',
  '000003.ldb',
  '000003.sst',
  '000003.dbtmp',
  '18446744073709551615.ldb',
  '1844674407370955161.ldb',
  'LOG',
  'LOG.old',
  '000003.log.1',
  '000003.log.10',
];

async function plainNames(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();
  const held = new Map(NAMES.map((name, i) => [name, contents(i, 50 + i)]));
  for (const [name, bytes] of held) await run.put(folder, name, bytes);
  for (const [name, bytes] of held) await run.mustHold(folder, name, bytes, ', next to files with similar names');
  for (const name of NOT_PLAIN) {
    await mustFail(run, `create(${shownName(name)})`, () => folder.create(name));
    await mustFail(run, `rename("LOG", ${shownName(name)})`, () => folder.rename('LOG', name));
  }
  for (const [name, bytes] of held) await run.mustHold(folder, name, bytes, ', after create() and rename() with names of no file');
}

async function mustFail(run: LawRun, what: string, call: () => unknown): Promise<void> {
  const outcome = await run.outcomeOf(what, call);
  if (!('error' in outcome)) run.fail(`${what} accepts a name that is not a plain file name`);
}

const NAME = '000004.log';
const [FIRST, SECOND, OTHER] = [contents(1, 600), contents(2, 700), contents(3, 800)];

/** A file that is being written, and is deleted by another process. */
async function orphanedWriters(run: LawRun, place: WritingPlace): Promise<void> {
  const folder = await place.folder();

  async function begun(): Promise<WritableFile> {
    const file = await run.create(folder, NAME);
    await run.append(file, FIRST);
    await run.sync(file);
    await check(run, file, true, 'of a file that nobody has touched');
    return file;
  }

  /** Each of these calls may fail, because the file no longer exists. */
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
  const isEither = [FIRST, joinedBytes([FIRST, SECOND])].some((held) => found !== undefined && differenceOf(found, held) === undefined);
  if (!isEither) run.fail('a file that was renamed while it was written holds neither what was appended before, nor all that was appended');
}

async function check(run: LawRun, file: WritableFile, isSound: boolean, when: string): Promise<void> {
  if (file.check === undefined) return;
  const outcome = await run.outcomeOf(`check() ${when}`, () => file.check!());
  if (isSound && 'error' in outcome) run.fail(`check() fails ${when}: ${String(outcome.error)}`, outcome.error);
  if (!isSound && !('error' in outcome)) run.fail(`check() succeeds ${when}, although what was appended is lost`);
}

/** After a failure the database closes a file that may have been closed before. */
async function closedWriters(run: LawRun, place: WritingPlace): Promise<void> {
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
