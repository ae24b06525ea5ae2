/** The laws of reading the files of a folder. */
import { numberOf, seeded } from '@bloom/bytes/internal';
import { type FolderFile, isSameState } from '../folder/folder.js';
import { contents } from './contents.js';
import type { ReadingLaw, ReadingPlace } from './law.js';
import { differenceOf, type LawRun, shownName } from './law-run.js';

export const READING_LAWS: readonly ReadingLaw[] = [
  ['1. a file has its length when it is opened, and can be read in pieces at any offset', openedFiles],
  ['2. bytes that were read never change', returnedBytes],
  ['3. a name that no file has, or that is not a plain file name, returns no file and no error', absentFiles],
  ['4. the list has the name of each file once', listedNames],
  ['5. closing a file closes only that file, and closing it again does nothing', closedFiles],
  ['6. simultaneous reads do not disturb each other', simultaneousReads],
  ['7. synchronous reads return the same bytes as asynchronous ones', syncReads],
  ['8. the folder reports the identity of the file that it opens', identities],
];

const TWO_TABLES = ['000005.ldb', '000007.ldb'];

const FILES: ReadonlyMap<string, Uint8Array> = new Map([
  ['CURRENT', contents(1, 16)],
  ['000005.ldb', contents(2, 10_000)],
  ['000003.log', new Uint8Array(0)],
]);

/** Lengths and offsets of pieces, from one byte to nearly all of the file. */
const PIECES = 40;

async function openedFiles(run: LawRun, place: ReadingPlace): Promise<void> {
  const folder = await place.folderWith(FILES);
  const random = seeded(3);
  for (const [name, bytes] of FILES) {
    const file = await run.open(folder, name);
    await run.mustRead(file, name, bytes);
    for (let i = 0; i < PIECES && bytes.length > 0; i++) {
      const offset = random.below(bytes.length);
      const length = 1 + random.below(bytes.length - offset);
      const difference = differenceOf(await run.read(file, name, offset, length), bytes.subarray(offset, offset + length));
      if (difference !== undefined) run.fail(`read(${offset}, ${length}) of ${shownName(name)} ${difference}`);
    }
    for (const [offset, length] of [[bytes.length, 1], [Math.max(0, bytes.length - 4), 8], [bytes.length + 100, 10]] as const) {
      await mustInventNothing(run, () => file.read(offset, length), bytes, offset, `read(${offset}, ${length}) of ${shownName(name)}, which has ${numberOf(bytes.length, 'byte')},`);
    }
    await run.closeFile(file);
  }
}

/** A read outside the file fails, or returns the bytes that the file has of the range. */
async function mustInventNothing(run: LawRun, read: () => Uint8Array | Promise<Uint8Array>, bytes: Uint8Array, offset: number, what: string): Promise<void> {
  const outcome = await run.outcomeOf(what, read);
  if ('error' in outcome) return;
  const found = outcome.answer;
  if (!(found instanceof Uint8Array)) run.fail(`${what} does not return a Uint8Array`);
  if (found.length > Math.max(0, bytes.length - offset)) run.fail(`${what} returns ${numberOf(found.length, 'byte')}, more than there are`);
  const difference = differenceOf(found, bytes.subarray(offset, offset + found.length));
  if (difference !== undefined) run.fail(`${what} ${difference}`);
}

async function returnedBytes(run: LawRun, place: ReadingPlace): Promise<void> {
  const held = TWO_TABLES.map((name, i) => [name, contents(i, 6000)] as const);
  const folder = await place.folderWith(new Map(held));
  const files: FolderFile[] = [];
  for (const [name] of held) files.push(await run.open(folder, name));
  const kept: { readonly what: string; readonly bytes: Uint8Array; readonly expected: Uint8Array }[] = [];
  for (let offset = 0; offset < 6000; offset += 500) {
    for (const [i, [name, bytes]] of held.entries()) {
      const what = `read(${offset}, 500) of "${name}"`;
      const part = await run.call(what, () => files[i]!.read(offset, 500));
      kept.push({ what: `the array that ${what} returned`, bytes: part, expected: bytes.subarray(offset, offset + 500) });
      // Law 1 reports bytes that are wrong from the start.
      if (differenceOf(part, bytes.subarray(offset, offset + 500)) !== undefined) return;
      const whatAtOnce = `readAtOnce(${offset}, 500) of "${name}"`;
      const atOnce = files[i]!.readAtOnce === undefined ? undefined : run.callSync(whatAtOnce, () => files[i]!.readAtOnce!(offset, 500));
      if (atOnce === undefined) continue;
      kept.push({ what: `the array that ${whatAtOnce} returned`, bytes: atOnce, expected: bytes.subarray(offset, offset + 500) });
      // Law 7 reports those of a synchronous read.
      if (!(atOnce instanceof Uint8Array) || differenceOf(atOnce, bytes.subarray(offset, offset + 500)) !== undefined) return;
    }
  }
  for (const { what, bytes, expected } of kept) {
    if (differenceOf(bytes, expected) !== undefined) run.fail(`${what} changes when other bytes are read`);
  }
  for (const file of files) await run.closeFile(file);
}

const PRESENT = ['CURRENT', '000005.ldb'];

/** Names of missing files, and names that are no plain file names: CURRENT can hold any bytes, and the name in it is opened. */
export const NOT_PLAIN = ['', '.', '..', '../CURRENT', './CURRENT', '/CURRENT', 'CURRENT/', 'sub/../CURRENT', '..\\CURRENT', 'CURRENT\0', '\0'];
const ABSENT = ['000006.ldb', 'MANIFEST-000001', '5.ldb', '000005.ldb.tmp', 'CURREN', ...NOT_PLAIN];

async function absentFiles(run: LawRun, place: ReadingPlace): Promise<void> {
  const folder = await place.folderWith(new Map(PRESENT.map((name, i) => [name, contents(i, 100)])));
  for (const name of ABSENT) {
    const file: unknown = await run.call(`open(${shownName(name)})`, () => folder.open(name));
    if (file !== undefined) run.fail(`open(${shownName(name)}) returns ${file === null ? 'null' : 'a file'} although there is no such file`);
    if (folder.identityOf !== undefined) {
      const identity = await run.call(`identityOf(${shownName(name)})`, () => folder.identityOf!(name));
      if (identity !== undefined) run.fail(`identityOf(${shownName(name)}) returns an identity although there is no such file`);
    }
    if (folder.openSync !== undefined) {
      const opened: unknown = run.callSync(`openSync(${shownName(name)})`, () => folder.openSync!(name));
      if (opened !== undefined) run.fail(`openSync(${shownName(name)}) returns a file although there is no such file`);
    }
  }
}

const LISTED = ['CURRENT', 'MANIFEST-000002', '000003.log', '000005.ldb', '000010.ldb', '18446744073709551615.sst', 'LOG', 'LOG.old'];

async function listedNames(run: LawRun, place: ReadingPlace): Promise<void> {
  const folder = await place.folderWith(new Map(LISTED.map((name, i) => [name, contents(i, i)])));
  if (folder.list === undefined) return;
  await run.mustListOnce(folder, LISTED, 'when it is called first');
  for (const name of LISTED) await run.closeFile(await run.open(folder, name));
  await run.mustListOnce(folder, LISTED, 'after its files were opened');
}

async function closedFiles(run: LawRun, place: ReadingPlace): Promise<void> {
  const name = '000005.ldb';
  const bytes = contents(1, 3000);
  const folder = await place.folderWith(new Map([[name, bytes]]));
  const first = await run.open(folder, name);
  const second = await run.open(folder, name);
  await run.closeFile(first);
  await run.closeFile(first, 'a second close() of a file');
  await run.mustRead(second, name, bytes, ', after the same file, opened another time, was closed');
  const third = await run.open(folder, name);
  await run.closeFile(first, 'a third close() of a file');
  await run.mustRead(third, name, bytes, ', after an earlier file was closed again');
  await run.mustRead(second, name, bytes, ', after an earlier file was closed again');
  await run.closeFile(second);
  await run.closeFile(third);
}

const READS = 32;

async function simultaneousReads(run: LawRun, place: ReadingPlace): Promise<void> {
  const held = new Map(TWO_TABLES.map((name, i) => [name, contents(i, 8000)]));
  const folder = await place.folderWith(held);
  const random = seeded(4);
  const files = await Promise.all([...TWO_TABLES, ...TWO_TABLES].map(async (name) => ({ name, file: await run.open(folder, name) })));
  const reads = [];
  for (let i = 0; i < READS; i++) {
    const { name, file } = files[i % files.length]!;
    const offset = random.below(7000);
    const length = 1 + random.below(1000);
    reads.push({ name, file, offset, length, alone: (await run.read(file, name, offset, length)).slice() });
  }
  await Promise.all(
    reads.map(async ({ name, file, offset, length, alone }) => {
      const difference = differenceOf(await run.read(file, name, offset, length), alone);
      if (difference !== undefined) run.fail(`read(${offset}, ${length}) of "${name}" returns other bytes when other reads are under way`);
    }),
  );
  for (const { file } of files) await run.closeFile(file);
}

async function syncReads(run: LawRun, place: ReadingPlace): Promise<void> {
  const name = '000005.ldb';
  const bytes = contents(1, 5000);
  const folder = await place.folderWith(new Map([[name, bytes]]));
  const ranges = [[0, 5000], [1, 1], [4999, 1], [1234, 77]] as const;
  const file = await run.open(folder, name);
  const awaited = new Map<number, Uint8Array>();
  for (const [offset, length] of ranges) awaited.set(offset, (await run.call(`read(${offset}, ${length}) of "${name}"`, () => file.read(offset, length))).slice());
  // The law about reading checks that these are the bytes of the file.
  if (ranges.some(([offset, length]) => awaited.get(offset)!.length !== length)) return;
  const mustBe = (found: Uint8Array, what: string, offset: number): void => {
    const expected = awaited.get(offset)!;
    if (!(found instanceof Uint8Array) || differenceOf(found, expected) !== undefined) {
      run.fail(`${what}(${offset}, ${expected.length}) of "${name}" returns other bytes than read with a promise`);
    }
  };

  if (file.readSync !== undefined) {
    for (const [offset, length] of ranges) {
      const found = run.callSync(`readSync(${offset}, ${length}) of "${name}"`, () => file.readSync!(offset, length));
      mustBe(found, 'readSync', offset);
      const into = new Uint8Array(length);
      mustBe(run.callSync(`readSync(${offset}, ${length}, into) of "${name}"`, () => file.readSync!(offset, length, into)), 'readSync, with memory to read into,', offset);
    }
  }
  for (const [offset, length] of ranges) {
    if (file.readAtOnce === undefined) break;
    const found = run.callSync(`readAtOnce(${offset}, ${length}) of "${name}"`, () => file.readAtOnce!(offset, length));
    // It may have them at another time.
    if (found !== undefined) mustBe(found, 'readAtOnce', offset);
    const into = new Uint8Array(length);
    const filled = run.callSync(`readAtOnce(${offset}, ${length}, into) of "${name}"`, () => file.readAtOnce!(offset, length, into));
    if (filled !== undefined) mustBe(filled, 'readAtOnce, with memory to read into,', offset);
  }
  if (file.hasChanged?.() === true) run.fail(`hasChanged() of "${name}" is true, and nobody has changed the file`);
  await run.closeFile(file);

  if (folder.openSync === undefined) return;
  const opened = run.callSync(`openSync("${name}")`, () => folder.openSync!(name));
  if (opened === undefined) run.fail(`openSync("${name}") returns undefined although there is a file of that name`);
  if (opened.byteLength !== bytes.length) run.fail(`openSync("${name}") returns a file with a byteLength of ${opened.byteLength}, and it has ${numberOf(bytes.length, 'byte')}`);
  for (const [offset, length] of ranges) {
    mustBe(run.callSync(`read(${offset}, ${length}) of openSync("${name}")`, () => opened.read(offset, length)), 'read of openSync', offset);
    if (opened.readInto === undefined) continue;
    const into = new Uint8Array(length);
    const count = run.callSync(`readInto(${offset}) of "${name}"`, () => opened.readInto!(offset, into));
    if (count !== length) run.fail(`readInto(${offset}) of "${name}" reads ${count} of ${numberOf(length, 'byte')}`);
    mustBe(into, 'readInto', offset);
  }
  opened.close?.();
}

/** A `refresh` asks the folder whether a table is still the file that was opened. */
async function identities(run: LawRun, place: ReadingPlace): Promise<void> {
  const names = ['000005.ldb', '000007.ldb'];
  const folder = await place.folderWith(new Map(names.map((name, i) => [name, contents(i, 3000)])));
  if (folder.identityOf === undefined) return;
  for (const name of names) {
    const file = await run.open(folder, name);
    for (const when of ['', ' when it is asked again']) {
      const identity = await run.call(`identityOf("${name}")`, () => folder.identityOf!(name));
      // Some hosts give no identity for any file.
      if (identity === undefined && file.identity === undefined) return;
      if (!isSameState(identity, file.identity)) run.fail(`identityOf("${name}") is not the identity of the file that open() returned${when}`);
    }
    await run.closeFile(file);
  }
}
