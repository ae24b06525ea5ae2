import process from 'node:process';
import { seeded } from '@bloom/fixtures';
import { Database, type DatabaseCursor, type DatabaseOptions, type DatabaseSnapshot, type SyncFolderFile, type WritableFile, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { BloomFilterPolicy } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { reverseComparator } from './reverse-comparator.js';

// Compares with a sorted map as the model. tooling/long-tests has 200 runs of 5,000 operations.
const runs = Number(process.env.BLOOM_MODEL_RUNS ?? 3);
const operations = Number(process.env.BLOOM_MODEL_OPERATIONS ?? 800);
const seeds = Array.from({ length: runs }, (_, i) => i + 1);

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
type Entries = [key: string, value: string][];

/** A folder that counts its open files. */
class CountingFolder extends WritableMemoryFolder {
  openFiles = 0;

  override open(name: string): SyncFolderFile | undefined {
    const file = super.open(name);
    if (file === undefined) return undefined;
    this.openFiles++;
    return { byteLength: file.byteLength, name, read: (offset, length) => file.read(offset, length), close: () => this.#closed() };
  }

  override create(name: string): WritableFile {
    return this.#counted(super.create(name));
  }

  override openForAppend(name: string): WritableFile {
    return this.#counted(super.openForAppend(name));
  }

  #closed(): void {
    this.openFiles--;
  }

  #counted(file: WritableFile): WritableFile {
    this.openFiles++;
    return { append: (bytes) => file.append(bytes), sync: () => file.sync(), close: () => this.#closed() };
  }
}

/** A cursor, the entries that it must show, and its position in them. */
interface Walk {
  readonly cursor: DatabaseCursor;
  readonly entries: Entries;
  at: number;
}

describe.each(seeds)('the run of seed %i', (seed) => {
  test('matches a sorted map for current reads, snapshots and long-lived cursors, with concurrent callers', async () => {
    const random = seeded(seed);
    const oneIn = (n: number): boolean => random.below(n) === 0;
    const isReverse = oneIn(4);
    const folder = new CountingFolder();
    const options: DatabaseOptions = {
      writeBufferSize: 65_536,
      maxFileSize: 2 ** 20,
      blockSize: 1024,
      maxOpenFiles: 74,
      compression: oneIn(2) ? 'none' : 'snappy',
      filterPolicy: oneIn(3) ? null : new BloomFilterPolicy(1 + random.below(20)),
      ...(isReverse && { comparator: reverseComparator }),
    };
    const model = new Map<string, string>();
    const sorted = (): Entries => [...model].sort(([a], [b]) => (a < b ? -1 : 1) * (isReverse ? -1 : 1));
    const keys = Array.from({ length: 200 + random.below(400) }, (_, i) => (i === 0 ? '' : oneIn(3) ? latin1(random.bytes(random.below(6))) : `key${i}`));
    const key = (): string => keys[random.below(keys.length)]!;
    const value = (): string => latin1(random.bytes(random.below(oneIn(30) ? 8000 : 400)));
    let snapshots: { readonly snapshot: DatabaseSnapshot; readonly entries: Entries }[] = [];
    let walks: Walk[] = [];
    let database = await Database.open(folder, options);

    let clears = 0;
    let hadDeepTables = false;

    function write(): Promise<void> {
      const name = key();
      if (oneIn(400)) {
        clears++;
        hadDeepTables ||= database.describe().levels.slice(1).some(({ length }) => length > 0);
        model.clear();
        return database.clear();
      }
      const sync = oneIn(20) ? { sync: true } : undefined;
      if (oneIn(4)) {
        model.delete(name);
        return database.delete(bytesOf(name), sync);
      }
      if (oneIn(8)) {
        const batch = new WriteBatch();
        for (let i = random.below(20); i > 0; i--) {
          const one = key();
          if (oneIn(3)) {
            batch.delete(bytesOf(one));
            model.delete(one);
          } else {
            const written = value();
            batch.put(bytesOf(one), bytesOf(written));
            model.set(one, written);
          }
        }
        const writing = database.write(batch, sync);
        // The database writes its own copy.
        batch.clear().put(bytesOf(key()), bytesOf('never'));
        return writing;
      }
      const written = value();
      model.set(name, written);
      return database.put(bytesOf(name), bytesOf(written), sync);
    }

    async function look(): Promise<void> {
      const held = snapshots.length > 0 && oneIn(2) ? snapshots[random.below(snapshots.length)]! : undefined;
      const entries = held?.entries ?? sorted();
      const sequence = held && { sequence: held.snapshot.sequence };
      const map = new Map(entries);
      const some = Array.from({ length: 5 }, key);
      expect((await database.getMany(some.map(bytesOf), sequence)).map((bytes) => bytes && latin1(bytes))).toEqual(some.map((name) => map.get(name)));
      const [one] = some;
      expect(await database.has(bytesOf(one!), sequence)).toBe(map.has(one!));
      const value = database.getSync(bytesOf(one!), sequence);
      expect(value && latin1(value)).toBe(map.get(one!));
      if (!oneIn(10)) return;
      const reverse = oneIn(2);
      const got: Entries = [];
      for await (const [k, v] of database.entries({ ...sequence, reverse })) got.push([latin1(k), latin1(v)]);
      expect(got.length).toBe(entries.length);
      const expected = reverse ? [...entries].reverse() : entries;
      expect(got.every(([k, v], i) => k === expected[i]![0] && v === expected[i]![1])).toBe(true);
    }

    async function walk(): Promise<void> {
      if (walks.length < 4 && oneIn(3)) {
        const cursor = database.cursor();
        const started: Walk = { cursor, entries: sorted(), at: 0 };
        await cursor.seekToFirst();
        walks.push(started);
      }
      for (const step of walks) {
        const { cursor, entries } = step;
        const [k, v] = entries[step.at] ?? [];
        expect(cursor.valid ? latin1(cursor.key) : undefined).toBe(k);
        expect(cursor.valid ? latin1(cursor.value) : undefined).toBe(v);
        if (!cursor.valid || oneIn(40)) {
          cursor.close();
          walks = walks.filter((other) => other !== step);
        } else if (step.at > 0 && oneIn(4)) {
          step.at--;
          await cursor.prev();
        } else {
          step.at++;
          await cursor.next();
        }
      }
    }

    for (let i = 0; i < operations; i++) {
      if (oneIn(6)) await Promise.all(Array.from({ length: 1 + random.below(20) }, write));
      else await write();
      if (oneIn(4)) await look();
      if (oneIn(4)) await walk();
      if (oneIn(60)) snapshots.push({ snapshot: database.snapshot(), entries: sorted() });
      if (snapshots.length > 0 && oneIn(80)) snapshots.splice(random.below(snapshots.length), 1)[0]!.snapshot.release();
      if (oneIn(200)) {
        const [begin, end] = [key(), key()];
        // Not always awaited, so that it runs concurrently with the next operations.
        const compacting = oneIn(2) ? database.compactRange() : database.compactRange(bytesOf(begin), bytesOf(end));
        const ended = compacting.catch((error: unknown) => expect(String(error)).toContain('the database is closed'));
        if (oneIn(2)) await ended;
      }
      if (oneIn(300)) {
        for (const { cursor } of walks) cursor.close();
        walks = [];
        snapshots = [];
        await database.flush();
        await database.idle();
        await database.close();
        expect(folder.openFiles).toBe(0);
        database = await Database.open(folder, { ...options, reuseLogs: oneIn(3) ? 'empty' : oneIn(2) });
      }
    }
    await look();
    hadDeepTables ||= database.describe().levels.slice(1).some(({ length }) => length > 0);
    for (const { cursor } of walks) cursor.close();
    await database.close();
    expect(folder.openFiles).toBe(0);
    expect(hadDeepTables).toBe(true);
    expect(clears).toBeGreaterThan(0);
    // Only files of the database are left.
    expect((await verifyDatabase(folder, { comparators: [reverseComparator], filterPolicies: options.filterPolicy ? [options.filterPolicy] : [] })).findings).toEqual([]);
    await Database.destroy(folder);
    expect(folder.list()).toEqual([]);
    // Thousands of operations can take longer than the usual minute on a busy machine.
  }, 60_000 + operations * 40);
});
