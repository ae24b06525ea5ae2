import type { JSHandle, Page } from 'playwright-core';

interface Answer {
  readonly answer?: unknown;
  readonly failure?: string;
  readonly code?: unknown;
}

interface WorkerLike {
  onmessage: ((event: { readonly data: Answer }) => void) | null;
  onerror: ((event: { readonly message: string }) => void) | null;
  postMessage(message: unknown): void;
  terminate(): void;
}
declare const Worker: new (url: string, options: { readonly type: 'module' }) => WorkerLike;

/** A worker of a page that answers calls: see `answerCalls`. */
export interface PageWorker {
  /** One call at a time. @throws Error with the `code` of the worker's error. */
  call(name: string, ...values: unknown[]): Promise<unknown>;
  terminate(): Promise<void>;
}

export async function startWorker(page: Page, url: string): Promise<PageWorker> {
  const worker: JSHandle<WorkerLike> = await page.evaluateHandle((script) => new Worker(script, { type: 'module' }), url);
  return {
    async call(...call) {
      const { answer, failure, code } = await worker.evaluate(
        (it, message) =>
          new Promise<Answer>((resolve) => {
            it.onmessage = ({ data }) => resolve(data);
            it.onerror = ({ message: failure }) => resolve({ failure });
            it.postMessage(message);
          }),
        call,
      );
      if (failure !== undefined) throw Object.assign(new Error(failure), { code });
      return answer;
    },
    terminate: () => worker.evaluate((it) => it.terminate()),
  };
}
