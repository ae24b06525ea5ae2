import { seeded } from '@bloom/fixtures';
import { Database, DatabaseReader, type WritableFile, WritableMemoryFolder } from '@bloom/leveldb';
import { beforeAll, expect, test, vi } from 'vitest';
import { Gate } from './gated-folder.js';
import { asMap, entriesOf, small } from './some-database.js';

/** A folder that calls `onTable` before each write to a table. */
class WatchedFolder extends WritableMemoryFolder {
  onTable: (call: string) => void = () => undefined;

  override create(name: string): WritableFile {
    if (!name.endsWith('.ldb')) return super.create(name);
    this.onTable('create');
    const file = super.create(name);
    return {
      append: (bytes) => {
        this.onTable('append');
        return file.append(bytes);
      },
      sync: () => {
        this.onTable('sync');
        return file.sync();
      },
      close: () => file.close(),
    };
  }
}

/** The tables in the folder that no version lists. */
async function strayTables(folder: WritableMemoryFolder): Promise<string[]> {
  const reader = await DatabaseReader.open(folder);
  const listed = new Set(reader.describe().levels.flat().map(({ name }) => name));
  await reader.close();
  return folder.list().filter((name) => name.endsWith('.ldb') && !listed.has(name));
}

let files: Map<string, Uint8Array>;
let expected: Map<string, string>;
beforeAll(async () => {
  const random = seeded(1);
  const folder = new WritableMemoryFolder();
  const database = await Database.open(folder, small);
  for (let i = 0; i < 2000; i++) await database.put(Buffer.from(`key${random.below(1500)}`), random.bytes(300));
  await database.idle();
  files = folder.files();
  expected = asMap(await entriesOf(folder));
  await database.close();
});

/** The database in another folder, with its last writes in a log. */
const opened = (folder: WatchedFolder): Promise<Database> => Database.open(folder, { ...small, reuseLogs: true });

test.each([
  { what: 'a compaction', step: 5, begin: (database: Database) => database.compactRange() },
  { what: 'a flush', step: 1, begin: (database: Database) => database.flush() },
])('closing a database in the middle of $what leaves no table in the folder that is not part of it', async ({ step, begin }) => {
  let strays = 0;
  for (let last = 0, isDone = false; !isDone; last += step) {
    const folder = new WatchedFolder(files);
    const database = await opened(folder);
    let closing: Promise<void> | undefined;
    let calls = 0;
    folder.onTable = () => {
      if (calls++ === last) closing = database.close();
    };
    const failure = await begin(database).catch((error: unknown) => error);
    if (failure !== undefined) expect(failure).toMatchObject({ code: 'BLOOM_CLOSED' });
    isDone = closing === undefined;
    await (closing ?? database.close());
    strays += (await strayTables(folder)).length;
    expect(asMap(await entriesOf(folder))).toEqual(expected);
  }
  expect(strays).toBe(0);
});

test.each([
  { what: 'a compaction', step: 5, begin: (database: Database) => database.compactRange() },
  { what: 'a flush', step: 1, begin: (database: Database) => database.flush() },
])('a failure in the middle of $what leaves no table in the folder that is not part of the database', async ({ step, begin }) => {
  for (let last = 0, isDone = false; !isDone; last += step) {
    const folder = new WatchedFolder(files);
    const database = await opened(folder);
    let calls = 0;
    let hasFailed = false as boolean;
    folder.onTable = () => {
      if (calls++ < last) return;
      hasFailed = true;
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    await begin(database).catch(() => undefined);
    isDone = !hasFailed;
    await database.close().catch(() => undefined);
    expect(await strayTables(folder)).toEqual([]);
    expect(asMap(await entriesOf(folder))).toEqual(expected);
  }
});

test('an opening or a repair that fails leaves no table in the folder that is not part of the database', async () => {
  const open = (folder: WatchedFolder): Promise<unknown> => Database.open(folder, small).then((database) => database.close());
  const repair = (folder: WatchedFolder): Promise<unknown> => Database.repair(folder, { ...small, fromTablesAlone: true });
  for (const use of [open, repair]) {
    let failures = 0;
    for (let last = 0; ; last += 3) {
      const folder = new WatchedFolder(files);
      let calls = 0;
      folder.onTable = () => {
        if (calls++ >= last) throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
      };
      const isDone = await use(folder).then(
        () => true,
        () => false,
      );
      if (isDone) break;
      failures++;
      expect(await strayTables(folder)).toEqual([]);
      expect(asMap(await entriesOf(folder))).toEqual(expected);
    }
    expect(failures).toBeGreaterThan(0);
  }
});

test('a flush makes its table while the log is synced, and deletes the log only after that', async () => {
  const gate = new Gate();
  const calls: string[] = [];
  class SlowFolder extends WritableMemoryFolder {
    override create(name: string): WritableFile {
      const file = super.create(name);
      const kind = name.slice(-3);
      return {
        append: (bytes) => {
          if (kind !== 'log') calls.push(`${kind} written`);
          return file.append(bytes);
        },
        sync: async () => {
          if (kind === 'log') await gate.pass();
          calls.push(`${kind} synced`);
          await file.sync();
        },
        close: () => file.close(),
      };
    }
  }
  const folder = new SlowFolder();
  const database = await Database.open(folder, small);
  await database.put('a', '1');
  const [log] = folder.list().filter((name) => name.endsWith('.log'));
  calls.length = 0;
  const flushing = database.flush();
  const writing = database.put('b', '2');
  await vi.waitUntil(() => calls.includes('ldb synced'));
  expect(calls).toEqual(['ldb written', 'ldb synced']);
  expect(folder.list()).toContain(log);
  expect(database.getSync('b')).toBeUndefined();
  gate.open();
  await Promise.all([flushing, writing]);
  await database.idle();
  expect(calls.indexOf('log synced')).toBe(2);
  expect(folder.list()).not.toContain(log);
  await database.close();
});
