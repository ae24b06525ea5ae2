import { LevelError } from '../level-error.js';
import type { OpenOptions } from '../level-options.js';
import type { Item, LevelStore, Signal, StoreBatch, StoreSnapshot, StoreWalk, WalkOptions } from '../level-store.js';
import type { ByteRange } from '../range-walk.js';
import type { ByteFormats } from '../byte-formats.js';
import { bytesIn, type Stored, type StoredFormat } from '../stored-format.js';
import { browser, type MessagePortLike, type WorkerLike } from './browser-parts.js';
import { type Answer, type Held, type LevelCall, type LevelCalls, lockOfClient, type Request } from './level-messages.js';
import { receivedError } from './sent-error.js';

// Taken at load: test suites replace the host's own with ones that stand still.
const onMicrotask = queueMicrotask;

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

type Arguments<Call extends LevelCall> = Parameters<LevelCalls[Call]>;
type Result<Call extends LevelCall> = Promise<Awaited<ReturnType<LevelCalls[Call]>>>;

/** The calls to a worker. What is asked for in one turn of a page is sent in one message. */
export class WorkerCalls {
  readonly #worker: WorkerLike;
  readonly #port: MessagePortLike;
  readonly #pending = new Map<number, Pending>();
  #asked: Request[] = [];
  #lastId = 0;
  #failure: LevelError | undefined;
  /** Ends the wait for the end of the worker. */
  readonly #ending = new AbortController();

  /** @param start starts the worker, with `serveLevels` in it. */
  constructor(path: string, start: () => WorkerLike) {
    const { port1, port2 } = new browser.MessageChannel();
    this.#port = port1;
    const client = browser.crypto.randomUUID();
    port1.onmessage = ({ data }) => {
      const answers = data as Answer[];
      if (answers.length === 0) this.#awaitEnd(client);
      else this.#settle(answers);
    };
    this.#worker = start();
    this.#worker.addEventListener('error', (event) => this.fail(`the worker of the level failed, or could not be started: ${event.message ?? 'see the option worker'}`));
    this.#worker.postMessage({ path, client }, [port2]);
  }

  call<Call extends LevelCall>(call: Call, ...values: Arguments<Call>): Result<Call> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = ++this.#lastId;
    if (this.#asked.length === 0) onMicrotask(() => this.#send());
    this.#asked.push([id, call, ...values]);
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
    });
  }

  /** Makes a call whose failure shows in those that need what it did. */
  tell<Call extends LevelCall>(call: Call, ...values: Arguments<Call>): void {
    this.call(call, ...values).catch(() => undefined);
  }

  /** Ends all calls. */
  fail(problem: string): void {
    this.#failure ??= new LevelError('LEVEL_IO_ERROR', problem);
    for (const { reject } of this.#pending.values()) reject(this.#failure);
    this.#pending.clear();
    this.#port.close();
    this.#ending.abort();
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Fails when the worker has ended, of which browsers tell nobody but by its lock. */
  #awaitEnd(client: string): void {
    const ended = (): undefined => {
      this.fail('the worker of the level was ended');
    };
    browser.navigator.locks.request(lockOfClient(client), { signal: this.#ending.signal }, ended).catch(() => undefined);
  }

  #send(): void {
    const asked = this.#asked;
    this.#asked = [];
    if (this.#failure !== undefined) return;
    try {
      this.#port.postMessage(asked);
    } catch (error) {
      // One of them has what cannot be sent, such as a function.
      for (const [id] of asked) this.#take(id)?.reject(error);
    }
  }

  #settle(answers: readonly Answer[]): void {
    for (const answer of answers) {
      const pending = this.#take(answer[0]);
      if (answer[1] === 0) pending?.resolve(answer[2] as never);
      else pending?.reject(receivedError(answer[2]));
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}

/** Options that are sent to a worker. */
const SENT = [
  'createIfMissing',
  'errorIfExists',
  'compression',
  'cacheSize',
  'writeBufferSize',
  'maxFileSize',
  'blockSize',
  'blockRestartInterval',
  'maxOpenFiles',
  'maxBlockBytes',
  'filterRange',
  'damage',
  'lock',
  'reuseLogs',
] as const;

/** Options that have functions, which cannot be sent. */
const NOT_SENT = ['comparator', 'filterPolicy', 'filterPolicies', 'codecs', 'onEvent'] as const;

/** The options that are sent to a worker. @throws TypeError for one that cannot be sent. */
function sendable(options: OpenOptions): OpenOptions {
  const refused = NOT_SENT.find((name) => options[name] !== undefined && options[name] !== null) ?? (typeof options.compression === 'object' ? 'compression' : undefined);
  if (refused !== undefined) {
    throw new TypeError(`${refused} has functions, which cannot be sent to the worker that has the database open: give it to serveLevels, in a worker of your own`);
  }
  const sent: Record<string, unknown> = options.filterPolicy === null ? { filterPolicy: null } : {};
  for (const name of SENT) if (options[name] !== undefined) sent[name] = options[name];
  return sent;
}

/** Opens the database of a path in a worker. */
export async function openInWorker(path: string, start: () => WorkerLike, options: OpenOptions, formats: ByteFormats): Promise<LevelStore> {
  const sent = sendable(options);
  const calls = new WorkerCalls(path, start);
  try {
    await calls.call('open', sent);
  } catch (error) {
    calls.tell('close');
    throw error;
  }
  return new WorkerStore(calls, formats);
}

/** What a level reads and writes: a database that is open in a worker. */
class WorkerStore implements LevelStore {
  readonly #calls: WorkerCalls;
  readonly #formats: ByteFormats;
  #lastHeld = 0;

  constructor(calls: WorkerCalls, formats: ByteFormats) {
    this.#calls = calls;
    this.#formats = formats;
  }

  async get(key: Stored, format: StoredFormat, snapshot: StoreSnapshot | undefined): Promise<Stored | undefined> {
    return this.#received(await this.#calls.call('get', own(key), sent(format), heldBy(snapshot)), format);
  }

  getSync(): never {
    throw notHere('getSync()');
  }

  async getMany(keys: readonly Stored[], format: StoredFormat, snapshot: StoreSnapshot | undefined): Promise<(Stored | undefined)[]> {
    const values = await this.#calls.call('getMany', keys.map(own), sent(format), heldBy(snapshot));
    return format === 'buffer' ? values.map((value) => this.#received(value, format)) : values;
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
    const hasBuffers = keyFormat === 'buffer' || valueFormat === 'buffer';
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

  property(): never {
    throw notHere('getProperty()');
  }

  refresh(): Promise<never> {
    return Promise.reject(new LevelError('LEVEL_NOT_SUPPORTED', 'refresh() is for levels that were opened with readOnly'));
  }

  async close(): Promise<void> {
    try {
      await this.#calls.call('close');
    } catch (error) {
      // With the worker, the database was closed too.
      if (!this.#calls.hasFailed) throw error;
    }
    this.#calls.fail('the level is closed');
  }

  /** What a worker sends as bytes, in the format that was asked for. */
  #received(stored: Stored | undefined, format: StoredFormat): Stored | undefined {
    return format === 'buffer' && stored !== undefined ? this.#formats.bufferOf(stored as Uint8Array, 0, stored.length) : stored;
  }
}

class WorkerSnapshot implements StoreSnapshot {
  readonly id: Held;
  readonly #calls: WorkerCalls;

  constructor(calls: WorkerCalls, id: Held) {
    this.id = id;
    this.#calls = calls;
    calls.tell('snapshot', id);
  }

  release(): void {
    this.#calls.tell('release', this.id);
  }
}

class WorkerBatch implements StoreBatch {
  readonly #calls: WorkerCalls;
  #operations: (Stored | undefined)[] = [];

  constructor(calls: WorkerCalls) {
    this.#calls = calls;
  }

  put(key: Stored, value: Stored): void {
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

/** How many bytes a walk reads ahead: a message takes as long as reading thousands of them. */
const READ_AHEAD_BYTES = 128 * 2 ** 10;

class WorkerWalk implements StoreWalk {
  readonly readAheadBytes = READ_AHEAD_BYTES;
  readonly #calls: WorkerCalls;
  readonly #id: Held;
  readonly #itemOf: ((item: Item) => Item) | undefined;
  readonly #signal: Signal | undefined;

  /** @param itemOf makes of an item that was sent the one that was asked for. */
  constructor(calls: WorkerCalls, id: Held, itemOf: ((item: Item) => Item) | undefined, signal: Signal | undefined) {
    this.#calls = calls;
    this.#id = id;
    this.#itemOf = itemOf;
    this.#signal = signal;
  }

  seek(key: Uint8Array): void {
    this.#calls.tell('seek', this.#id, key);
  }

  async read(size: number, highWaterMark: number): Promise<Item[]> {
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

/** What is sent must have a buffer of its own: with a view, the whole buffer would be copied. What is not bytes is refused by the database. */
function own(stored: Stored): Stored {
  return ArrayBuffer.isView(stored) && stored.byteLength < stored.buffer.byteLength ? bytesIn(stored).slice() : stored;
}

/** `Buffer`s are made where they are asked for. */
function sent(format: StoredFormat): StoredFormat {
  return format === 'buffer' ? 'view' : format;
}

function heldBy(snapshot: StoreSnapshot | undefined): Held | undefined {
  return (snapshot as WorkerSnapshot | undefined)?.id;
}

function notHere(call: string): LevelError {
  return new LevelError('LEVEL_NOT_SUPPORTED', `Database is open in a worker: it does not support ${call}`);
}
