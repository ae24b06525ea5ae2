import { TrialRun } from '../trial/trial-run.js';
import type { CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import { openedIn, WorkerClient } from '../worker/worker-client.js';
import { Task } from '../worker/task.js';
import type { DatabaseFacts } from './database-facts.js';
import type { DatabaseMethods } from './database-worker.js';
import type { FolderOrigin } from './folder-origin.js';

/** A database that is open in its own worker. */
export class DatabaseClient extends WorkerClient<FolderOrigin, DatabaseMethods> {
  readonly facts: DatabaseFacts;
  /** Counts the visible entries. */
  readonly count = new Task((options) => this.calling(options).count());
  /** Looks up many absent keys. */
  readonly absentLookups = new Task((options) => this.calling(options).absentLookups(crypto.getRandomValues(new Uint32Array(1))[0]!));
  readonly trials: TrialRun;

  private constructor(origin: FolderOrigin, calls: WorkerCalls, facts: DatabaseFacts) {
    super(origin, calls);
    this.facts = facts;
    this.trials = new TrialRun(calls);
  }

  static open(origin: FolderOrigin, options: CallOptions): Promise<DatabaseClient> {
    const worker = new Worker(new URL('./database-worker.ts', import.meta.url), { type: 'module' });
    return openedIn(worker, async (calls) => new DatabaseClient(origin, calls, await calls.remote<DatabaseMethods>(options).open(origin)));
  }
}
