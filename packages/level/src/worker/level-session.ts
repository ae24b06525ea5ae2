import { LevelError, notOpen } from '../level-error.js';
import type { OpenOptions } from '../level-options.js';
import type { DatabaseStore, DatabaseWalk, SequenceSnapshot } from '../database-store.js';
import type { Stored, StoredFormat } from '../stored-format.js';
import type { Answer, Held, LevelCalls, Request } from './level-messages.js';
import { sentErrorOf } from './sent-error.js';
import type { DatabaseUser, SharedDatabase } from './shared-database.js';

// Taken at load: test suites replace the host's functions with fake ones.
const onMicrotask = queueMicrotask;

/** The work for one page on the database of a path, in the worker that has it open. */
export class LevelSession implements DatabaseUser {
  readonly #database: SharedDatabase;
  readonly #answer: (answers: Answer[]) => void;
  readonly #walks = new Map<Held, DatabaseWalk>();
  readonly #snapshots = new Map<Held, SequenceSnapshot>();
  readonly #calls: LevelCalls;
  readonly #underWay = new Set<Promise<unknown>>();
  /** Set while the database is being opened: requests wait for it. */
  #opening: Promise<unknown> | undefined;
  #isOpen = false;
  /** The reason why the database could not be opened the last time, in this worker, which may be a further one. */
  #failure: unknown;
  #answers: Answer[] = [];

  /** @param answer sends answers to the page. */
  constructor(database: SharedDatabase, answer: (answers: Answer[]) => void) {
    this.#database = database;
    this.#answer = answer;
    this.#calls = this.#makeCalls();
  }

  handle(requests: readonly Request[]): void {
    for (const request of requests) {
      const call = this.#make(request, request[1] === 'close' ? Promise.all([...this.#underWay]) : this.#opening);
      if (request[1] === 'open') {
        this.#opening = call.then(() => {
          this.#opening = undefined;
        });
      }
      this.#underWay.add(call);
      void call.then((answer) => {
        this.#underWay.delete(call);
        if (this.#answers.length === 0) onMicrotask(() => this.#send());
        this.#answers.push(answer);
      });
    }
  }

  /** Answers the request `get` synchronously. */
  getNow(key: Stored, format: StoredFormat, snapshot: Held | undefined): Stored | undefined {
    return this.#store.getSync(key, format, snapshot === undefined ? undefined : held(this.#snapshots, snapshot));
  }

  propertyNow(name: string): string {
    return this.#store.property(name);
  }

  /** Ends everything that the page has begun, whether the page requested that or has ended. */
  async end(): Promise<void> {
    this.letGo();
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#database.leave(this);
  }

  letGo(): void {
    for (const walk of this.#walks.values()) walk.close();
    this.#walks.clear();
    for (const snapshot of this.#snapshots.values()) snapshot.release();
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
  }

  #makeCalls(): LevelCalls {
    const snapshot = (id: Held | undefined): SequenceSnapshot | undefined => (id === undefined ? undefined : held(this.#snapshots, id));
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
      get: async (key, format, at) => this.#store.get(key, format, snapshot(at)),
      getMany: (keys, format, at) => this.#store.getMany(keys, format, snapshot(at)),
      has: (key, at) => this.#store.has(key, snapshot(at)),
      hasMany: (keys, at) => this.#store.hasMany(keys, snapshot(at)),
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
      snapshot: (id, sequence) => {
        const taken = sequence === undefined ? this.#store.snapshot() : this.#snapshotAt(sequence);
        this.#snapshots.set(id, taken);
        return taken.sequence;
      },
      release: (id) => {
        this.#snapshots.get(id)?.release();
        this.#snapshots.delete(id);
      },
      walk: (id, range, form, fillCache, at, sequence) => {
        const begin = (taken: SequenceSnapshot | undefined): void => {
          this.#walks.set(id, this.#store.walk({ range, form, fillCache, snapshot: taken, signal: undefined }));
        };
        if (sequence !== undefined) {
          const taken = this.#snapshotAt(sequence);
          begin(taken);
          // A walk keeps its state.
          taken.release();
          return sequence;
        }
        const taken = snapshot(at);
        begin(taken);
        return taken?.sequence ?? this.#store.lastSequence;
      },
      seek: (id, key) => held(this.#walks, id).seek(key),
      goOn: (id, position) => held(this.#walks, id).goOn(position),
      read: async (id, size, highWaterMark) => {
        const walk = held(this.#walks, id);
        return [await walk.read(size, highWaterMark), walk.position];
      },
      endWalk: (id) => {
        this.#walks.get(id)?.close();
        this.#walks.delete(id);
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

function lost(): LevelError {
  const problem = 'the database was opened again, because the page or thread that had it open ended or its storage was full, and this iterator or snapshot ended: begin it again';
  return new LevelError('LEVEL_SNAPSHOT_LOST', problem);
}
