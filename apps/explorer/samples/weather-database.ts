import { encodeVersionEdit, type FileMetadata, WriteBatch } from '@bloom/leveldb';
import { LogWriter } from '@bloom/log';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator, MemorySink, TableBuilder } from '@bloom/sstable';
import { DELETION, encodeInternalKey, internalKeyComparator, internalKeyPolicy, VALUE } from '@bloom/sstable/database';
import { CITIES, weatherKey, weatherReport } from './weather.js';

/** A file of the database's folder. */
interface DatabaseFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A report is written, or, with no revision, deleted. */
interface Operation {
  readonly city: string;
  readonly day: number;
  readonly revision?: number;
}

const encoder = new TextEncoder();
const comparator = internalKeyComparator(bytewiseComparator);

/** Days from `from` to `to`, the latter excluded, of some cities. */
function reports(cities: readonly string[], from: number, to: number, revision: number): Operation[] {
  return cities.flatMap((city) => Array.from({ length: to - from }, (_, i) => ({ city, day: from + i, revision })));
}

/**
 * A folder as LevelDB would have it after a while of writing: old reports in deep levels, corrected ones above, two
 * overlapping tables of level 0, and the newest writes in the log alone. Some reports are deleted.
 */
export function weatherDatabase(): DatabaseFile[] {
  const files: DatabaseFile[] = [];
  const levels: { level: number; file: FileMetadata }[] = [];
  let sequence = 0n;
  let nextNumber = 3n;

  const addTable = (level: number, operations: readonly Operation[]): void => {
    const entries = operations.map(({ city, day, revision }) => {
      const type = revision === undefined ? DELETION : VALUE;
      const key = encodeInternalKey({ userKey: encoder.encode(weatherKey(city, day)), sequence: ++sequence, type });
      return [key, encoder.encode(revision === undefined ? '' : weatherReport(city, day, revision))] as const;
    });
    entries.sort(([a], [b]) => comparator.compare(a, b));
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator, filterPolicy: internalKeyPolicy(new BloomFilterPolicy(10)) });
    for (const [key, value] of entries) builder.add(key, value);
    builder.finish();
    const bytes = sink.toBytes();
    const number = nextNumber++;
    files.push({ name: `${String(number).padStart(6, '0')}.ldb`, bytes });
    levels.push({ level, file: { number, size: bytes.length, smallest: entries[0]![0], largest: entries.at(-1)![0] } });
  };

  for (let i = 0; i < 30; i += 6) addTable(2, reports(CITIES.slice(i, i + 6), 0, 60, 0));
  for (let i = 0; i < 30; i += 10) addTable(1, reports(CITIES.slice(i + 1, i + 9), 45, 75, 1));
  addTable(0, [...reports(CITIES.slice(0, 20), 70, 80, 2), ...CITIES.slice(0, 20).map((city) => ({ city, day: 3 }))]);
  addTable(0, [...reports(CITIES.slice(8), 76, 84, 3), ...CITIES.slice(10, 15).map((city) => ({ city, day: 50 }))]);

  const logNumber = nextNumber++;
  const log = new MemoryLog();
  for (const [i, city] of CITIES.entries()) {
    const batch = new WriteBatch();
    batch.put(encoder.encode(weatherKey(city, 84)), encoder.encode(weatherReport(city, 84, 4)));
    if (i % 5 === 0) batch.delete(encoder.encode(weatherKey(city, 10)));
    log.writer.addRecord(batch.encode(sequence + 1n));
    sequence += i % 5 === 0 ? 2n : 1n;
  }
  files.push({ name: `${String(logNumber).padStart(6, '0')}.log`, bytes: log.bytes() });

  const manifest = new MemoryLog();
  manifest.writer.addRecord(
    encodeVersionEdit({
      comparator: bytewiseComparator.name,
      logNumber,
      previousLogNumber: 0n,
      nextFileNumber: nextNumber,
      // What the log adds is found by replaying it.
      lastSequence: sequence - BigInt(CITIES.length + CITIES.length / 5),
      newFiles: levels,
    }),
  );
  files.push({ name: 'MANIFEST-000002', bytes: manifest.bytes() }, { name: 'CURRENT', bytes: encoder.encode('MANIFEST-000002\n') });
  return files;
}

/** A log that is written to memory. */
class MemoryLog {
  readonly #parts: Uint8Array[] = [];
  readonly writer = new LogWriter({ append: (bytes) => this.#parts.push(bytes) });

  bytes(): Uint8Array {
    return Uint8Array.from(this.#parts.flatMap((part) => [...part]));
  }
}
