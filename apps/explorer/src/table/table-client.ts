import type { FilterTrial } from '@bloom/report';
import { type CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import { Task } from '../worker/task.js';
import { TrialRun } from '../trial/trial-run.js';
import { LogClient } from '../log/log-client.js';
import type { FileFacts } from './file-facts.js';
import { type FileOrigin, nameOfFile } from './file-origin.js';
import type { BlockFacts, CheckFacts, EntryRow, FilterBlockFacts, FilterRow, StoredFilter, TableFacts } from './table-facts.js';

/** A file that is open in a worker of its own. */
export type FileClient = TableClient | LogClient;

/** Opens a table, log or MANIFEST. */
export async function openFile(origin: FileOrigin, options: CallOptions = {}): Promise<FileClient> {
  const calls = new WorkerCalls(new Worker(new URL('./table-worker.ts', import.meta.url), { type: 'module' }));
  try {
    const { folder: _, ...sent } = origin.kind === 'file' ? origin : { ...origin, folder: undefined };
    const opened = await calls.call<FileFacts>('open', [sent], options);
    return opened.kind === 'table' ? new TableClient(origin, opened.facts, calls) : new LogClient(origin, opened.facts, calls);
  } catch (error) {
    calls.close();
    throw error;
  }
}

/** A table that is open in a worker of its own. */
export class TableClient {
  readonly kind = 'table';
  readonly origin: FileOrigin;
  readonly facts: TableFacts;
  /** Checks every byte. */
  readonly check = new Task<CheckFacts>((options) => this.#calls.call('check', [], options));
  /** Measures the filters of a table that was checked and is sound. */
  readonly rates = new Task<FilterTrial>((options) => this.#calls.call('measureFilters', [this.check.state.result!.profile.entries], options));
  readonly trials: TrialRun;
  readonly #calls: WorkerCalls;

  constructor(origin: FileOrigin, facts: TableFacts, calls: WorkerCalls) {
    this.origin = origin;
    this.facts = facts;
    this.#calls = calls;
    this.trials = new TrialRun(calls);
  }

  get name(): string {
    return nameOfFile(this.origin);
  }

  block(number: number): Promise<BlockFacts> {
    return this.#calls.call('block', [number]);
  }

  entries(block: number, start: number, end: number): Promise<readonly EntryRow[]> {
    return this.#calls.call('entries', [block, start, end, false]);
  }

  /** One entry, with more of its key and value than a list has. */
  async entry(block: number, number: number): Promise<EntryRow | undefined> {
    return (await this.#calls.call<readonly EntryRow[]>('entries', [block, number, number + 1, true]))[0];
  }

  filterBlock(block: number): Promise<FilterBlockFacts> {
    return this.#calls.call('filterBlock', [block]);
  }

  filters(block: number, start: number, end: number): Promise<readonly FilterRow[]> {
    return this.#calls.call('filters', [block, start, end]);
  }

  bytes(offset: number, length: number): Promise<Uint8Array> {
    return this.#calls.call('bytes', [offset, length]);
  }

  storedFilter(number: number): Promise<StoredFilter> {
    return this.#calls.call('storedFilter', [number]);
  }

  close(): void {
    this.#calls.close();
  }
}
