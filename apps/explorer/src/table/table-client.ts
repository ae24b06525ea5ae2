import type { CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import { openedIn, WorkerClient } from '../worker/worker-client.js';
import { Task } from '../worker/task.js';
import { TrialRun } from '../trial/trial-run.js';
import type { LogFileFacts } from '../log/log-facts.js';
import { type FileOrigin, nameOfFile } from './file-origin.js';
import type { TableFacts } from './table-facts.js';
import type { TableMethods } from './table-worker.js';

/** A file that is open in its own worker. */
export type FileClient = TableClient | LogClient;

/** Opens a table, log or MANIFEST. */
export function openFile(origin: FileOrigin, options: CallOptions): Promise<FileClient> {
  return openedIn(new Worker(new URL('./table-worker.ts', import.meta.url), { type: 'module' }), async (calls) => {
    const { folder: _, ...sent } = origin.kind === 'file' ? origin : { ...origin, folder: undefined };
    const opened = await calls.remote<TableMethods>(options).open(sent);
    return opened.kind === 'table' ? new TableClient(origin, calls, opened.facts) : new LogClient(origin, calls, opened.facts);
  });
}

class OpenFile extends WorkerClient<FileOrigin, TableMethods> {
  get name(): string {
    return nameOfFile(this.origin);
  }
}

/** A table that is open in its own worker. */
export class TableClient extends OpenFile {
  readonly kind = 'table';
  readonly facts: TableFacts;
  /** Verifies every byte. */
  readonly check = new Task((options) => this.calling(options).check());
  /** Measures the filters of a table that was verified and is sound. */
  readonly rates = new Task((options) => this.calling(options).measureFilters(this.check.state.result!.profile.entries));
  readonly trials: TrialRun;

  constructor(origin: FileOrigin, calls: WorkerCalls, facts: TableFacts) {
    super(origin, calls);
    this.facts = facts;
    this.trials = new TrialRun(calls);
  }
}

/** A log or MANIFEST that is open in its own worker. */
export class LogClient extends OpenFile {
  readonly kind = 'log';
  readonly facts: LogFileFacts;

  constructor(origin: FileOrigin, calls: WorkerCalls, facts: LogFileFacts) {
    super(origin, calls);
    this.facts = facts;
  }
}
