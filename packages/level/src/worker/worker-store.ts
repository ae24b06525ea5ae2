import { mustBeBytes, mustBeSignal } from '@bloom/bytes/internal';
import { LevelError } from '../level-error.js';
import type { Item, LevelStore, Signal, StoreBatch, StoreSnapshot, StoreWalk, WalkOptions } from '../level-store.js';
import type { ByteRange } from '../range-walk.js';
import { bytesIn, type Stored, type EncodingFormat } from '../encoding-formats.js';
import type { Held } from './level-messages.js';
import type { PendingCalls } from './pending-calls.js';

/** Makes the results from the bytes that were sent, which are plain arrays. */
export interface ReceivedBytes {
  /** The formats in which bytes are converted. */
  readonly formats: ReadonlySet<EncodingFormat>;
  make(bytes: Uint8Array): Uint8Array;
}

/** The store of a level whose database is open in a worker, or in another thread. */
export class WorkerStore implements LevelStore {
  readonly #calls: PendingCalls;
  readonly #bytes: ReceivedBytes;
  #lastHeld = 0;

  constructor(calls: PendingCalls, bytes: ReceivedBytes) {
    this.#calls = calls;
    this.#bytes = bytes;
  }

  async get(key: Stored, format: EncodingFormat, snapshot: StoreSnapshot | undefined): Promise<Stored | undefined> {
    return this.#received(await this.#calls.call('get', own(key), sent(format), heldBy(snapshot)), format);
  }

  getSync(key: Stored, format: EncodingFormat, snapshot: StoreSnapshot | undefined): Stored | undefined {
    return this.#received(this.#calls.getNow(own(key), sent(format), heldBy(snapshot)), format);
  }

  async getMany(keys: readonly Stored[], format: EncodingFormat, snapshot: StoreSnapshot | undefined): Promise<(Stored | undefined)[]> {
    const values = await this.#calls.call('getMany', keys.map(own), sent(format), heldBy(snapshot));
    return this.#bytes.formats.has(format) ? values.map((value) => this.#received(value, format)) : values;
  }

  has(key: Stored, snapshot: StoreSnapshot | undefined): Promise<boolean> {
    return this.#calls.call('has', own(key), heldBy(snapshot));
  }

  hasMany(keys: readonly Stored[], snapshot: StoreSnapshot | undefined): Promise<boolean[]> {
    return this.#calls.call('hasMany', keys.map(own), heldBy(snapshot));
  }

  put(key: Stored, value: Stored, sync: boolean): Promise<void> {
    return this.#calls.call('put', own(key), own(value), sync);
  }

  delete(key: Stored, sync: boolean): Promise<void> {
    return this.#calls.call('delete', own(key), sync);
  }

  batch(): StoreBatch {
    return new WorkerBatch(this.#calls);
  }

  clear(range: ByteRange, snapshot: StoreSnapshot | undefined, limit: number): Promise<void> {
    return this.#calls.call('clear', range, heldBy(snapshot), limit);
  }

  walk({ range, form, fillCache, snapshot, signal }: WalkOptions): StoreWalk {
    const { kind, keyFormat, valueFormat, withKeys, withValues } = form;
    const id = ++this.#lastHeld;
    this.#calls.tell('walk', id, range, { kind, keyFormat: sent(keyFormat), valueFormat: sent(valueFormat), withKeys, withValues }, fillCache, heldBy(snapshot));
    this.#calls.hasten();
    const hasBuffers = this.#bytes.formats.has(keyFormat) || this.#bytes.formats.has(valueFormat);
    const keyOf = (key: Stored | undefined): Stored | undefined => this.#received(key, keyFormat);
    const valueOf = (value: Stored | undefined): Stored | undefined => this.#received(value, valueFormat);
    const itemOf = (item: Item): Item =>
      Array.isArray(item) ? [keyOf(item[0]), valueOf(item[1])] : (kind === 'keys' ? keyOf(item) : valueOf(item))!;
    return new WorkerWalk(this.#calls, id, hasBuffers ? itemOf : undefined, signal);
  }

  snapshot(): StoreSnapshot {
    return new WorkerSnapshot(this.#calls, ++this.#lastHeld);
  }

  approximateSize(start: Uint8Array, end: Uint8Array): Promise<number> {
    return this.#calls.call('approximateSize', start, end);
  }

  compactRange(start: Uint8Array, end: Uint8Array): Promise<void> {
    return this.#calls.call('compactRange', start, end);
  }

  property(name: string): string {
    return this.#calls.propertyNow(name);
  }

  refresh(): Promise<never> {
    return Promise.reject(new LevelError('LEVEL_NOT_SUPPORTED', 'refresh() is for levels that were opened with readOnly'));
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  /** Bytes from a worker, in the requested format. */
  #received(stored: Stored | undefined, format: EncodingFormat): Stored | undefined {
    return stored !== undefined && this.#bytes.formats.has(format) ? this.#bytes.make(stored as Uint8Array) : stored;
  }
}

class WorkerSnapshot implements StoreSnapshot {
  readonly id: Held;
  readonly #calls: PendingCalls;

  constructor(calls: PendingCalls, id: Held) {
    this.id = id;
    this.#calls = calls;
    calls.tell('snapshot', id);
    calls.hasten();
  }

  release(): void {
    this.#calls.tell('release', this.id);
  }
}

class WorkerBatch implements StoreBatch {
  readonly #calls: PendingCalls;
  #operations: (Stored | undefined)[] = [];

  constructor(calls: PendingCalls) {
    this.#calls = calls;
  }

  put(key: Stored, value: Stored): void {
    // Undefined, which an encoding may return, would be sent as a deletion.
    if (typeof value !== 'string' && !ArrayBuffer.isView(value)) mustBeBytes('value', value);
    this.#operations.push(own(key), own(value));
  }

  delete(key: Stored): void {
    this.#operations.push(own(key), undefined);
  }

  clear(): void {
    this.#operations = [];
  }

  write(sync: boolean): Promise<void> {
    return this.#calls.call('write', this.#operations, sync);
  }
}

/** The number of bytes that a walk reads ahead: a message takes as long as reading thousands of them. */
const READ_AHEAD_BYTES = 128 * 2 ** 10;

class WorkerWalk implements StoreWalk {
  readonly readAheadBytes = READ_AHEAD_BYTES;
  readonly #calls: PendingCalls;
  readonly #id: Held;
  readonly #itemOf: ((item: Item) => Item) | undefined;
  readonly #signal: Signal | undefined;

  /** @param itemOf makes the requested item from an item that was sent. */
  constructor(calls: PendingCalls, id: Held, itemOf: ((item: Item) => Item) | undefined, signal: Signal | undefined) {
    this.#calls = calls;
    this.#id = id;
    this.#itemOf = itemOf;
    this.#signal = signal;
  }

  seek(key: Uint8Array): void {
    this.#calls.tell('seek', this.#id, key);
  }

  async read(size: number, highWaterMark: number): Promise<Item[]> {
    if (this.#signal !== undefined) mustBeSignal('signal', this.#signal);
    const [items] = await this.#unlessAborted(this.#calls.call('read', this.#id, size, highWaterMark));
    return this.#itemOf === undefined ? items : items.map(this.#itemOf);
  }

  close(): void {
    this.#calls.tell('endWalk', this.#id);
  }

  async #unlessAborted<T>(reading: Promise<T>): Promise<T> {
    const signal = this.#signal;
    if (signal === undefined) return reading;
    const aborted = (): LevelError => new LevelError('LEVEL_ABORTED', 'Operation has been aborted', { cause: signal.reason });
    let onAbort = (): void => undefined;
    const abortion = new Promise<never>((_, reject) => {
      onAbort = () => reject(aborted());
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
    try {
      return await Promise.race([reading, abortion]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      reading.catch(() => undefined);
    }
  }
}

/**
 * Bytes to send, in a buffer of their own. They are sent later, with the other requests of the turn, when the caller may have changed its array;
 * and with a view, the whole buffer would be sent. The database refuses anything that is not bytes.
 */
function own(stored: Stored): Stored {
  return ArrayBuffer.isView(stored) ? bytesIn(stored).slice() : stored;
}

/** `Buffer`s are made in the thread that requested them. */
function sent(format: EncodingFormat): EncodingFormat {
  return format === 'buffer' ? 'view' : format;
}

function heldBy(snapshot: StoreSnapshot | undefined): Held | undefined {
  return (snapshot as WorkerSnapshot | undefined)?.id;
}
