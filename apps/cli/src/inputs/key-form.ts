import {
  bytewiseComparator,
  CorruptionError,
  type Source,
  type SyncTable,
  type Table,
  UnsupportedError,
} from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { KeyEvidence, type KeyForm } from '@bloom/report';

/** How many keys to sample from the start of the table, and as many from its end. */
const LOOKED_AT = 64;
/**
 * How many keys to sample from the start if they look like internal keys: the database may have its own order, which may
 * show only in a few keys. This is all of most tables, since LevelDB starts a new one at 2 MiB.
 */
const LOOKED_AT_FURTHER = 20_000;
/** The most bytes of keys to sample from each end, apart from the first one. */
const MAX_BYTES = 2 ** 20;

/**
 * Samples the keys of a table.
 *
 * @param table the table with plain keys; undefined when it cannot be opened.
 * @param searchBytes how far into the file to search for blocks if footer and index do not lead to any.
 */
export async function keyFormOf(source: Source, table: SyncTable | Table | undefined, searchBytes: number): Promise<KeyForm> {
  const evidence = new KeyEvidence();
  if (table !== undefined) {
    const ends: Uint8Array[] = [];
    await undamaged(() => sampleKeys(table, evidence, ends, source.isRemote === true));
    if (table.filterStatus.state !== 'used' && source.isRemote !== true) await undamaged(() => seekKeys(table, evidence, ends));
  }
  if (evidence.isEmpty && searchBytes > 0) await lookAtWhatIsLeft(source, searchBytes, evidence);
  return evidence.keyForm();
}

/** The result of `work`; undefined when the table is damaged or not supported, which the command reports later. */
export async function undamaged<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isDamage(error)) return undefined;
    throw error;
  }
}

function isDamage(error: unknown): boolean {
  return error instanceof CorruptionError || error instanceof UnsupportedError;
}

/**
 * Adds keys from the start and the end of the table. For a remote table, only from the start, because each block takes a request.
 *
 * @param ends receives the first and the last key of the two.
 */
async function sampleKeys(table: SyncTable | Table, evidence: KeyEvidence, ends: Uint8Array[], isRemote: boolean): Promise<void> {
  const isWhole = await sampleFromStart(table, evidence, isRemote ? LOOKED_AT : LOOKED_AT_FURTHER, ends);
  if (isWhole || isRemote) return;
  const fromEnd: Uint8Array[] = [];
  try {
    await sampleFromEnd(table, fromEnd, ends[1]);
  } finally {
    evidence.startRun();
    for (const key of fromEnd.reverse()) evidence.add(key, table);
    if (fromEnd.length > 0) ends.push(fromEnd[0]!, fromEnd.at(-1)!);
  }
}

/** Checks that lookups by the index find these keys. */
async function seekKeys(table: SyncTable | Table, evidence: KeyEvidence, keys: readonly Uint8Array[]): Promise<void> {
  const cursor = table.cursor();
  for (const key of keys) {
    const isThere = (await cursor.seek(key)) && bytewiseComparator.compare(cursor.key, key) === 0;
    if (!isThere) evidence.miss();
  }
}

/** @returns whether these are all keys. */
async function sampleFromStart(table: SyncTable | Table, evidence: KeyEvidence, furthest: number, ends: Uint8Array[]): Promise<boolean> {
  const cursor = table.cursor();
  let bytes = 0;
  try {
    let more = await cursor.seekToFirst();
    for (let i = 0; more && bytes < MAX_BYTES; i++) {
      if (i >= LOOKED_AT && !(i < furthest && evidence.isForInternal)) break;
      const key = cursor.key.slice();
      ends[i === 0 ? 0 : 1] = key;
      bytes += key.length;
      evidence.add(key, table);
      // Awaits only promises, because most keys are in the current block.
      const step = cursor.next();
      more = typeof step === 'boolean' ? step : await step;
    }
    return !more;
  } catch (error) {
    // The rest of the sample comes from the end.
    if (!isDamage(error)) throw error;
    return false;
  }
}

async function sampleFromEnd(table: SyncTable | Table, keys: Uint8Array[], last: Uint8Array | undefined): Promise<void> {
  const cursor = table.cursor();
  let bytes = 0;
  for (let more = await cursor.seekToLast(); more && bytes < MAX_BYTES && keys.length < LOOKED_AT; more = await cursor.prev()) {
    // Stops at a key that has been sampled already: its sequence would look like a duplicate.
    if (last !== undefined && bytewiseComparator.compare(cursor.key, last) === 0) break;
    keys.push(cursor.key.slice());
    bytes += cursor.key.length;
  }
}

async function lookAtWhatIsLeft(source: Source, searchBytes: number, evidence: KeyEvidence): Promise<void> {
  const start: Source = {
    byteLength: Math.min(source.byteLength, searchBytes),
    read: (offset, length) => source.read(offset, length),
  };
  const { salvagedEntries } = await import('./salvaged-entries.js');
  let bytes = 0;
  let looked = 0;
  for await (const [key] of salvagedEntries(start, { codecs: allCodecs, comparator: null })) {
    evidence.add(key, undefined);
    bytes += key.length;
    if (++looked === LOOKED_AT || bytes >= MAX_BYTES) return;
  }
}
