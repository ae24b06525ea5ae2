/**
 * Whether the keys of a table are plain keys, or the internal keys of a LevelDB database: user keys with 8 bytes of
 * sequence and type. Nothing in a table says which, but the keys themselves and the filters tell.
 */
import {
  bytewiseComparator,
  CorruptionError,
  type SyncSource,
  type SyncTable,
  UnsupportedError,
} from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { decodeInternalKey, type InternalKey, isLikelyInternalKey } from '@bloom/sstable/database';

/** What a sample of the keys looks like. */
export interface KeyForm {
  /** Whether they look like internal keys. */
  readonly isInternal: boolean;
  /** Whether they cannot be internal keys, so that reading them as such would make no sense. */
  readonly isPlain: boolean;
  /** Their order if they are read as plain keys, and as internal keys. */
  readonly plain: KeyReading;
  readonly internal: KeyReading;
}

/** Whether lookups work if the keys are read in one of the two ways. */
export interface KeyReading {
  /** Whether the keys are in bytewise order; for internal keys, user keys in bytewise order, newest version first. */
  readonly isBytewise: boolean;
  /** Whether every key matches its filter. */
  readonly passesFilters: boolean;
}

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
  const evidence = new Evidence();
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

function lookAtEnds(table: SyncTable, evidence: Evidence): void {
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

async function lookAtWhatIsLeft(source: SyncSource, searchBytes: number, evidence: Evidence): Promise<void> {
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

class Evidence {
  #keys = 0;
  #tooShort = 0;
  #unlikely = 0;
  /** Whether two keys have the same sequence, or a newer version comes after an older one. */
  #contradicts = false;
  readonly #sequences = new Set<bigint>();
  #last: { readonly key: Uint8Array; readonly internal: InternalKey | undefined } | undefined;
  #plainInversions = 0;
  #internalInversions = 0;
  /** How many keys, and user keys, do not match their filters. */
  #keysDenied = 0;
  #userKeysDenied = 0;

  get isEmpty(): boolean {
    return this.#keys === 0;
  }

  /** The next key that is added does not follow the last one. */
  startRun(): void {
    this.#last = undefined;
  }

  /** @param table the table whose filters to try. */
  add(key: Uint8Array, table: SyncTable | undefined): void {
    this.#keys++;
    const internal = decodeInternalKey(key);
    const last = this.#last;
    this.#last = { key, internal };
    if (last !== undefined && bytewiseComparator.compare(last.key, key) >= 0) this.#plainInversions++;
    if (internal === undefined) {
      this.#tooShort++;
      return;
    }
    const { userKey, sequence, type } = internal;
    if (!isLikelyInternalKey(internal)) this.#unlikely++;
    // Tables that were loaded in bulk have sequence 0 in all their keys.
    if (sequence > 0n && this.#sequences.has(sequence)) this.#contradicts = true;
    this.#sequences.add(sequence);
    if (last?.internal !== undefined) {
      const order = bytewiseComparator.compare(last.internal.userKey, userKey);
      if (order > 0) this.#internalInversions++;
      if (order === 0 && (last.internal.sequence < sequence || (last.internal.sequence === sequence && last.internal.type <= type))) {
        this.#contradicts = true;
      }
    }
    if (table?.filterStatus.state === 'used') {
      if (!table.mayContain(key)) this.#keysDenied++;
      if (!table.mayContain(userKey)) this.#userKeysDenied++;
    }
  }

  /** Whether the keys so far look like a database's. */
  get isForInternal(): boolean {
    return (
      this.#keys > 0 &&
      this.#tooShort === 0 &&
      this.#unlikely === 0 &&
      !this.#contradicts &&
      // Filters were made from the stored keys or from the user keys. If the order is not bytewise, even some of those do
      // not match, because the index leads to the filter of another block.
      this.#userKeysDenied <= this.#keysDenied
    );
  }

  keyForm(): KeyForm {
    return {
      isInternal: this.isForInternal,
      isPlain: this.#keys > 0 && (this.#tooShort > 0 || this.#unlikely === this.#keys),
      plain: { isBytewise: this.#plainInversions === 0, passesFilters: this.#keysDenied === 0 },
      internal: { isBytewise: this.#internalInversions === 0, passesFilters: this.#userKeysDenied === 0 },
    };
  }
}
