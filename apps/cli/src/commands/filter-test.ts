import { BloomFilterPolicy, buildFilter, type FilterPolicy, idealFalsePositiveRate, probesFor } from '@bloom/policy';
import { bitsPerKey, count, counted, databaseKeys, plainKeys, tryFilters } from '@bloom/report';
import type { Comparator } from '@bloom/sstable';
import { decodeInternalKey, encodeInternalKey, MAX_SEQUENCE, MAX_TYPE } from '@bloom/sstable/database';
import { profileTable } from '@bloom/sstable/inspect';
import { Failure } from '../failure.js';
import { keyId } from '../inputs/key-id.js';
import { keysFrom } from '../inputs/keys-file.js';
import { shownName } from '../inputs/location.js';
import { type InputOptions, isDatabase, recognised } from '../inputs/opened-input.js';
import { tracingFor } from '../inputs/opened-source.js';
import { noteAssumption, openTable, type SyncTableFile, withTableFile } from '../inputs/opened-table.js';
import { watchedTable } from '../inputs/watched-table.js';
import { rateText } from '../outputs/filter-figures.js';
import { statusText } from '../outputs/filter-text.js';
import { note, printJson, printLines } from '../outputs/output.js';
import { aligned } from '../outputs/screen-text.js';
import { loadPolicy } from '../plugins/plugin.js';

interface FilterTestOptions extends InputOptions {
  readonly absent?: string;
  readonly hex?: true;
  readonly json?: true;
}

const USUAL_POLICIES = ['bloom:10', 'blocked:10', 'ribbon:0.01', 'fuse:8'];
/** The number of absent keys that are derived from the table's keys. */
const MADE_ABSENT = 20_000;

/** The size and the measured false positive rate of a policy's filters. */
interface Tested {
  readonly policy: string;
  readonly bytes: number;
  readonly bitsPerKey: number | null;
  readonly rate: number | null;
  /** The theoretical rate; null if there is no formula. */
  readonly expectedRate: number | null;
}

/** Prints how often absent keys match the filters of a table, and those that other policies would make. */
export async function filterTest(given: string, options: FilterTestOptions): Promise<void> {
  if (options.hex === true && options.absent === undefined) throw new Failure('--hex is for --absent');
  const tracing = await tracingFor(options);
  const location = await recognised(given, { ...options, tracing });
  if (location.kind === 'bucket') throw new Failure(`${location.address}: is a database in a bucket: download one of its tables, which bloom stat lists, and pass the copy`);
  if (isDatabase(location)) throw new Failure(`${shownName(given)}: is a database or one of its other files: pass one of its tables, which bloom stat lists`);
  await withTableFile(location, { ...options, tracing }, async (file) => {
    noteAssumption(file, options);
    const order = file.opening.comparator;
    const blocks = keysOfBlocks(file);
    const absent = absentKeys(file, blocks, options);
    const tested = [await ownFilters(file, blocks, absent)];
    for (const name of options.policy ?? USUAL_POLICIES) {
      const policy = await loadPolicy(name);
      if (policy.keyEquivalence !== order?.keyEquivalence) note(`--policy ${name}: skipped, because it and the order of the table do not treat the same keys as equal`);
      else tested.push(otherFilters(name, policy, blocks, absent, file.comparator));
    }
    await print(file.path, blocks, absent.length, tested, options);
    tracing?.report(file.path);
  });
}

/** The keys of each data block: user keys, each once. */
function keysOfBlocks(file: SyncTableFile): Uint8Array[][] {
  const blocks: Uint8Array[][] = [];
  for (const batch of openTable(file).batches()) {
    const keys: Uint8Array[] = [];
    for (let i = 0; i < batch.length; i++) {
      const stored = batch.key(i).slice();
      const key = file.isInternal ? (decodeInternalKey(stored)?.userKey ?? stored) : stored;
      const last = keys.at(-1);
      if (last === undefined || Buffer.compare(last, key) !== 0) keys.push(key);
    }
    if (keys.length > 0) blocks.push(keys);
  }
  return blocks;
}

/** Keys that the table does not have, each once. */
function absentKeys(file: SyncTableFile, blocks: readonly (readonly Uint8Array[])[], { absent, hex }: FilterTestOptions): Uint8Array[] {
  const present = new Set(blocks.flat().map(keyId));
  const given = absent === undefined ? madeAbsent(blocks) : keysFrom(absent, hex === true);
  const found = new Map<string, Uint8Array>();
  for (const key of given) if (!present.has(keyId(key))) found.set(keyId(key), key);
  if (absent !== undefined && given.length > 0 && found.size === 0) throw new Failure(`${absent}: ${file.path} contains all of its keys, so there is no absent key to try`);
  return [...found.values()];
}

/** Keys of the table with one byte changed, from all parts of it. */
function madeAbsent(blocks: readonly (readonly Uint8Array[])[]): Uint8Array[] {
  const keys = blocks.flat();
  const made: Uint8Array[] = [];
  // A generator with the same sequence in every run (MINSTD).
  let state = 1;
  const below = (limit: number): number => (state = (state * 48_271) % 0x7fff_ffff) % limit;
  for (let i = 0; i < MADE_ABSENT * 2 && made.length < MADE_ABSENT && keys.length > 0; i++) {
    const key = keys[below(keys.length)]!.slice();
    if (key.length === 0) continue;
    key[below(key.length)]! ^= 1 + below(255);
    made.push(key);
  }
  return made;
}

async function ownFilters(file: SyncTableFile, blocks: readonly (readonly Uint8Array[])[], absent: readonly Uint8Array[]): Promise<Tested> {
  const { isInternal } = file;
  const { table, policy, keyOrder } = watchedTable(file);
  const name = `its own: ${statusText(table.filterStatus)}`;
  if (table.filterStatus.state !== 'used') return { policy: name, bytes: 0, bitsPerKey: null, rate: null, expectedRate: null };
  const profile = await profileTable(file.source, { codecs: file.opening.codecs, ...keyOrder });
  const trial = tryFilters({ table, policy, entries: profile.entries, keys: isInternal ? databaseKeys : plainKeys });
  // After the last key of the table no filter is used.
  const last = blocks.at(-1)?.at(-1);
  const asked = absent.filter((key) => last !== undefined && file.comparator.compare(key, last) < 0);
  const passed = asked.filter((key) => table.mayContain(isInternal ? encodeInternalKey({ userKey: key, sequence: MAX_SEQUENCE, type: MAX_TYPE }) : key)).length;
  return {
    policy: name,
    bytes: profile.filterBytes,
    bitsPerKey: bitsPerKey(profile) ?? null,
    rate: asked.length === 0 ? null : passed / asked.length,
    expectedRate: trial.falsePositives?.expectedRate ?? null,
  };
}

/** Filters of another policy, one for each data block. */
function otherFilters(name: string, policy: FilterPolicy, blocks: readonly (readonly Uint8Array[])[], absent: readonly Uint8Array[], comparator: Comparator): Tested {
  const filters = blocks.map((keys) => buildFilter(policy, keys));
  const lasts = blocks.map((keys) => keys.at(-1)!);
  const bytes = filters.reduce((sum, { length }) => sum + length, 0);
  const keys = blocks.reduce((sum, { length }) => sum + length, 0);
  let asked = 0;
  let passed = 0;
  for (const key of absent) {
    let from = 0;
    let to = lasts.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (comparator.compare(lasts[middle]!, key) < 0) from = middle + 1;
      else to = middle;
    }
    if (from === lasts.length) continue;
    asked++;
    if (policy.keyMayMatch(key, filters[from]!)) passed++;
  }
  return {
    policy: name,
    bytes,
    bitsPerKey: keys === 0 ? null : (bytes * 8) / keys,
    rate: asked === 0 ? null : passed / asked,
    expectedRate: expectedRateOf(policy, blocks),
  };
}

/** The rate of a policy's filters by its own parameters; null where there is no formula. */
function expectedRateOf(policy: FilterPolicy, blocks: readonly (readonly Uint8Array[])[]): number | null {
  if (policy instanceof BloomFilterPolicy && policy.bitsPerKey > 0 && blocks.length > 0) {
    const probes = probesFor(policy.bitsPerKey);
    // Weighted by keys: the number of absent keys tried in a block is proportional to its keys.
    const rates = blocks.map(({ length }) => length * idealFalsePositiveRate({ bitsPerKey: Math.max(64, length * policy.bitsPerKey) / length, probes, keys: length }));
    return rates.reduce((sum, rate) => sum + rate, 0) / blocks.reduce((sum, { length }) => sum + length, 0);
  }
  if ('rate' in policy && typeof policy.rate === 'number') return policy.rate;
  if ('fingerprintBits' in policy && typeof policy.fingerprintBits === 'number') return 2 ** -policy.fingerprintBits;
  return null;
}

async function print(path: string, blocks: readonly (readonly Uint8Array[])[], absent: number, tested: readonly Tested[], { json, absent: file }: FilterTestOptions): Promise<void> {
  const keys = blocks.reduce((sum, { length }) => sum + length, 0);
  if (json) {
    await printJson({ file: path, keys, dataBlocks: blocks.length, absentKeys: absent, policies: tested });
    return;
  }
  const head = `${path}: ${counted(keys, 'key')} in ${counted(blocks.length, 'data block')}; ${counted(absent, 'absent key')}, ${file === undefined ? 'made from them' : `of ${shownName(file)}`}`;
  const cell = (rate: number | null): string => (rate === null ? '-' : rateText(rate));
  const rows = tested.map((row, i) => [i === 0 ? 'its own' : row.policy, count(row.bytes), row.bitsPerKey === null ? '-' : row.bitsPerKey.toFixed(2), cell(row.rate), cell(row.expectedRate)]);
  await printLines([head, ...aligned([['filters', 'bytes', 'bits per key', 'matched', 'in theory'], ...rows]), tested[0]!.policy]);
}
