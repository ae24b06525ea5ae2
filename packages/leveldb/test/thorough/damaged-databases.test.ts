import process from 'node:process';
import { folderFiles, goldenDatabases, seeded, type Random } from '@bloom/fixtures';
import { allocationsOf } from '@bloom/fixtures/allocations';
import { LOG_HEADER_LENGTH, putFragment, readLog } from '@bloom/log';
import { CorruptionError, DatabaseReader, FolderError, MemoryFolder, type ReaderOptions, SyncDatabaseReader, type SyncFolderFile, UnsupportedError } from '@bloom/leveldb';
import { storedEntriesSync } from '@bloom/leveldb/inspect';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { describe, expect, test } from 'vitest';
import { logOf } from '../assemble-database.js';
import { reverseComparator } from '../reverse-comparator.js';

// Damages folders at random, sometimes with correct checksums. Reading them must give entries or a coded error, after a bounded
// number of bytes read and in bounded memory.

// tooling/long-tests has a longer run.
const runs = Number(process.env.BLOOM_DAMAGE_RUNS ?? 340);
/** The bytes that are read, and those that are allocated, in proportion to those of the folder; 3.9 and 1.4 were seen. */
const MOST_READ = 8;
const MOST_ALLOCATED = 4;

type Files = Map<string, Uint8Array>;

/** Counts the bytes that are read of its files. */
class CountedFolder extends MemoryFolder {
  bytesRead = 0;

  override open(name: string): SyncFolderFile | undefined {
    const file = super.open(name);
    if (file === undefined) return undefined;
    const read = (offset: number, length: number): Uint8Array => {
      this.bytesRead += length;
      return file.read(offset, length);
    };
    return { name, byteLength: file.byteLength, identity: file.identity, read };
  }
}

const originals = goldenDatabases()
  .filter(({ name }) => name !== 'split-key')
  .map(({ name, path }) => ({ name, files: folderFiles(path) }));

function nameLike(files: Files, pattern: RegExp, random: Random): string | undefined {
  const names = [...files.keys()].filter((name) => pattern.test(name));
  return names.length === 0 ? undefined : random.pick(names);
}

function flipped(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice();
  for (let i = 1 + random.below(3); i > 0 && copy.length > 0; i--) copy[random.below(copy.length)]! ^= 1 << random.below(8);
  return copy;
}

/** A record with bytes changed, removed or inserted. The log around it will have correct checksums. */
function mangled(bytes: Uint8Array, random: Random): Uint8Array {
  const at = random.below(bytes.length + 1);
  const length = random.below(8);
  switch (random.below(6)) {
    case 0:
      return flipped(bytes, random);
    case 1:
      return Uint8Array.of(...bytes.subarray(0, at), ...bytes.subarray(at + length));
    case 2:
      return Uint8Array.of(...bytes.subarray(0, at), ...random.bytes(length), ...bytes.subarray(at));
    case 3:
      return bytes.slice(0, at);
    case 4:
      // Lengths and counts that are far too large.
      return Uint8Array.of(...bytes.subarray(0, at), 0xff, 0xff, 0xff, 0xff, 0x0f, ...bytes.subarray(at));
    default:
      return Uint8Array.of(...bytes.subarray(0, at), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, ...bytes.subarray(at + 1));
  }
}

/** A log or MANIFEST with correct checksums, whose records are mangled, duplicated, removed or moved. */
function remade(bytes: Uint8Array, random: Random): Uint8Array {
  const records = readLog(bytes).records.map((record) => record.bytes);
  for (let i = 1 + random.below(3); i > 0 && records.length > 0; i--) {
    const at = random.below(records.length);
    const record = records[at]!.length > 5000 ? records[at]!.slice(0, 5000) : records[at]!;
    switch (random.below(5)) {
      case 0:
        records.splice(at, 1);
        break;
      case 1:
        records.splice(at, 0, record);
        break;
      case 2:
        records.push(...records.splice(at, 1));
        break;
      default:
        records[at] = mangled(record, random);
    }
  }
  return logOf(records);
}

/** A log with correct checksums, whose fragments have different types or lengths. */
function refragmented(bytes: Uint8Array, random: Random): Uint8Array {
  const copy = bytes.slice();
  for (const { offset } of readLog(bytes).records) {
    if (random.below(4) > 0) continue;
    const start = offset + LOG_HEADER_LENGTH;
    const end = start + (copy[offset + 4]! | (copy[offset + 5]! << 8));
    if (end <= copy.length) putFragment(copy, offset, random.pick([0, 1, 2, 3, 4, 5, 200]), bytes, start, end);
  }
  return copy;
}

const damages: Record<string, (files: Files, random: Random) => void> = {
  'a log, its bits': (files, random) => change(files, /\.log$/, random, flipped),
  'a log, its records': (files, random) => change(files, /\.log$/, random, remade),
  'a log, its fragments': (files, random) => change(files, /\.log$/, random, refragmented),
  'a log, its end': (files, random) => change(files, /\.log$/, random, (bytes) => bytes.slice(0, random.below(bytes.length + 1))),
  'a log, of random bytes': (files, random) => change(files, /\.log$/, random, () => random.bytes(random.below(70_000))),
  'a MANIFEST, its bits': (files, random) => change(files, /^MANIFEST/, random, flipped),
  'a MANIFEST, its edits': (files, random) => change(files, /^MANIFEST/, random, remade),
  'a MANIFEST, its fragments': (files, random) => change(files, /^MANIFEST/, random, refragmented),
  'a MANIFEST, its end': (files, random) => change(files, /^MANIFEST/, random, (bytes) => bytes.slice(0, random.below(bytes.length + 1))),
  'a MANIFEST of another database': (files, random) =>
    change(files, /^MANIFEST/, random, () => {
      const other = random.pick(originals).files;
      return other.get(nameLike(other, /^MANIFEST/, random)!)!;
    }),
  CURRENT: (files, random) => files.set('CURRENT', random.pick([flipped(files.get('CURRENT')!, random), random.bytes(random.below(30)), new Uint8Array(0)])),
  'a table, its bits': (files, random) => change(files, /\.(ldb|sst)$/, random, flipped),
  'a table, its end': (files, random) => change(files, /\.(ldb|sst)$/, random, (bytes) => bytes.slice(0, random.below(bytes.length + 1))),
  'a missing file': (files, random) => files.delete(random.pick([...files.keys()])),
  'a file in the place of another': (files, random) => files.set(random.pick([...files.keys()]), files.get(random.pick([...files.keys()]))!),
  'files of another database': (files, random) => {
    for (const [name, bytes] of random.pick(originals).files) if (random.below(2) === 0) files.set(name, bytes);
  },
  'foreign files': (files, random) => {
    for (const name of ['OPTIONS-000005', 'IDENTITY', '000001.bak', '999999.log', '18446744073709551615.log', '0.log', 'lost', 'CURRENT.bak']) {
      if (random.below(2) === 0) files.set(name, random.bytes(random.below(50)));
    }
  },
};

function change(files: Files, pattern: RegExp, random: Random, make: (bytes: Uint8Array, random: Random) => Uint8Array): void {
  const name = nameLike(files, pattern, random);
  if (name !== undefined) files.set(name, make(files.get(name)!, random));
}

/** Whether the error is one that damage may cause. */
function isCoded(error: unknown): boolean {
  return error instanceof CorruptionError || error instanceof UnsupportedError || error instanceof FolderError;
}

function tried(run: () => void): void {
  try {
    run();
  } catch (error) {
    if (!isCoded(error)) throw error;
  }
}

const options: ReaderOptions = { comparators: [reverseComparator, idbComparator], maxRestarts: 3 };

describe.each(Object.entries(damages))('%s', (_, damage) => {
  test('gives entries or a coded error, after bounded reads and in bounded memory', async () => {
    for (let run = 0; run < Math.ceil(runs / Object.keys(damages).length); run++) {
      const random = seeded(run);
      const { name, files: original } = random.pick(originals);
      const files = new Map(original);
      damage(files, random);
      const about = `${name}, run ${run}`;
      const folder = new CountedFolder(files);
      const allocated = await allocationsOf(async () => {
        for (const kind of ['strict', 'skip'] as const) {
          tried(() => {
            const settings = { ...options, damage: kind, ...(random.below(3) === 0 && { maxOpenFiles: 11 }) };
            const database = SyncDatabaseReader.open(folder, settings);
            const forwards = [...readable(database)];
            for (const [key] of forwards.slice(0, 20)) tried(() => void database.get(key));
            tried(() => void database.get(random.bytes(4)));
            tried(() => void database.versions(forwards[0]?.[0] ?? random.bytes(2)));
            tried(() => void database.refresh());
            database.describe();
          });
        }
        tried(() => exhaust(storedEntriesSync(folder)));
        exhaust(storedEntriesSync(folder, { damage: 'skip' }));
        if (run % 5 === 0) {
          await DatabaseReader.open(folder, { ...options, damage: 'skip' }).then(
            (database) => database.close(),
            (error: unknown) => {
              if (!isCoded(error)) throw error;
            },
          );
        }
      }).catch((cause: unknown) => {
        throw new Error(about, { cause });
      });
      const byteLength = [...files.values()].reduce((sum, { length }) => sum + length, 0);
      expect(folder.bytesRead, about).toBeLessThan(MOST_READ * (byteLength + 2 ** 16));
      expect(allocated.largest, about).toBeLessThan(byteLength + 2 ** 20);
      expect(allocated.total, about).toBeLessThan(MOST_ALLOCATED * (byteLength + 2 ** 20));
    }
  }, 60_000 + runs * 30);
});

function exhaust(items: Iterable<unknown>): void {
  const iterator = items[Symbol.iterator]();
  while (iterator.next().done !== true);
}

/** The entries up to the first error, which must be a coded one. Also reads backwards. */
function readable(database: SyncDatabaseReader): [Uint8Array, Uint8Array][] {
  const entries: [Uint8Array, Uint8Array][] = [];
  tried(() => {
    for (const entry of database.entries()) entries.push(entry);
  });
  tried(() => exhaust(database.entries({ reverse: true })));
  return entries;
}

test('the order of IndexedDB is a total order of arbitrary bytes, and its filter policy rejects no key that equals another', () => {
  const random = seeded(7);
  const samples: Uint8Array[] = [new Uint8Array(0)];
  const float = (value: number): number[] => [...new Uint8Array(Float64Array.of(value).buffer)];
  const encoded = (depth: number): number[] =>
    random.pick([
      () => [0],
      () => [5],
      () => [1, 2, 0, random.below(3), 0, random.below(3)],
      () => [2, ...float(random.below(3))],
      () => [3, ...float(random.pick([0, -0, 1, -1, NaN, Infinity]))],
      () => [6, 2, random.below(3), random.below(3)],
      () => {
        const count = depth > 3 ? 0 : random.below(3);
        return [4, count, ...Array.from({ length: count }, () => encoded(depth + 1)).flat()];
      },
      () => [random.below(9), random.below(4)],
    ])();
  for (let i = 0; i < 150; i++) {
    const ids = [random.below(2), random.below(2), random.pick([0, 1, 2, 3, 29, 30, 31])];
    const rest =
      ids[0] === 0 || ids[1] === 0
        ? [random.pick([0, 5, 6, 50, 100, 150, 151, 200, 201]), random.below(3), random.below(3), 0, random.below(3)]
        : [...encoded(0), ...random.pick([[], [random.below(3)], [random.below(3), ...encoded(0)], [0x80, 0x00]])];
    const key = [0, ...ids, ...rest];
    samples.push(Uint8Array.from(random.below(5) === 0 ? key.slice(0, random.below(key.length + 1)) : key));
  }
  // Deeply nested arrays, and an enormous count.
  samples.push(Uint8Array.from([0, 1, 1, 1, ...Array.from({ length: 100_000 }, () => [4, 1]).flat()]));
  samples.push(Uint8Array.of(0, 1, 1, 1, 4, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0));
  const sign = (a: Uint8Array, b: Uint8Array): number => Math.sign(idbComparator.compare(a, b));
  const sorted = [...samples].sort((a, b) => idbComparator.compare(a, b));
  for (const [i, a] of sorted.entries()) {
    for (const [j, b] of sorted.entries()) {
      expect(sign(a, b) + sign(b, a)).toBe(0);
      if (i < j) expect(sign(a, b)).toBeLessThanOrEqual(0);
      // Different bytes that compare as equal always pass the filter.
      if (sign(a, b) === 0 && Buffer.compare(a, b) !== 0) {
        expect([idbFilterPolicy.keyMayMatch(a, Uint8Array.of(0, 0, 6)), idbFilterPolicy.keyMayMatch(b, Uint8Array.of(0, 0, 6))]).toEqual([true, true]);
      }
    }
  }
});
