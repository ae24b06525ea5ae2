import { TrialRun } from '../trial/trial-run.js';
import type { Clipped, StoredFilter } from '../table/table-facts.js';
import { type CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import { Task } from '../worker/task.js';
import type { AbsentLookups, DatabaseFacts, DatabasePage, DroppedFacts, EntryRange, LookupTrace, VersionFacts } from './database-facts.js';
import type { FolderOrigin } from './folder-origin.js';

/** A database that is open in its own worker. */
export class DatabaseClient {
  readonly origin: FolderOrigin;
  readonly facts: DatabaseFacts;
  /** Counts the visible entries. */
  readonly count = new Task<number>((options) => this.#calls.call('count', [], options));
  /** Looks up many absent keys. */
  readonly absentLookups = new Task<AbsentLookups>((options) => this.#calls.call('absentLookups', [crypto.getRandomValues(new Uint32Array(1))[0]!], options));
  readonly trials: TrialRun;
  readonly #calls: WorkerCalls;

  private constructor(origin: FolderOrigin, facts: DatabaseFacts, calls: WorkerCalls) {
    this.origin = origin;
    this.facts = facts;
    this.#calls = calls;
    this.trials = new TrialRun(calls);
  }

  static async open(origin: FolderOrigin, options: CallOptions = {}): Promise<DatabaseClient> {
    const calls = new WorkerCalls(new Worker(new URL('./database-worker.ts', import.meta.url), { type: 'module' }));
    try {
      return new DatabaseClient(origin, await calls.call<DatabaseFacts>('open', [origin], options), calls);
    } catch (error) {
      calls.close();
      throw error;
    }
  }

  page(range: EntryRange, limit: number): Promise<DatabasePage> {
    return this.#calls.call('page', [range, limit]);
  }

  value(key: Uint8Array): Promise<Clipped | undefined> {
    return this.#calls.call('value', [key]);
  }

  versions(key: Uint8Array): Promise<readonly VersionFacts[]> {
    return this.#calls.call('versions', [key]);
  }

  dropped(): Promise<readonly DroppedFacts[]> {
    return this.#calls.call('dropped', []);
  }

  trace(key: Uint8Array): Promise<LookupTrace> {
    return this.#calls.call('trace', [key]);
  }

  storedFilter(file: string, number: number): Promise<StoredFilter> {
    return this.#calls.call('storedFilter', [file, number]);
  }

  close(): void {
    this.#calls.close();
  }
}
