import type { Reply, Request, Work } from './calls.js';
import { CallError } from './failure.js';

/** How to make a call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

/** The methods of a worker as the page calls them: without the {@link Work} that some take first. */
export type Remote<Methods> = {
  readonly [Name in keyof Methods as Methods[Name] extends (...args: never) => unknown ? Name : never]: Methods[Name] extends (...args: infer Args) => infer Result
    ? (...args: Args extends [Work, ...infer Rest] ? Rest : Args) => Promise<Awaited<Result>>
    : never;
};

interface Pending {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly onProgress: CallOptions['onProgress'];
}

/** Sends the page's calls to a worker. */
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

  #call(method: string, args: readonly unknown[], { signal, onProgress }: CallOptions): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress });
      this.#send({ kind: 'call', id, method, args });
      signal?.addEventListener('abort', () => this.#send({ kind: 'cancel', id }), { once: true });
    });
  }

  /** The worker's methods, which are called with these options. They reject with a CallError; its name is `AbortError` when the call was cancelled. */
  remote<Methods>(options: CallOptions = {}): Remote<Methods> {
    const call = (_: unknown, method: string) => (...args: readonly unknown[]): Promise<unknown> => this.#call(method, args, options);
    return new Proxy({}, { get: call }) as Remote<Methods>;
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
    if (reply.kind === 'result') pending.resolve(reply.result);
    else pending.reject(new CallError(reply.failure));
  }
}
