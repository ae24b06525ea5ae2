import { entriesSha256, formatKv, goldenTables, type KeyValue, type Random, realTables, seeded } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import {
  bytewiseComparator,
  type Comparator,
  CorruptionError,
  MemorySource,
  SyncTable,
  Table,
  UnsupportedError,
} from '@bloom/sstable';
import { type Finding, profileTable, salvageTable, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { DatabaseTable, internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { damage, type Damaged, type TakenApart, takeApart } from './damage.js';
import { hex, sameBytes, sameEntries } from './entries.js';
import { zlibCodecs } from './zlib-codecs.js';

/** An undamaged table, and how to read it. */
export interface BaseTable {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly table: TakenApart;
  readonly entries: readonly KeyValue[];
  /** The ids of all entries; see `entryId`. */
  readonly known: ReadonlySet<string>;
  readonly isInternal: boolean;
  readonly options: {
    readonly comparator: Comparator;
    readonly filterPolicies: FilterPolicy[];
    readonly maxBlockBytes: number;
    readonly codecs: typeof zlibCodecs;
  };
  /** Null if the order of the keys is unknown. */
  readonly comparator: Comparator | null;
  /** How often it is picked, relative to others. */
  readonly weight: number;
}

const bloom = new BloomFilterPolicy();

/** An id that distinguishes entries: their bytes, or a hash of long ones. */
function entryId(entry: readonly [Uint8Array, Uint8Array]): string {
  return entry[0].length + entry[1].length < 1000 ? hex(formatKv([entry])) : entriesSha256([entry]);
}

/** Every golden and real table. */
export function baseTables(): BaseTable[] {
  const raw = { comparator: bytewiseComparator, filterPolicies: [bloom] };
  const internal = { comparator: internalKeyComparator(), filterPolicies: [internalKeyPolicy(bloom)] };
  const base = (
    name: string,
    bytes: Uint8Array,
    isInternal: boolean,
    { maxBlock, isOrdered }: { maxBlock: number; isOrdered: boolean },
  ): BaseTable => {
    const options = { ...(isInternal ? internal : raw), codecs: zlibCodecs, maxBlockBytes: Math.max(2 ** 18, maxBlock + 1000) };
    const entries = [...SyncTable.open(new MemorySource(bytes), options).entries()];
    return {
      name,
      bytes,
      table: takeApart(bytes),
      entries,
      known: new Set(entries.map(entryId)),
      isInternal,
      options,
      comparator: isOrdered ? options.comparator : null,
      weight: 1 / (400 + bytes.length + entries.length * 30 + maxBlock / 10),
    };
  };
  return [
    ...goldenTables().map(({ name, bytes, options }) =>
      base(name, bytes(), false, { maxBlock: options.blockSize, isOrdered: true }),
    ),
    ...goldenTables({ comparator: 'trailing-space' }).map(({ name, bytes, options }) =>
      base(name, bytes(), false, { maxBlock: options.blockSize, isOrdered: false }),
    ),
    ...realTables().map(({ file, bytes, keyKind, maxBlock, adjacentBytewiseInversions }) =>
      base(file, bytes(), keyKind === 'internal', { maxBlock, isOrdered: adjacentBytewiseInversions === 0 }),
    ),
  ];
}

/** Picks tables by weight, and sometimes any table. */
export function picker(tables: readonly BaseTable[]): (random: Random) => BaseTable {
  const total = tables.reduce((sum, { weight }) => sum + weight, 0);
  return (random) => {
    if (random.below(400) === 0) return random.pick(tables);
    let left = (random.uint32() / 2 ** 32) * total;
    return tables.find(({ weight }) => (left -= weight) < 0) ?? tables[0]!;
  };
}

function isCoded(error: unknown): boolean {
  return (
    (error instanceof CorruptionError || error instanceof UnsupportedError) &&
    error.code.startsWith('BLOOM_') &&
    Number.isFinite(error.offset)
  );
}

/** One damaged table of the run with this seed. */
export function damagedTable(
  seed: number,
  run: number,
  tables: readonly BaseTable[],
  pick: (random: Random) => BaseTable,
): { readonly base: BaseTable; readonly damaged: Damaged; readonly random: Random } {
  const random = seeded((seed ^ Math.imul(run + 1, 0x9e3779b1)) >>> 0);
  const base = pick(random);
  const damaged = damage(random, base.bytes, base.table, random.pick(tables).bytes);
  return { base, damaged, random };
}

/** The most entries of a damaged table that are read; the real tables have up to 82,387. */
const MOST_ENTRIES = 200_000;

/** The problems with how a damaged table is read: none, if everything is as it should be. */
export async function complaints(base: BaseTable, { bytes, isSealed }: Damaged, random: Random): Promise<string[]> {
  const wrong: string[] = [];
  const source = new MemorySource(bytes, 'damaged.ldb');
  const { options, comparator, known } = base;
  const isNew = (entry: readonly [Uint8Array, Uint8Array]): boolean => !isSealed && !known.has(entryId(entry));
  const attempt = <T>(what: string, run: () => T): T | undefined => {
    try {
      return run();
    } catch (error) {
      if (!isCoded(error)) wrong.push(`${what}: ${String(error)}`);
      return undefined;
    }
  };
  const attemptLater = async <T>(what: string, run: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await run();
    } catch (error) {
      if (!isCoded(error)) wrong.push(`${what}: ${String(error)}`);
      return undefined;
    }
  };

  let findings: readonly Finding[] = [];
  try {
    ({ findings } = await verifyTable(source, { ...options, comparator }));
  } catch (error) {
    wrong.push(`verify throws ${String(error)}`);
  }
  if (findings.some(({ structure, offset }) => structure.length === 0 || !(offset >= 0 && offset <= bytes.length))) {
    wrong.push('verify gives a finding without a place in the file');
  }

  const table = attempt('open', () => SyncTable.open(source, options));
  const plain = attempt('open', () => SyncTable.open(source, { ...options, filterPolicies: [] }));
  if (table !== undefined && plain !== undefined) {
    const walk = (reverse: boolean): KeyValue[] | undefined =>
      attempt(`entries, reverse ${reverse}`, () => {
        const list: KeyValue[] = [];
        for (const entry of plain.entries({ reverse, limit: MOST_ENTRIES })) {
          if (isNew(entry)) throw new Error(`${hex(entry[0].subarray(0, 40))} was never written so`);
          list.push(entry);
        }
        return list;
      });
    const forwards = walk(false);
    const backwards = walk(true);
    if (findings.length === 0 && comparator !== null) {
      if (forwards === undefined || backwards === undefined) wrong.push('what verify calls intact cannot be read');
      else if (!sameEntries(forwards, backwards.reverse())) {
        wrong.push('the entries are others backwards');
      }
    }
    // Two of the real tables have a block of 8 MiB, which is larger than the cache.
    const lookups = options.maxBlockBytes > 2 ** 20 ? 2 : 12;
    const some = base.entries.length <= lookups ? base.entries : Array.from({ length: lookups }, () => random.pick(base.entries));
    const found = forwards === undefined || forwards.length === 0 ? [] : Array.from({ length: lookups }, () => random.pick(forwards));
    for (const [key] of [...some, ...found]) {
      const value = attempt('get without filters', () => plain.get(key));
      const filtered = attempt('get', () => table.get(key));
      if (value !== undefined && isNew([key, value])) wrong.push(`get ${hex(key.subarray(0, 40))} gives a value that was never written so`);
      if (value !== undefined && filtered === undefined) {
        const offset = table.approximateOffset(key);
        if (!findings.some((finding) => finding.structure === 'data block' && finding.offset === offset)) {
          wrong.push(`${hex(key.subarray(0, 40))}, which verify calls intact, is called absent by the filter`);
        }
      }
    }
    if (findings.length === 0 && comparator !== null) {
      for (const [key, value] of found) {
        const got = attempt('get', () => table.get(key));
        if (!sameBytes(got, value)) wrong.push(`${hex(key.subarray(0, 40))} is in an intact table and not found`);
      }
    }
    attempt('absent keys', () => table.getMany(Array.from({ length: 4 }, () => random.bytes(random.below(20)))));
    await attemptLater('profile', () => profileTable(source, options));
  }

  if (random.below(4) === 0) {
    const later = await attemptLater('open later', () => Table.open(source, options));
    if (later !== undefined) {
      await attemptLater('entries later', async () => {
        let count = 0;
        for await (const entry of later.entries({ reverse: random.below(2) === 0 })) {
          if (isNew(entry)) throw new Error(`${hex(entry[0].subarray(0, 40))} was never written so`);
          if (++count === MOST_ENTRIES) break;
        }
      });
      await attemptLater('getMany later', () => later.getMany(base.entries.slice(0, 50).map(([key]) => key)));
    }
    if (base.isInternal) {
      await attemptLater('database table', async () => {
        const database = await DatabaseTable.open(source, { codecs: zlibCodecs, maxBlockBytes: options.maxBlockBytes });
        for (const [key] of base.entries.slice(0, 5)) await database.get(key.subarray(0, Math.max(0, key.length - 8)));
        for await (const { key } of database.entries({ limit: 100 })) if (key.length > bytes.length * 30) break;
      });
    }
  }

  try {
    const ranges = tableLayout(source, { codecs: zlibCodecs, maxBlockBytes: options.maxBlockBytes, detail: random.pick(['blocks', 'fields']) });
    let position = 0;
    for await (const { offset, byteLength } of ranges) {
      if (offset !== position || byteLength <= 0) {
        wrong.push(`layout: a range of ${byteLength} bytes at ${offset}, after one that ends at ${position}`);
        break;
      }
      position += byteLength;
    }
    if (position !== bytes.length) wrong.push(`layout: ends at ${position} of ${bytes.length}`);
  } catch (error) {
    wrong.push(`layout throws ${String(error)}`);
  }

  try {
    let saved = 0;
    const report = await salvageTable(
      source,
      (key, value) => {
        saved++;
        if (isNew([key, value])) wrong.push(`salvage gives ${hex(key.subarray(0, 40))}, which was never written so`);
      },
      { codecs: zlibCodecs, maxBlockBytes: options.maxBlockBytes, comparator },
    );
    if (report.entries !== saved) wrong.push(`salvage reports ${report.entries} entries and gave ${saved}`);
    if (findings.length === 0 && plain !== undefined && comparator !== null) {
      const { entries } = await profileTable(source, options);
      if (saved < entries) wrong.push(`salvage gave ${saved} of ${entries} entries of what verify calls intact`);
    }
  } catch (error) {
    wrong.push(`salvage throws ${String(error)}`);
  }
  return wrong;
}
