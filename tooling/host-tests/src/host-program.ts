// A program on the built packages, which Deno and Bun run as it is: host-program TASK PATH. It prints its findings as JSON.
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { allCodecs, zlibCodec } from '@bloom/codecs';
import { Database, type DatabaseOptions, DatabaseReader, SyncDatabaseReader, WriteBatch } from '@bloom/leveldb';
import type { CompactionRequest, MemtableArrays, TableThread, TableThreadSettings } from '@bloom/leveldb/internal';
import { HttpFolder } from '@bloom/leveldb/http';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { BackgroundThread, NodeFolder, SyncNodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { BloomFilterPolicy, buildFilter, KeyBuffer } from '@bloom/policy';
import { Table } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';
import { openTable, openTableSync, writeTable } from '@bloom/sstable/node';

const [task = '', path = ''] = process.argv.slice(2);
const ENTRIES = 20_000;

type Entry = readonly [Uint8Array, Uint8Array];

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyOf = (i: number): Uint8Array => utf8(String((i * 7_919) % ENTRIES).padStart(8, '0'));
const valueOf = (i: number): Uint8Array => utf8(`value ${i} `.repeat(40));

/** The same hash as each `entriesSha256` of the fixtures. */
function sha256(entries: Iterable<Entry>): string {
  const hash = createHash('sha256');
  const length = new DataView(new ArrayBuffer(4));
  for (const entry of entries) {
    for (const field of entry) {
      length.setUint32(0, field.length, true);
      hash.update(new Uint8Array(length.buffer)).update(field);
    }
  }
  return hash.digest('hex');
}

async function collect<T>(values: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const value of values) all.push(value);
  return all;
}

/** The jobs that a worker thread has done, and how many of them failed. */
const jobs = { done: 0, failed: 0 };

class CountingFolder extends WritableNodeFolder {
  override startTableThread(settings: TableThreadSettings): TableThread | undefined {
    const thread = super.startTableThread(settings);
    if (thread === undefined) return undefined;
    const counted = async <T>(job: Promise<T>): Promise<T> => {
      try {
        const result = await job;
        jobs.done++;
        return result;
      } catch (error) {
        jobs.failed++;
        throw error;
      }
    };
    return {
      get hasEnded() {
        return thread.hasEnded;
      },
      compact: (request: CompactionRequest) => counted(thread.compact(request)),
      flush: (memtable: MemtableArrays, number: bigint, bitsPerKey: number | undefined) => counted(thread.flush(memtable, number, bitsPerKey)),
      close: () => thread.close(),
    };
  }
}

const small: DatabaseOptions = { lock: 'none', compression: 'none', writeBufferSize: 2 ** 21 };

async function writeAll(database: Database): Promise<void> {
  for (let i = 0; i < ENTRIES; i += 500) {
    const batch = new WriteBatch();
    for (let j = i; j < i + 500; j++) batch.put(keyOf(j), valueOf(j));
    await database.write(batch, { sync: i % 10_000 === 0 });
  }
  await database.put(utf8('deleted'), utf8('x'));
  await database.delete(utf8('deleted'));
  await database.compactRange();
}

async function write(thread: boolean): Promise<unknown> {
  const database = await Database.open(new CountingFolder(path, { thread }), small);
  await writeAll(database);
  const entries = await collect(database.entries());
  const now = database.getSync(keyOf(7));
  await database.close();
  return { entries: entries.length, sha256: sha256(entries), jobs, now: now !== undefined && String(now) === String(valueOf(7)) };
}

/** The result of opening for writing with the lock. */
async function locked(): Promise<string> {
  try {
    const database = await Database.open(new WritableNodeFolder(path));
    await database.put(utf8('locked'), utf8('yes'));
    await database.close();
    return 'written';
  } catch (error) {
    const { name, code, message } = error as Error & { readonly code?: string };
    return `${name} ${code}: ${message}`;
  }
}

const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
  'write-on-thread': () => write(true),
  'write-in-slices': () => write(false),

  // Ends without closing the database or the thread, which must not keep the process alive.
  async 'left-open'() {
    const thread = new BackgroundThread();
    const database = await Database.open(new CountingFolder(path, { thread }), small);
    await writeAll(database);
    return { entries: (await collect(database.keys())).length, jobs };
  },

  async repair() {
    const { lost } = await Database.repair(new WritableNodeFolder(path), { lock: 'none' });
    const database = await Database.open(new WritableNodeFolder(path), { lock: 'none', createIfMissing: false });
    const entries = await collect(database.entries());
    await database.close();
    return { lost: lost.length, sha256: sha256(entries) };
  },

  async read() {
    const options = { codecs: allCodecs };
    await using database = await DatabaseReader.open(new NodeFolder(path), options);
    const entries = await collect(database.entries());
    const values = await database.getMany(entries.map(([key]) => key));
    const absent = await database.getMany(entries.map(([key]) => Uint8Array.of(...key, 0)));
    const direct = SyncDatabaseReader.open(new SyncNodeFolder(path), options);
    const found = [...direct.entries()];
    direct.close();
    const { findings } = await verifyDatabase(new NodeFolder(path), options);
    return {
      forwards: sha256(entries),
      backwards: sha256((await collect(database.entries({ reverse: true }))).reverse()),
      lookups: sha256(entries.map(([key], i) => [key, values[i]!])),
      sync: sha256(found),
      wronglyPresent: absent.filter((value) => value !== undefined).length,
      refreshed: await database.refresh(),
      findings: findings.length,
    };
  },

  async remote() {
    await using database = await DatabaseReader.open(new HttpFolder(path), { codecs: allCodecs });
    return { forwards: sha256(await collect(database.entries())) };
  },

  // Aborts a lookup, and looks up again.
  async 'remote-table'() {
    const source = await HttpSource.open(path);
    await using table = await Table.open(source, { cache: null, readAheadBytes: 2 ** 16 });
    const entries = await collect(table.entries());
    const controller = new AbortController();
    const aborted = table.get(entries[0]![0], { signal: controller.signal }).catch((error: unknown) => String(error));
    controller.abort(new Error('enough'));
    const outcome = await aborted;
    const again = await table.get(entries[0]![0]);
    await source.close();
    return { forwards: sha256(entries), aborted: outcome, again: String(again) === String(entries[0]![1]) };
  },

  async table() {
    const keys = Array.from({ length: ENTRIES }, (_, i) => utf8(String(i).padStart(8, '0')));
    const entries = keys.map((key, i): Entry => [key, valueOf(i)]);
    const digests = [];
    for (const compression of ['none', 'snappy', zlibCodec] as const) {
      await writeTable(path, entries, { compression });
      await using table = await openTable(path, { codecs: allCodecs });
      const direct = openTableSync(path, { codecs: allCodecs });
      digests.push(sha256(await collect(table.entries())), sha256(direct.entries()));
      const batched: Entry[] = [];
      for await (const batch of table.batches()) {
        for (let i = 0; i < batch.length; i++) batched.push([batch.key(i).slice(), batch.value(i).slice()]);
      }
      digests.push(sha256(batched));
      direct.close();
    }
    const policy = new BloomFilterPolicy(10);
    const filter = buildFilter(policy, keys);
    const passed = policy.keysMayMatch(KeyBuffer.from(keys), filter).filter(Boolean).length;
    return { expected: sha256(entries), digests, filterSha256: createHash('sha256').update(filter).digest('hex'), passed };
  },

  locked,

  // Holds the lock until its input ends.
  async hold() {
    const database = await Database.open(new WritableNodeFolder(path));
    process.stdout.write('held\n');
    for await (const _ of process.stdin);
    await database.close();
    return {};
  },

  // Takes the lock again and again, and says how often it had it and how often another was inside too.
  async race() {
    const found = { had: 0, refused: 0, others: 0 };
    const end = Date.now() + 2_000;
    // On a machine that is busy, others may have it for longer than that.
    while (Date.now() < end || found.had === 0) {
      let database;
      try {
        database = await Database.open(new WritableNodeFolder(path));
      } catch (error) {
        if ((error as { readonly code?: string }).code !== 'BLOOM_LOCKED') throw error;
        found.refused++;
        continue;
      }
      found.had++;
      const inside = `${path}-inside`;
      try {
        writeFileSync(inside, '', { flag: 'wx' });
        await new Promise((resolve) => setTimeout(resolve, 1));
        rmSync(inside);
      } catch {
        found.others++;
      }
      await database.close();
    }
    return found;
  },
};

const found = await tasks[task]!();
process.stdout.write(`${JSON.stringify(found)}\n`);
