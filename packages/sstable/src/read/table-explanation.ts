/** What a lookup in a table did, step by step, in plain values that can be sent, stored and shown. */
import type { Bytes, CorruptionCode, Structure, UnsupportedCode } from '@bloom/bytes';
import type { BlockSearch } from '../format/block-search.js';
import { uint32At } from '../format/block-walk.js';
import { isFormatError } from '../format/is-format-error.js';
import { PAST, UNKNOWN } from '../format/bytewise-search.js';
import type { FilterStatus } from './filter-status.js';
import type { OpenTable } from './open.js';

/** The data block that can hold a key. */
export interface IndexedBlock {
  /** Its number among the table's data blocks, from 0. */
  readonly number: number;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes as stored, without the trailer; negative when its handle is damaged. */
  readonly size: number;
}

/**
 * What the filter of a data block said of a key.
 *
 * - `no`: the key is certainly not in the block, which is not read.
 * - `maybe`: the key may be in the block.
 * - `unreadable`: the filter of this block cannot be read, so the block is read.
 * - `not-asked`: no filter is in use, and `state` says why, as in {@link FilterStatus}.
 */
export type FilterAnswer =
  | {
      readonly answer: 'no' | 'maybe';
      readonly policyName: string;
      /** Its number in the filter block, from 0. */
      readonly number: number;
      /** Bytes of the filter. */
      readonly byteLength: number;
      /** It covers the data blocks that start at or after `from` and before `to`: bytes from the start of the file. */
      readonly from: number;
      readonly to: number;
    }
  | { readonly answer: 'unreadable'; readonly policyName: string; readonly number: number }
  | { readonly answer: 'not-asked'; readonly state: Exclude<FilterStatus['state'], 'used'> };

/** A data block that was searched. */
export interface SearchedBlock {
  /** Whether the cache had it; otherwise it was read from the file. */
  readonly isCached: boolean;
  /** Bytes of its contents, after decompression. */
  readonly byteLength: number;
  /** The restart from which its entries were walked, from 0. */
  readonly restart: number;
  /** The entries that were walked: bytes of the contents from `walkStart` up to, but not including, `walkEnd`. */
  readonly walkStart: number;
  readonly walkEnd: number;
}

/** How one table was searched for a key, as far as the lookup went. */
export interface TableSearch {
  /** How many data blocks the index has. */
  readonly blockCount: number;
  /** The only one that can hold the key; undefined when the key is after all of them. */
  readonly block: IndexedBlock | undefined;
  /** Undefined when there is no block to ask it about. */
  readonly filter: FilterAnswer | undefined;
  /** Undefined when the block was not searched: after the filter's no, or because it cannot be read. */
  readonly searched: SearchedBlock | undefined;
}

/** Why a lookup failed: the parts of a `CorruptionError` or `UnsupportedError`. */
export interface LookupFailure {
  readonly name: 'CorruptionError' | 'UnsupportedError';
  readonly code: CorruptionCode | UnsupportedCode;
  readonly structure: Structure;
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly file: string | undefined;
  readonly problem: string;
}

/** What a lookup in one table did, and what came of it. */
export interface TableExplanation extends TableSearch {
  /** A copy of the key. */
  readonly key: Bytes;
  /** What `get` gives: the value, nothing, or an error. */
  readonly outcome: { readonly kind: 'value'; readonly value: Bytes } | { readonly kind: 'absent' } | { readonly kind: 'failed'; readonly error: LookupFailure };
}

/** Records what a lookup in a table does. A lookup without a trace pays for a comparison with undefined at each step. */
export class TableTrace {
  /** What is recorded so far. */
  readonly search: { -readonly [Name in keyof TableSearch]: TableSearch[Name] } = { blockCount: 0, block: undefined, filter: undefined, searched: undefined };
  #isCached = false;

  /** The index leads to data block `i`; `index.length` stands for none. */
  located({ index }: OpenTable, i: number): void {
    this.search.blockCount = index.length;
    if (i < index.length) this.search.block = { number: i, offset: index.offsetOf(i), size: index.sizeOf(i) };
  }

  /** The filter, if there is one, was asked about data block `i`. */
  filtered({ index, filter, filterStatus }: OpenTable, i: number, isDenied: boolean): void {
    if (filter === undefined || filterStatus.state !== 'used') {
      const state = filterStatus.state as Exclude<FilterStatus['state'], 'used'>;
      this.search.filter = { answer: 'not-asked', state };
      return;
    }
    const { policyName } = filterStatus;
    const number = Math.floor(index.offsetOf(i) / filter.base);
    const bytes = filter.filterAt(number);
    this.search.filter =
      bytes === undefined
        ? { answer: 'unreadable', policyName, number }
        : { answer: isDenied ? 'no' : 'maybe', policyName, number, byteLength: bytes.length, from: number * filter.base, to: (number + 1) * filter.base };
  }

  /** The data block comes from the cache, or else from the file. */
  takes(isCached: boolean): void {
    this.#isCached = isCached;
  }

  /** A data block was searched. @param outcome of `BytewiseSearch`, which says whether `block` had to walk. */
  searched(contents: Uint8Array, block: BlockSearch, outcome: number): void {
    const { entries } = block;
    const isWalked = outcome === UNKNOWN;
    const restartCount = isWalked ? block.restartCount : uint32At(contents, contents.length - 4);
    const entriesEnd = isWalked ? block.entriesEnd : contents.length - 4 - restartCount * 4;
    const isPast = isWalked ? !block.valid : outcome === PAST;
    this.search.searched = {
      isCached: this.#isCached,
      byteLength: contents.length,
      restart: entries.restart,
      walkStart: restartCount === 0 ? 0 : uint32At(contents, entriesEnd + entries.restart * 4),
      walkEnd: restartCount === 0 ? 0 : isPast ? entriesEnd : isWalked ? block.valueEnd : entries.valueEnd,
    };
  }
}

/** The error of a lookup as plain values. @throws the error if it is not about the bytes of the file. */
export function lookupFailureOf(error: unknown): LookupFailure {
  if (!isFormatError(error)) throw error;
  const { name, code, structure, offset, file, problem } = error;
  return { name, code, structure, offset, file, problem };
}

/** What `get` gave. */
export function outcomeOf(value: Bytes | undefined): TableExplanation['outcome'] {
  return value === undefined ? { kind: 'absent' } : { kind: 'value', value };
}

/** What `get` failed with. @throws the error if it is not about the bytes of the file. */
export function failedOutcome(error: unknown): TableExplanation['outcome'] {
  return { kind: 'failed', error: lookupFailureOf(error) };
}
