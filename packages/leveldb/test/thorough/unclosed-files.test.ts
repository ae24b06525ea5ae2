import { Database, type DatabaseOptions, type FolderFile, type WritableFile, type WritableFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { describe, expect, test } from 'vitest';

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What fails, and which files are open. */
class Calls {
  readonly open = new Set<string>();
  #made = 0;
  #lastFile = 0;
  /** The number of the call that fails, with all that follow if `forGood`. */
  readonly #failing: number;
  readonly #forGood: boolean;

  constructor(failing: number, forGood: boolean) {
    this.#failing = failing;
    this.#forGood = forGood;
  }

  get hasFailed(): boolean {
    return this.#made >= this.#failing;
  }

  make<T>(call: () => T): T {
    this.#made++;
    if (this.#made === this.#failing || (this.#forGood && this.hasFailed)) throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' });
    return call();
  }

  opened(name: string): string {
    const opened = `${name}, opened as file ${++this.#lastFile}`;
    this.open.add(opened);
    return opened;
  }

  /** Closes a file, as a system does that reports a failure. */
  close(opened: string): void {
    this.open.delete(opened);
    this.make(() => undefined);
  }
}

/** A folder in memory whose files have to be closed. */
function countedFolder(inner: WritableMemoryFolder, calls: Calls): WritableFolder {
  const writable = (name: string, file: WritableFile): WritableFile => {
    const opened = calls.opened(name);
    return {
      append: (bytes) => calls.make(() => file.append(bytes)),
      sync: () => calls.make(() => file.sync()),
      close: () => calls.close(opened),
    };
  };
  return {
    name: 'counted',
    list: () => calls.make(() => inner.list()),
    open(name): FolderFile | undefined {
      const file = calls.make(() => inner.open(name));
      if (file === undefined) return undefined;
      const opened = calls.opened(name);
      return { ...file, read: (offset, length) => calls.make(() => file.read(offset, length)), close: () => calls.close(opened) };
    },
    create: (name) => writable(name, calls.make(() => inner.create(name))),
    openForAppend: (name) => writable(name, calls.make(() => inner.openForAppend(name))),
    rename: (from, to) => calls.make(() => inner.rename(from, to)),
    delete: (name) => calls.make(() => inner.delete(name)),
    syncFolder: () => calls.make(() => inner.syncFolder()),
    createFolder: () => inner.createFolder(),
    removeFolder: () => inner.removeFolder(),
    lostFolder: () => countedFolder(inner.lostFolder(), calls),
    moveToLost: (name, as) => calls.make(() => inner.moveToLost(name, as)),
    lock: () => inner.lock(),
  };
}

/** Writes two tables and a log, merges, and closes: until the first call that fails. */
async function write(folder: WritableFolder, options: DatabaseOptions): Promise<void> {
  const database = await Database.open(folder, options);
  try {
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 4; i++) await database.put(bytesOf(`key ${i}`), bytesOf(`value ${round}`));
      await database.flush();
    }
    await database.compactRange();
    await database.get(bytesOf('key 1'));
    await database.put(bytesOf('key 5'), bytesOf('value'), { sync: true });
  } finally {
    await database.close();
  }
}

/** A folder with tables and a log, of which a part is damaged if it is to be. */
async function written(isDamaged: boolean): Promise<WritableMemoryFolder> {
  const folder = new WritableMemoryFolder();
  await write(folder, {});
  const files = folder.files();
  const log = [...files.keys()].find((name) => name.endsWith('.log'))!;
  if (isDamaged) {
    const bytes = files.get(log)!;
    const next = Uint8Array.of(...bytes, ...bytes);
    next[2]! ^= 1;
    files.set(log, next);
    files.set('000099.log', bytes);
  }
  return new WritableMemoryFolder(files);
}

/** A folder with several tables in level 0, the last of which has lost its end if it is to be truncated. */
async function flushed(isTruncated: boolean): Promise<WritableMemoryFolder> {
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder);
  for (let round = 0; round < 5; round++) {
    await database.put(bytesOf('key'), bytesOf(`value ${round}`));
    await database.flush();
  }
  const [level0] = database.describe().levels;
  await database.close();
  const files = folder.files();
  const last = level0!.map(({ name }) => name).sort().at(-1)!;
  if (isTruncated) files.set(last, files.get(last)!.subarray(0, -1));
  return new WritableMemoryFolder(files);
}

interface Case {
  readonly what: string;
  /** The folder; by default a new one. */
  readonly before?: () => Promise<WritableMemoryFolder>;
  run(folder: WritableFolder): Promise<unknown>;
}

const cases: readonly Case[] = [
  { what: 'a new database is written', run: (folder) => write(folder, {}) },
  { what: 'a database is written', before: () => written(false), run: (folder) => write(folder, {}) },
  { what: 'a database is written whose files are reused', before: () => written(false), run: (folder) => write(folder, { reuseLogs: true }) },
  { what: 'a damaged database is written', before: () => written(true), run: (folder) => write(folder, { damage: 'skip', reuseLogs: true }) },
  { what: 'a database is repaired', before: () => written(true), run: (folder) => Database.repair(folder) },
  { what: 'a database with a truncated table is opened', before: () => flushed(true), run: async (folder) => (await Database.open(folder)).close() },
  { what: 'a database gets other filters', before: () => flushed(false), run: (folder) => Database.refilter(folder) },
  { what: 'a database is verified', before: () => written(true), run: (folder) => verifyDatabase(folder) },
];

describe.each([
  ['one call fails', false],
  ['calls fail from one on', true],
])('when %s', (_, forGood) => {
  test.each(cases)('while $what, every file is closed in the end, and the lock is free', async ({ before, run }) => {
    const files = (await before?.())?.files();
    for (let failing = 1; ; failing++) {
      const inner = new WritableMemoryFolder(files);
      const calls = new Calls(failing, forGood);
      const outcome = await run(countedFolder(inner, calls)).then(
        () => 'done',
        (error: unknown) => String(error),
      );
      expect([...calls.open], `after ${outcome}, when call ${failing} failed`).toEqual([]);
      void inner.lock().release();
      if (!calls.hasFailed) {
        expect(outcome).toBe('done');
        expect(failing).toBeGreaterThan(20);
        return;
      }
    }
  });
});
