/**
 * Whether the keys of a table are plain keys, or the internal keys of a LevelDB database: user keys with 8 bytes of
 * sequence and type. Nothing in a table says which, but the keys themselves and the filters tell.
 */
import { bytewiseComparator, type SyncTable } from '@bloom/sstable';
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
  /** Whether every key matches its filter, or, where there is none, is found through the index. */
  readonly passesFilters: boolean;
}

/** Looks at one key after another, in the order of the table. */
export class KeyEvidence {
  #keys = 0;
  #tooShort = 0;
  #unlikely = 0;
  /** Whether a newer version of a key comes after an older one. */
  #contradicts = false;
  /** Whether two keys have the same sequence. */
  #repeatsSequence = false;
  readonly #sequences = new Set<bigint>();
  #last: { readonly key: Uint8Array; readonly internal: InternalKey | undefined } | undefined;
  #plainInversions = 0;
  #internalInversions = 0;
  /** How many keys, and user keys, do not match their filters. */
  #keysDenied = 0;
  #userKeysDenied = 0;
  /** How many keys, read as plain keys, the index does not lead to. */
  #missed = 0;
  /** Whether opening the table showed that its filters were made from user keys. */
  private isFilterOfUserKeys = false;

  get isEmpty(): boolean {
    return this.#keys === 0;
  }

  /** The next key that is added does not follow the last one. */
  startRun(): void {
    this.#last = undefined;
  }

  /** @param table the table whose filters to try; undefined where they are not at hand. */
  add(key: Uint8Array, table: Pick<SyncTable, 'mayContain' | 'filterStatus'> | undefined): void {
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
    // Tables that other programs loaded in bulk have sequence 0 in all their keys.
    if (sequence > 0n && this.#sequences.has(sequence)) this.#repeatsSequence = true;
    this.#sequences.add(sequence);
    if (last?.internal !== undefined) {
      const order = bytewiseComparator.compare(last.internal.userKey, userKey);
      if (order > 0) this.#internalInversions++;
      if (order === 0 && (last.internal.sequence < sequence || (last.internal.sequence === sequence && last.internal.type <= type))) {
        this.#contradicts = true;
      }
    }
    const status = table?.filterStatus;
    if (status?.state === 'contradicted' && status.filteredKeys === 'user-keys') this.isFilterOfUserKeys = true;
    if (table !== undefined && status?.state === 'used') {
      if (!table.mayContain(key)) this.#keysDenied++;
      if (!table.mayContain(userKey)) this.#userKeysDenied++;
    }
  }

  /** Counts a key that was added, and that the index of the table, read with plain keys, does not lead to. */
  miss(): void {
    this.#missed++;
  }

  /** Whether the keys so far look like a database's. */
  get isForInternal(): boolean {
    return (
      this.#keys > 0 &&
      this.#tooShort === 0 &&
      this.#unlikely === 0 &&
      !this.#contradicts &&
      // All keys of a part of @bloom/bulk have the same sequence. Only its filters distinguish them from plain keys with the same ending.
      (!this.#repeatsSequence || this.#filtersHaveUserKeys) &&
      // Filters were made from the stored keys or from the user keys. If the order is not bytewise, even some of those do
      // not match, because the index leads to the filter of another block.
      this.#userKeysDenied <= this.#keysDenied
    );
  }

  get #filtersHaveUserKeys(): boolean {
    return this.isFilterOfUserKeys || (this.#keysDenied > 0 && this.#userKeysDenied === 0);
  }

  keyForm(): KeyForm {
    return {
      isInternal: this.isForInternal,
      isPlain: this.#keys > 0 && (this.#tooShort > 0 || this.#unlikely === this.#keys),
      plain: { isBytewise: this.#plainInversions === 0, passesFilters: this.#keysDenied === 0 && this.#missed === 0 },
      internal: { isBytewise: this.#internalInversions === 0, passesFilters: this.#userKeysDenied === 0 },
    };
  }
}
