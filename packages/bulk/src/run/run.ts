/** Entries in the order of their keys, as they are merged and written. */
import { CorruptionError, type Signal } from '@bloom/bytes';
import { bytesOf, mustBeArray, mustBeBytes, mustBeFunction, mustHaveMethods, numberOf } from '@bloom/bytes/internal';
import type { FileMetadata } from '@bloom/leveldb';
import { type AsyncTableOptions, type Comparator, type Table } from '@bloom/sstable';
import { type DatabaseTable, decodeInternalKey, DELETION, encodeInternalKey, INTERNAL_KEY_TRAILER_LENGTH, MAX_SEQUENCE, MAX_TYPE, VALUE } from '@bloom/sstable/database';
import { comparatorOf } from '@bloom/sstable/internal';

/** A key and its value; undefined for a deletion. */
export type BulkEntry = readonly [key: Uint8Array, value: Uint8Array | undefined];

/** An entry to write: a {@link BulkEntry} whose key and value can also be strings, which are stored as UTF-8. */
export type BulkInputEntry = BulkEntry | readonly [key: Uint8Array | string, value: Uint8Array | string | undefined];

/** A range of keys: from `gte` on, and before `lt`. An omitted bound is unlimited. */
export interface BulkRange {
  readonly gte?: Uint8Array | undefined;
  readonly lt?: Uint8Array | undefined;
}

/** A copy of a range, whose bounds the caller may change while the entries are taken. @throws TypeError unless they are bytes. */
export function ownRange({ gte, lt }: BulkRange): BulkRange {
  if (gte !== undefined) mustBeBytes('gte', gte);
  if (lt !== undefined) mustBeBytes('lt', lt);
  return { gte: gte && new Uint8Array(gte), lt: lt && new Uint8Array(lt) };
}

/** Entries in ascending order of their keys, each key once. */
export interface Run {
  /** The entries of a range, several at a time: a promise for each entry would take longer than its merge. */
  entries(range: BulkRange, signal?: Signal): AsyncIterable<readonly BulkEntry[]>;
}

/** The number of entries, and their bytes, that are taken at a time. */
const MANY = 1024;
const MANY_BYTES = 256 * 2 ** 10;

/** The entries of a table with plain keys, such as one written by `writeTable` of `@bloom/sstable`. @throws TypeError for a `DatabaseTable`. */
export function tableRun(table: Table): Run {
  mustHaveMethods('table', table, 'a Table', ['cursor']);
  return { entries: (range, signal) => storedEntries(table, ownRange(range), signal) };
}

/** The newest versions of the keys in a table of a database, such as a part. @throws TypeError for a plain `Table`. */
export function partRun(part: Pick<DatabaseTable, 'table'>): Run {
  const { table } = Object(part) as typeof part;
  mustHaveMethods('part.table', table, 'a Table', ['cursor']);
  return { entries: (range, signal) => newestEntries(table, ownRange(range), signal) };
}

async function* newestEntries(table: Table, { gte, lt }: BulkRange, signal: Signal | undefined): AsyncGenerator<BulkEntry[], void, undefined> {
  let last: Uint8Array | undefined;
  for await (const stored of storedEntries(table, { gte: gte && newest(gte), lt: lt && newest(lt) }, signal)) {
    const entries: BulkEntry[] = [];
    for (const [storedKey, value] of stored) {
      const { userKey, type } = decodeInternalKey(storedKey) ?? {};
      if (userKey === undefined || (type !== VALUE && type !== DELETION)) throw badKey(storedKey, table.name);
      // Of a key's versions the newest comes first.
      if (last !== undefined && isSameUserKey(last, storedKey, table)) continue;
      last = storedKey;
      entries.push([userKey, type === VALUE ? value : undefined]);
    }
    if (entries.length > 0) yield entries;
  }
}

/** A part that has not been opened: its entry in the MANIFEST. */
export type ListedPart = Pick<FileMetadata, 'number' | 'smallest' | 'largest'>;

/**
 * The entries of disjoint parts, such as those of a level. Those that overlap the range are opened, one after another.
 *
 * @param open opens a part. It is closed after its last entry.
 */
export function levelRun<Listed extends ListedPart>(
  parts: readonly Listed[],
  open: (part: Listed, signal?: Signal) => Promise<DatabaseTable>,
  comparator?: Comparator,
): Run {
  mustBeArray('parts', parts, 'parts');
  mustBeFunction('open', open);
  const order = comparatorOf('comparator', comparator);
  const sorted = [...parts].sort((a, b) => order.compare(userKeyOf(a.smallest), userKeyOf(b.smallest)));
  async function* entriesOf({ gte, lt }: BulkRange, signal: Signal | undefined): AsyncGenerator<readonly BulkEntry[], void, undefined> {
    for (const part of sorted) {
      if (gte !== undefined && order.compare(userKeyOf(part.largest), gte) < 0) continue;
      if (lt !== undefined && order.compare(userKeyOf(part.smallest), lt) >= 0) return;
      const table = await open(part, signal);
      try {
        yield* partRun(table).entries({ gte, lt }, signal);
      } finally {
        await table.close();
      }
    }
  }
  return { entries: (range, signal) => entriesOf(ownRange(range), signal) };
}

/** The entries of an array, in ascending order: for entries that fit into memory. @throws TypeError or RangeError for an invalid entry. */
export function arrayRun(entries: readonly BulkInputEntry[], comparator?: Comparator): Run {
  mustBeArray('entries', entries, 'entries');
  const order = comparatorOf('comparator', comparator);
  const inBytes = entries.map((entry, i): BulkEntry => {
    const { length } = entry as readonly unknown[];
    if (length > 2) throw new TypeError(`entries[${i}] must be a key and a value, got an array of ${length}`);
    const [key, value] = entry;
    return [bytesOf(`the key of entries[${i}]`, key), value === undefined ? undefined : bytesOf(`the value of entries[${i}]`, value)];
  });
  // eslint-disable-next-line @typescript-eslint/require-await -- as the other runs
  async function* entriesOf({ gte, lt }: BulkRange): AsyncGenerator<readonly BulkEntry[], void, undefined> {
    const inside = inBytes.filter(([key]) => (gte === undefined || order.compare(key, gte) >= 0) && (lt === undefined || order.compare(key, lt) < 0));
    if (inside.length > 0) yield inside;
  }
  return { entries: (range) => entriesOf(ownRange(range)) };
}

/** The user key of an internal key. */
export function userKeyOf(stored: Uint8Array): Uint8Array {
  return stored.subarray(0, Math.max(0, stored.length - INTERNAL_KEY_TRAILER_LENGTH));
}

/** Options for a table that is read once from its first entry to its last: nothing is cached. */
export const READ_ONCE = { cache: null, filters: 'never', readAheadBytes: 2 ** 20 } as const satisfies AsyncTableOptions;

async function* storedEntries(table: Table, { gte, lt }: BulkRange, signal: Signal | undefined) {
  const cursor = table.cursor({ fillCache: false });
  await (gte === undefined ? cursor.seekToFirst({ signal }) : cursor.seek(gte, { signal }));
  for (;;) {
    const entries = await cursor.nextMany(MANY, { lt, maxBytes: MANY_BYTES, signal });
    if (entries.length === 0) return;
    yield entries;
  }
}

/** The stored key at or before all versions of a key. */
function newest(userKey: Uint8Array): Uint8Array {
  return encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: MAX_TYPE });
}

function isSameUserKey(before: Uint8Array, stored: Uint8Array, table: Table): boolean {
  const oldest = encodeInternalKey({ userKey: userKeyOf(before), sequence: 0n, type: 0 });
  return table.compare(stored, oldest) <= 0;
}

function badKey(stored: Uint8Array, file: string | undefined): CorruptionError {
  const problem = `a key of ${numberOf(stored.length, 'byte')} is not an internal key of a value or a deletion: the table may have plain keys`;
  return new CorruptionError('BLOOM_BAD_INTERNAL_KEY', { structure: 'file', offset: 0, file }, problem);
}
