import { lost, notOpen } from '../level-error.js';
import type { OpenOptions } from '../level-options.js';
import type { DatabaseStore, DatabaseWalk, SequenceSnapshot } from '../database-store.js';
import type { Stored, EncodingFormat } from '../encoding-formats.js';
import type { Answer, Held, LevelCalls, Request } from './level-messages.js';
import { RepeatOrder } from './repeat-order.js';
import { sentErrorOf } from './sent-error.js';
import type { DatabaseUser, SharedDatabase } from './shared-database.js';

// Taken at load: test suites replace the host's functions with fake ones.
const onMicrotask = queueMicrotask;

/** A walk or a snapshot, and its sequence, which is known when the writes before it are in the log: then no other worker has another state with it. */
interface Begun<State> {
  readonly state: State;
  readonly sequence: Promise<bigint>;
}

/** The work for one page on the database of a path, in the worker that has it open. */
export class LevelSession implements DatabaseUser {
  readonly #database: SharedDatabase;
  readonly #answer: (answers: Answer[]) => void;
  readonly #walks = new Map<Held, Begun<DatabaseWalk>>();
  readonly #snapshots = new Map<Held, Begun<SequenceSnapshot>>();
  readonly #calls: LevelCalls;
  readonly #underWay = new Set<Promise<unknown>>();
  /** Set while the database is being opened: requests wait for it. */
  #opening: Promise<unknown> | undefined;
  #isOpen = false;
  /** The reason why the database could not be opened the last time, in this worker, which may be a further one. */
  #failure: unknown;
  #answers: Answer[] = [];
  readonly #order: RepeatOrder | undefined;
  /** Requests that have not begun: one that must wait for answers, and all after it. */
  #waiting: Request[] = [];

  /**
   * @param answer sends answers to the page.
   * @param isRepeated whether another worker receives the unanswered requests again when this one ends.
   */
  constructor(database: SharedDatabase, answer: (answers: Answer[]) => void, isRepeated = false) {
    this.#database = database;
    this.#answer = answer;
    this.#order = isRepeated ? new RepeatOrder(database.formats) : undefined;
    this.#calls = this.#makeCalls();
  }

  handle(requests: readonly Request[]): void {
    const all = this.#waiting.length === 0 ? requests : [...this.#waiting, ...requests];
    this.#waiting = [];
    for (const [i, request] of all.entries()) {
      if (this.#order?.mustWait(request) === true) {
        this.#waiting = all.slice(i);
        return;
      }
      this.#begin(request);
    }
  }

  #begin(request: Request): void {
    this.#order?.begin(request);
    const call = this.#make(request, request[1] === 'close' ? Promise.all([...this.#underWay]) : (this.#opening ?? this.#database.reopening));
    if (request[1] === 'open') {
      this.#opening = call.then(() => {
        this.#opening = undefined;
      });
    }
    this.#underWay.add(call);
    void call.then((answer) => {
      this.#underWay.delete(call);
      const answers = this.#order?.answered(request, answer) ?? [answer];
      if (this.#answers.length === 0 && answers.length > 0) onMicrotask(() => this.#send());
      for (const one of answers) this.#answers.push(one);
    });
  }

  /** Begins the requests that wait for answers. In the page's own thread, they are not repeated elsewhere. */
  beginWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const request of waiting) this.#begin(request);
  }

  /**
   * Answers the request `get` synchronously, even if the session is still joining those that use the open database.
   *
   * @param sequence of the snapshot, if it was made in another worker and may not have been made here yet.
   */
  getNow(key: Stored, format: EncodingFormat, snapshot: Held | undefined, sequence?: bigint): Stored | undefined {
    this.beginWaiting();
    const { store } = this.#database;
    if (snapshot === undefined || sequence === undefined || this.#snapshots.has(snapshot)) {
      return store.getSync(key, format, snapshot === undefined ? undefined : held(this.#snapshots, snapshot).state);
    }
    const state = this.#snapshotAt(sequence);
    try {
      return store.getSync(key, format, state);
    } finally {
      state.release();
    }
  }

  propertyNow(name: string): string {
    return this.#database.store.property(name);
  }

  /** Takes the place of a user of the database. */
  replace(user: DatabaseUser): void {
    this.#database.replace(user, this);
    this.#isOpen = true;
  }

  /** Whether the page has walks or snapshots. */
  get holdsStates(): boolean {
    return this.#walks.size > 0 || this.#snapshots.size > 0;
  }

  /** Ends everything that the page has begun, whether the page requested that or has ended. */
  async end(): Promise<void> {
    // Then the requests that wait for it have begun too.
    await this.#opening;
    // They may have been repeated already, in another session.
    this.#waiting = [];
    this.letGo();
    this.#isOpen = false;
    await this.#database.leave(this);
  }

  letGo(): void {
    for (const { state } of this.#walks.values()) state.close();
    this.#walks.clear();
    for (const { state } of this.#snapshots.values()) state.release();
    this.#snapshots.clear();
  }

  /** @param before must have ended first. */
  async #make([id, call, ...values]: Request, before: Promise<unknown> | undefined): Promise<Answer> {
    try {
      if (before !== undefined) await before;
      return [id, 0, await (this.#calls[call] as (...given: unknown[]) => unknown)(...values)];
    } catch (error) {
      return [id, 1, sentErrorOf(error)];
    }
  }

  #send(): void {
    const answers = this.#answers;
    this.#answers = [];
    this.#answer(answers);
    this.#order?.sent(answers);
    if (this.#waiting.length > 0) this.handle([]);
  }

  #makeCalls(): LevelCalls {
    const snapshot = (id: Held | undefined): SequenceSnapshot | undefined => (id === undefined ? undefined : held(this.#snapshots, id).state);
    const readAt = async <T>(id: Held | undefined, read: (state: SequenceSnapshot | undefined) => T | Promise<T>): Promise<T> => {
      if (id === undefined) return read(undefined);
      const begun = held(this.#snapshots, id);
      const result = await read(begun.state);
      await after(begun);
      return result;
    };
    return {
      open: async (options: OpenOptions) => {
        try {
          await this.#database.join(this, options);
          this.#failure = undefined;
        } catch (error) {
          this.#failure = error;
          throw error;
        }
        this.#isOpen = true;
      },
      close: () => this.end(),
      destroy: () => this.#database.destroy(),
      repair: () => this.#database.repair(),
      get: (key, format, at) => readAt(at, (state) => this.#store.get(key, format, state)),
      getMany: (keys, format, at) => readAt(at, (state) => this.#store.getMany(keys, format, state)),
      has: (key, at) => readAt(at, (state) => this.#store.has(key, state)),
      hasMany: (keys, at) => readAt(at, (state) => this.#store.hasMany(keys, state)),
      put: (key, value, sync) => this.#store.put(key, value, sync),
      delete: (key, sync) => this.#store.delete(key, sync),
      write: (operations, sync) => {
        const batch = this.#store.batch();
        for (let i = 0; i < operations.length; i += 2) {
          const value = operations[i + 1];
          if (value === undefined) batch.delete(operations[i]!);
          else batch.put(operations[i]!, value);
        }
        return batch.write(sync);
      },
      clear: (range, at, limit) => this.#store.clear(range, snapshot(at), limit),
      snapshot: (id, given) => {
        const state = given === undefined ? this.#store.snapshot() : this.#snapshotAt(given);
        const sequence = Promise.all([this.#store.written(), state.coming]).then(() => state.sequence);
        this.#snapshots.set(id, { state, sequence });
        return sequence;
      },
      release: (id) => {
        const begun = this.#snapshots.get(id);
        begun?.state.release();
        this.#snapshots.delete(id);
        return after(begun);
      },
      walk: (id, range, form, fillCache, at, given) => {
        const moved = given === undefined ? undefined : this.#snapshotAt(given);
        const from = moved ?? snapshot(at);
        const state = this.#store.walk({ range, form, fillCache, snapshot: from, signal: undefined });
        const sequence = Promise.all([this.#store.written(), from?.coming]).then(([written]) => from?.sequence ?? written);
        this.#walks.set(id, { state, sequence });
        // By then the walk has a state of its own.
        const release = (): void => moved?.release();
        sequence.then(release, release);
        return sequence;
      },
      seek: (id, key) => {
        const begun = held(this.#walks, id);
        begun.state.seek(key);
        return after(begun);
      },
      goOn: (id, position) => held(this.#walks, id).state.goOn(position),
      read: async (id, size, highWaterMark) => {
        const begun = held(this.#walks, id);
        const { state } = begun;
        const items = await state.read(size, highWaterMark);
        const { position } = state;
        await after(begun);
        return [items, position];
      },
      endWalk: (id) => {
        const begun = this.#walks.get(id);
        begun?.state.close();
        this.#walks.delete(id);
        return after(begun);
      },
      approximateSize: (start, end) => this.#store.approximateSize(start, end),
      compactRange: (start, end) => this.#store.compactRange(start, end),
      property: (name) => this.#store.property(name),
    };
  }

  /** The state of a sequence that the page kept in another worker. @throws LevelError `LEVEL_SNAPSHOT_LOST`. */
  #snapshotAt(sequence: bigint): SequenceSnapshot {
    const snapshot = this.#database.snapshotAt(sequence);
    if (snapshot === undefined) throw lost();
    return snapshot;
  }

  get #store(): DatabaseStore {
    if (!this.#isOpen) throw notOpen(this.#failure);
    return this.#database.store;
  }
}

function held<T>(all: ReadonlyMap<Held, T>, id: Held): T {
  const one = all.get(id);
  if (one === undefined) throw lost();
  return one;
}

/** Waits until a walk or snapshot is answered. A page that may have to make it again in another worker must record it before what was done with it. */
async function after(begun: Begun<unknown> | undefined): Promise<void> {
  await begun?.sequence;
}
