/**
 * Whether the keys of a table are plain ones, or those of a LevelDB database: each a user key and 8 bytes of sequence
 * and type. No table says which it is. It shows in the keys themselves, and in what its filters were made of.
 */
import {
  bytewiseComparator,
  CorruptionError,
  type SyncSource,
  SyncTable,
  UnsupportedError,
} from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { decodeInternalKey, DELETION, type InternalKey, VALUE } from '@bloom/sstable/database';
import { salvagedEntries } from '@bloom/sstable/inspect';

/** What the keys look like that were looked at. */
export interface KeyForm {
  /** Whether they are those of a database. */
  readonly isInternal: boolean;
  /** Whether they cannot be, so that reading them as such would make no sense. */
  readonly isPlain: boolean;
  /** What the keys are like if they are read as plain ones, and as a database's. */
  readonly plain: KeyOrder;
  readonly internal: KeyOrder;
}

/** Whether lookups work. */
export interface KeyOrder {
  /** Whether the keys ascend by their bytes; a database's: user keys by their bytes, and the newest version first. */
  readonly isBytewise: boolean;
  /** Whether no filter says no to a key that is there. */
  readonly passesFilters: boolean;
}

/** Keys that are looked at: so many from the start of the table, and as many from its end. */
const LOOKED_AT = 64;
/**
 * Of what looks like a database's table, so many from the start: databases may have an order of their own, which shows
 * at few keys. It is all of most tables, which LevelDB ends at 2 MiB.
 */
const LOOKED_AT_FURTHER = 20_000;
/** Bytes of keys that are looked at from either end; one key is always looked at. */
const MAX_BYTES = 2 ** 20;
/** A database would have to write a million times a second for nine years to get there. */
const MAX_PLAUSIBLE_SEQUENCE = 2n ** 48n;

/**
 * Looks at some keys of a table.
 *
 * @param searchBytes how far into the file to search for blocks where index and footer lead to none.
 */
export async function keyFormOf(source: SyncSource, searchBytes: number): Promise<KeyForm> {
  const evidence = new Evidence();
  const table = undamaged(() => SyncTable.open(source, { codecs: allCodecs }));
  if (table !== undefined) lookAtEnds(table, evidence);
  if (evidence.isEmpty && searchBytes > 0) await lookAtWhatIsLeft(source, searchBytes, evidence);
  return evidence.keyForm();
}

/** What `work` gives; undefined when the table's damage ends it, which is for the command itself to report. */
function undamaged<T>(work: () => T): T | undefined {
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
      // No key is looked at twice: no sequence comes twice, either.
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
  #implausible = 0;
  /** Whether two keys have one sequence, or a newer version comes after an older one. */
  #contradicts = false;
  readonly #sequences = new Set<bigint>();
  #last: { readonly key: Uint8Array; readonly internal: InternalKey | undefined } | undefined;
  #plainInversions = 0;
  #internalInversions = 0;
  /** Keys, and user keys, that the filters say no to. */
  #keysDenied = 0;
  #userKeysDenied = 0;

  get isEmpty(): boolean {
    return this.#keys === 0;
  }

  /** What is added next does not follow what was added last. */
  startRun(): void {
    this.#last = undefined;
  }

  /** @param table whose filters are to be asked. */
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
    if (!isPlausible(internal)) this.#implausible++;
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
      this.#implausible === 0 &&
      !this.#contradicts &&
      // Filters are of the stored keys, or of the user keys. Some of the right ones are denied, too, where the order is
      // not that of the bytes: the index then leads to another block's filter.
      this.#userKeysDenied <= this.#keysDenied
    );
  }

  keyForm(): KeyForm {
    return {
      isInternal: this.isForInternal,
      isPlain: this.#keys > 0 && (this.#tooShort > 0 || this.#implausible === this.#keys),
      plain: { isBytewise: this.#plainInversions === 0, passesFilters: this.#keysDenied === 0 },
      internal: { isBytewise: this.#internalInversions === 0, passesFilters: this.#userKeysDenied === 0 },
    };
  }
}

/** Whether LevelDB would write such sequence and type: its types are two, and its sequences start at 1. */
function isPlausible({ sequence, type }: InternalKey): boolean {
  if (sequence === 0n) return type === VALUE;
  return (type === VALUE || type === DELETION) && sequence < MAX_PLAUSIBLE_SEQUENCE;
}
