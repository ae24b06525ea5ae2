import { type CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import type { BlockFacts, CheckFacts, EntryRow, FileOrigin, FilterBlockFacts, FilterRow, TableFacts } from './table-facts.js';

/** A table that is open in a worker of its own. */
export class TableClient {
  readonly origin: FileOrigin;
  readonly facts: TableFacts;
  readonly #calls: WorkerCalls;

  private constructor(origin: FileOrigin, facts: TableFacts, calls: WorkerCalls) {
    this.origin = origin;
    this.facts = facts;
    this.#calls = calls;
  }

  static async open(origin: FileOrigin, options: CallOptions = {}): Promise<TableClient> {
    const calls = new WorkerCalls(new Worker(new URL('./table-worker.ts', import.meta.url), { type: 'module' }));
    try {
      return new TableClient(origin, await calls.call<TableFacts>('open', [origin], options), calls);
    } catch (error) {
      calls.close();
      throw error;
    }
  }

  get name(): string {
    return this.origin.kind === 'file' ? this.origin.file.name : this.origin.name;
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

  check(options: CallOptions): Promise<CheckFacts> {
    return this.#calls.call('check', [], options);
  }

  close(): void {
    this.#calls.close();
  }
}
