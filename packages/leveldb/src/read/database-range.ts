import type { Bytes } from '@bloom/bytes';
import { bytesOf } from '@bloom/bytes/internal';
import type { AsyncKeyRange, KeyInterval, KeyRange } from '@bloom/sstable';
import type { SequenceOptions } from '@bloom/sstable/database';
import { type Bound, KEY_RANGE, KeyBounds, mustBeKeyRange } from '@bloom/sstable/internal';
import type { KeyOrder } from '../format/version.js';
import type { VisibleCursor } from '../cursor/visible-cursor.js';

/** A range, and the state of the database to read. */
export interface DatabaseKeyRange extends KeyRange, SequenceOptions {}

/** The bounds of a {@link KeyInterval} as bytes. */
type BoundBytes = { readonly [Name in keyof KeyInterval]: Uint8Array | undefined };

/** A range with its bounds as bytes. A bound that is neither bytes nor text stays as it is, to be checked later. */
export function inBytes<Range extends KeyInterval>(range: Range): Omit<Range, keyof KeyInterval> & BoundBytes {
  const texts = BOUNDS.filter((name) => typeof (range as Range | null)?.[name] === 'string');
  const bytes = Object.fromEntries(texts.map((name) => [name, bytesOf(name, range[name]!)]));
  return (texts.length === 0 ? range : { ...range, ...bytes }) as Omit<Range, keyof KeyInterval> & BoundBytes;
}

/** A copy of a key, which the caller may change while the call waits. @throws TypeError or RangeError for a key that is neither bytes nor text. */
export function ownKey(key: Uint8Array | string): Bytes {
  return new Uint8Array(bytesOf('key', key));
}

/** A copy of a range, whose bounds the caller may change while the call waits. */
export function ownRange<Range extends KeyInterval>(range: Range): Range {
  const views = BOUNDS.filter((name) => ArrayBuffer.isView(range[name]));
  return { ...range, ...Object.fromEntries(views.map((name) => [name, new Uint8Array(range[name] as Uint8Array)])) };
}

const BOUNDS = ['gt', 'gte', 'lt', 'lte', 'prefix'] as const;

const DATABASE_KEY_RANGE: Record<keyof (AsyncKeyRange & SequenceOptions), true> = { ...KEY_RANGE, sequence: true };

/** @throws TypeError, which names the call, unless `range` is a range. */
export function mustBeDatabaseRange(call: string, range: AsyncKeyRange & SequenceOptions): void {
  mustBeKeyRange(call, range, DATABASE_KEY_RANGE);
}

/** Goes through a range of visible entries. Its moves are like those of {@link VisibleCursor}. */
export class DatabaseRange {
  readonly cursor: VisibleCursor;
  readonly #order: KeyOrder;
  readonly #reverse: boolean;
  readonly #from: KeyBounds['from'];
  readonly #to: Bound | undefined;
  #left: number;
  #started = false;

  /** @throws the errors of {@link KeyBounds}. */
  constructor(cursor: VisibleCursor, order: KeyOrder, range: KeyRange) {
    const { limit, reverse, from, to } = new KeyBounds(range, order.compareUserKeys);
    this.cursor = cursor;
    this.#order = order;
    this.#left = limit;
    this.#reverse = reverse;
    this.#from = from;
    this.#to = to;
  }

  /** Moves on by an entry. Once the move has ended, `accept` says whether the entry is in the range. */
  next(): boolean {
    if (this.#left <= 0) return true;
    if (this.#started) return this.#reverse ? this.cursor.prev() : this.cursor.next();
    this.#started = true;
    if (this.#from === undefined) return this.#reverse ? this.cursor.seekToLast() : this.cursor.seekToFirst();
    return this.cursor.seek(this.#from.key, this.#from.side);
  }

  /** Whether the move reached another entry of the range. */
  accept(): boolean {
    if (this.#left <= 0) return false;
    if (this.cursor.valid && this.#isBeforeEnd()) {
      this.#left--;
      return true;
    }
    this.#left = 0;
    return false;
  }

  get isOver(): boolean {
    return this.#left <= 0;
  }

  end(): void {
    this.#left = 0;
  }

  #isBeforeEnd(): boolean {
    const to = this.#to;
    if (to === undefined) return true;
    const { keyBytes, keyStart, keyLength } = this.cursor;
    const order = this.#order.compareUserKeys(keyBytes, keyStart, keyStart + keyLength, to.key, 0, to.key.length);
    return order === 0 ? to.inclusive : order < 0 !== this.#reverse;
  }
}
