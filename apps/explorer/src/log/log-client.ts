import { type FileOrigin, nameOfFile } from '../table/file-origin.js';
import type { WorkerCalls } from '../worker/worker-calls.js';
import type { LogFileFacts, RecordLayout, RecordRow } from './log-facts.js';

/** A log or MANIFEST that is open in a worker of its own. */
export class LogClient {
  readonly kind = 'log';
  readonly origin: FileOrigin;
  readonly facts: LogFileFacts;
  readonly #calls: WorkerCalls;

  constructor(origin: FileOrigin, facts: LogFileFacts, calls: WorkerCalls) {
    this.origin = origin;
    this.facts = facts;
    this.#calls = calls;
  }

  get name(): string {
    return nameOfFile(this.origin);
  }

  records(start: number, end: number): Promise<readonly RecordRow[]> {
    return this.#calls.call('records', [start, end]);
  }

  layout(record: number): Promise<RecordLayout> {
    return this.#calls.call('layout', [record]);
  }

  close(): void {
    this.#calls.close();
  }
}
