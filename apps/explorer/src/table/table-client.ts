import { type CallOptions, type Remote, WorkerCalls } from '../worker/worker-calls.js';
import { Task } from '../worker/task.js';
import { TrialRun } from '../trial/trial-run.js';
import type { LogFileFacts } from '../log/log-facts.js';
import type { FileFacts } from './file-facts.js';
import { type FileOrigin, nameOfFile } from './file-origin.js';
import type { TableFacts } from './table-facts.js';
import type { TableMethods } from './table-worker.js';

/** A file that is open in its own worker. */
export type FileClient = TableClient | LogClient;

/** Opens a table, log or MANIFEST. */
export async function openFile(origin: FileOrigin, options: CallOptions = {}): Promise<FileClient> {
  const calls = new WorkerCalls(new Worker(new URL('./table-worker.ts', import.meta.url), { type: 'module' }));
  try {
    const { folder: _, ...sent } = origin.kind === 'file' ? origin : { ...origin, folder: undefined };
    const opened: FileFacts = await calls.remote<TableMethods>(options).open(sent);
    return opened.kind === 'table' ? new TableClient(origin, calls, opened.facts) : new LogClient(origin, calls, opened.facts);
  } catch (error) {
    calls.close();
    throw error;
  }
}

class OpenFile {
  /** The file's worker. */
  readonly worker: Remote<TableMethods>;

  constructor(
    readonly origin: FileOrigin,
    private readonly calls: WorkerCalls,
  ) {
    this.worker = calls.remote<TableMethods>();
  }

  get name(): string {
    return nameOfFile(this.origin);
  }

  close(): void {
    this.calls.close();
  }
}

/** A table that is open in its own worker. */
export class TableClient extends OpenFile {
  readonly kind = 'table';
  readonly facts: TableFacts;
  /** Verifies every byte. */
  readonly check;
  /** Measures the filters of a table that was verified and is sound. */
  readonly rates;
  readonly trials: TrialRun;

  constructor(origin: FileOrigin, calls: WorkerCalls, facts: TableFacts) {
    super(origin, calls);
    this.facts = facts;
    const check = (this.check = new Task((options) => calls.remote<TableMethods>(options).check()));
    this.rates = new Task((options) => calls.remote<TableMethods>(options).measureFilters(check.state.result!.profile.entries));
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
