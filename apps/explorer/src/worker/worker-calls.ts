import type { Reply, Request } from './calls.js';
import { CallError } from './failure.js';

/** How to make a call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: CallOptions['onProgress'];
}

/** The page's end of the calls to a worker. */
export class WorkerCalls {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #nextId = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#take(data);
    worker.onerror = (event) => {
      const error = new CallError({ name: 'WorkerError', message: event.message || 'the worker could not be started' });
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    };
  }

  /** @throws CallError with what the worker's method threw; its name is `AbortError` when the call was cancelled. */
  call<T>(method: string, args: readonly unknown[], { signal, onProgress }: CallOptions = {}): Promise<T> {
    const id = this.#nextId++;
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
      this.#send({ kind: 'call', id, method, args });
      signal?.addEventListener('abort', () => this.#send({ kind: 'cancel', id }), { once: true });
    });
  }

  /** Ends the worker, and every call with it. */
  close(): void {
    this.#worker.terminate();
    for (const { reject } of this.#pending.values()) reject(new CallError({ name: 'AbortError', message: 'the worker was closed' }));
    this.#pending.clear();
  }

  #send(request: Request): void {
    this.#worker.postMessage(request);
  }

  #take(reply: Reply): void {
    const pending = this.#pending.get(reply.id);
    if (pending === undefined) return;
    if (reply.kind === 'progress') {
      pending.onProgress?.(reply.done, reply.total);
      return;
    }
    this.#pending.delete(reply.id);
    if (reply.kind === 'result') pending.resolve(reply.result as never);
    else pending.reject(new CallError(reply.failure));
  }
}
