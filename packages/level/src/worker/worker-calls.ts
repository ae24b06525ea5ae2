import type { HostFormats } from '../host-formats.js';
import { LevelError } from '../level-error.js';
import type { OpenOptions } from '../level-options.js';
import type { LevelStore } from '../level-store.js';
import { browser, type MessagePortLike, type WorkerLike } from './browser-parts.js';
import { type Answer, lockOfClient, type Request } from './level-messages.js';
import { PendingCalls } from './pending-calls.js';
import { sentOptions } from './sent-options.js';
import { WorkerStore } from './worker-store.js';

/** The calls to a worker. */
export class WorkerCalls extends PendingCalls {
  readonly #worker: WorkerLike;
  readonly #port: MessagePortLike;
  /** Ends the wait for the end of the worker. */
  readonly #ending = new AbortController();

  /** @param start starts the worker, which calls `serveLevels`. */
  constructor(path: string, start: () => WorkerLike) {
    super();
    const { port1, port2 } = new browser.MessageChannel();
    this.#port = port1;
    const client = browser.crypto.randomUUID();
    port1.onmessage = ({ data }) => {
      const answers = data as Answer[];
      if (answers.length === 0) this.#awaitEnd(client);
      else this.settle(answers);
    };
    this.#worker = start();
    this.#worker.addEventListener('error', (event) => this.fail(`the worker of the level failed, or could not be started: ${event.message ?? 'see the option worker'}`));
    this.#worker.postMessage({ path, client }, [port2]);
  }

  override fail(problem: string): void {
    super.fail(problem);
    this.#port.close();
    this.#ending.abort();
  }

  getNow(): never {
    throw notHere('getSync()');
  }

  propertyNow(): never {
    throw notHere('getProperty()');
  }

  protected send(requests: readonly Request[]): void {
    this.#port.postMessage(requests);
  }

  /** Fails when the worker has ended. Browsers show that only by its lock. */
  #awaitEnd(client: string): void {
    const ended = (): undefined => {
      this.fail('the worker of the level was ended');
    };
    browser.navigator.locks.request(lockOfClient(client), { signal: this.#ending.signal }, ended).catch(() => undefined);
  }
}

function notHere(call: string): LevelError {
  return new LevelError('LEVEL_NOT_SUPPORTED', `Database is open in a worker: it does not support ${call}`);
}

/** Opens the database of a path in a worker. */
export async function openInWorker(path: string, start: () => WorkerLike, options: OpenOptions, formats: HostFormats): Promise<LevelStore> {
  const sent = sentOptions(options);
  const calls = new WorkerCalls(path, start);
  try {
    await calls.call('open', sent);
  } catch (error) {
    calls.tell('close');
    throw error;
  }
  return new WorkerStore(calls, { formats: new Set(['buffer']), make: (bytes) => formats.bufferOf(bytes, 0, bytes.length) });
}
