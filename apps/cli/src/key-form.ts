import {
  bytewiseComparator,
  CorruptionError,
  type SyncSource,
  type SyncTable,
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
export async function keyFormOf(source: SyncSource, table: SyncTable | undefined, searchBytes: number): Promise<KeyForm> {
  const evidence = new KeyEvidence();
  if (table !== undefined) lookAtEnds(table, evidence);
  if (evidence.isEmpty && searchBytes > 0) await lookAtWhatIsLeft(source, searchBytes, evidence);
  return evidence.keyForm();
}

/** The result of `work`; undefined when the table is damaged or not supported, which the command itself reports later. */
export function undamaged<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof CorruptionError || error instanceof UnsupportedError) return undefined;
    throw error;
  }
}

function lookAtEnds(table: SyncTable, evidence: KeyEvidence): void {
  const cursor = table.cursor();
  let last: Uint8Array | undefined;
  const isAll = undamaged(() => {
    let bytes = 0;
    let more = cursor.seekToFirst();
    for (let i = 0; more && bytes < MAX_BYTES; i++, more = cursor.next()) {
      if (i >= LOOKED_AT && !(i < LOOKED_AT_FURTHER && evidence.isForInternal)) break;
      last = cursor.key.slice();
      bytes += last.length;
      evidence.add(last, table);
    }
    return !more;
  });
  if (isAll) return;
  const fromEnd: Uint8Array[] = [];
  undamaged(() => {
    let bytes = 0;
    for (let more = cursor.seekToLast(); more && bytes < MAX_BYTES && fromEnd.length < LOOKED_AT; more = cursor.prev()) {
      // Stops at a key that has been sampled already: its sequence would look like a duplicate.
      if (last !== undefined && bytewiseComparator.compare(cursor.key, last) === 0) break;
      fromEnd.push(cursor.key.slice());
      bytes += cursor.key.length;
    }
  });
  evidence.startRun();
  for (const key of fromEnd.reverse()) evidence.add(key, table);
}

async function lookAtWhatIsLeft(source: SyncSource, searchBytes: number, evidence: KeyEvidence): Promise<void> {
  const start: SyncSource = {
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
