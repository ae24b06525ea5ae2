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
    await stepThrough(sampledKeys(table, evidence, ends, source.isRemote === true));
    if (table.filterStatus.state !== 'used' && source.isRemote !== true) await stepThrough(soughtKeys(table, evidence, ends));
  }
  if (evidence.isEmpty && searchBytes > 0) await lookAtWhatIsLeft(source, searchBytes, evidence);
  return evidence.keyForm();
}

/** Runs steps that yield moves of a cursor, and waits only for those that are promises. */
function stepThrough(steps: Generator<boolean | Promise<boolean>, void, boolean>): Promise<void> {
  return undamaged(async () => {
    for (let step = steps.next(); step.done !== true; ) {
      const move = step.value;
      if (typeof move === 'boolean') {
        step = steps.next(move);
        continue;
      }
      let more: boolean;
      try {
        more = await move;
      } catch (error) {
        step = steps.throw(error);
        continue;
      }
      step = steps.next(more);
    }
  });
}

/** The result of `work`; undefined when the table is damaged or not supported, which the command itself reports later. */
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
 * Adds keys from the start of the table, and from its end. Of a remote one, whose blocks take a request each, only from the start.
 *
 * @param ends receives the first and the last key of the two.
 */
function* sampledKeys(
  table: SyncTable | Table,
  evidence: KeyEvidence,
  ends: Uint8Array[],
  isRemote: boolean,
): Generator<boolean | Promise<boolean>, void, boolean> {
  const isWhole = yield* keysFromStart(table, evidence, isRemote ? LOOKED_AT : LOOKED_AT_FURTHER, ends);
  if (isWhole || isRemote) return;
  const fromEnd: Uint8Array[] = [];
  try {
    yield* keysFromEnd(table, fromEnd, ends[1]);
  } finally {
    evidence.startRun();
    for (const key of fromEnd.reverse()) evidence.add(key, table);
    if (fromEnd.length > 0) ends.push(fromEnd[0]!, fromEnd.at(-1)!);
  }
}

/** Looks whether the index leads to these keys, as filters would show. */
function* soughtKeys(table: SyncTable | Table, evidence: KeyEvidence, keys: readonly Uint8Array[]): Generator<boolean | Promise<boolean>, void, boolean> {
  const cursor = table.cursor();
  for (const key of keys) {
    const isThere = (yield cursor.seek(key)) && bytewiseComparator.compare(cursor.key, key) === 0;
    if (!isThere) evidence.miss();
  }
}

/** @returns whether these are all keys. */
function* keysFromStart(
  table: SyncTable | Table,
  evidence: KeyEvidence,
  furthest: number,
  ends: Uint8Array[],
): Generator<boolean | Promise<boolean>, boolean, boolean> {
  const cursor = table.cursor();
  let bytes = 0;
  try {
    let more = yield cursor.seekToFirst();
    for (let i = 0; more && bytes < MAX_BYTES; i++, more = yield cursor.next()) {
      if (i >= LOOKED_AT && !(i < furthest && evidence.isForInternal)) break;
      const key = cursor.key.slice();
      ends[i === 0 ? 0 : 1] = key;
      bytes += key.length;
      evidence.add(key, table);
    }
    return !more;
  } catch (error) {
    // The rest of the sample comes from the end.
    if (!isDamage(error)) throw error;
    return false;
  }
}

function* keysFromEnd(table: SyncTable | Table, keys: Uint8Array[], last: Uint8Array | undefined): Generator<boolean | Promise<boolean>, void, boolean> {
  const cursor = table.cursor();
  let bytes = 0;
  for (let more = yield cursor.seekToLast(); more && bytes < MAX_BYTES && keys.length < LOOKED_AT; more = yield cursor.prev()) {
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
