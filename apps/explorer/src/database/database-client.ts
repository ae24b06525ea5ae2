import type { Clipped } from '../table/table-facts.js';
import { type CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import type {
  AbsentLookups,
  DatabaseFacts,
  DatabasePage,
  DroppedFacts,
  EntryRange,
  FolderOrigin,
  LookupTrace,
  OpenedFolder,
  VersionFacts,
} from './database-facts.js';

/** A database that is open in a worker of its own. */
export class DatabaseClient {
  readonly origin: FolderOrigin;
  readonly facts: DatabaseFacts;
  readonly #calls: WorkerCalls;

  private constructor(origin: FolderOrigin, facts: DatabaseFacts, calls: WorkerCalls) {
    this.origin = origin;
    this.facts = facts;
    this.#calls = calls;
  }

  /** @returns the database, or why it cannot be opened. */
  static async open(origin: FolderOrigin, insistOnBytewise: boolean, options: CallOptions = {}): Promise<DatabaseClient | Extract<OpenedFolder, { ok: false }>> {
    const calls = new WorkerCalls(new Worker(new URL('./database-worker.ts', import.meta.url), { type: 'module' }));
    try {
      const opened = await calls.call<OpenedFolder>('open', [origin, insistOnBytewise], options);
      if (opened.ok) return new DatabaseClient(origin, opened.facts, calls);
      calls.close();
      return opened;
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

  count(options: CallOptions): Promise<number> {
    return this.#calls.call('count', [], options);
  }

  dropped(): Promise<readonly DroppedFacts[]> {
    return this.#calls.call('dropped', []);
  }

  trace(key: Uint8Array): Promise<LookupTrace> {
    return this.#calls.call('trace', [key]);
  }

  absentLookups(options: CallOptions): Promise<AbsentLookups> {
    return this.#calls.call('absentLookups', [], options);
  }

  close(): void {
    this.#calls.close();
  }
}
