import type { Reply, Request, Work } from './calls.js';
import { failureFacts } from './failure.js';

/** The part of a worker's global scope that is used, because TypeScript has types for pages or for workers, not for both. */
interface WorkerScope {
  onmessage: ((event: MessageEvent<Request>) => void) | null;
  postMessage(message: Reply): void;
}

type Methods = Readonly<Record<string, (work: Work, ...args: never[]) => unknown>>;

/** Answers calls from the page with `methods`. */
export function serveCalls(methods: Methods): void {
  answerCalls((work, method, args) => methods[method]!(work, ...(args as never[])));
}

/** Answers calls from the page with the methods of an object, which receive only the page's arguments. */
export function serveMethods(object: object): void {
  answerCalls((_, method, args) => (object as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>)[method]!(...args));
}

function answerCalls(call: (work: Work, method: string, args: readonly unknown[]) => unknown): void {
  const scope = globalThis as unknown as WorkerScope;
  const running = new Map<number, AbortController>();
  scope.onmessage = ({ data }) => {
    if (data.kind === 'cancel') running.get(data.id)?.abort();
    else void answer(data.id, data.method, data.args);
  };

  async function answer(id: number, method: string, args: readonly unknown[]): Promise<void> {
    const controller = new AbortController();
    running.set(id, controller);
    let lastProgress = 0;
    const work: Work = {
      signal: controller.signal,
      progress(done, total) {
        // The page is drawn at most sixty times a second.
        const now = performance.now();
        if (now - lastProgress < 50) return;
        lastProgress = now;
        scope.postMessage({ kind: 'progress', id, done, total });
      },
    };
    try {
      const result: unknown = await call(work, method, args);
      scope.postMessage({ kind: 'result', id, result });
    } catch (error) {
      scope.postMessage({ kind: 'failure', id, failure: failureFacts(error) });
    } finally {
      running.delete(id);
    }
  }
}

/** Milliseconds of work after which messages are handled. */
const WORK_MS = 30;

/**
 * Lets the worker handle messages, such as cancellations, during long computations: when the returned function is called after 30 ms
 * of work, it waits for messages. Each wait takes 4 ms in browsers.
 */
export function breather(): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < WORK_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    last = performance.now();
  };
}
