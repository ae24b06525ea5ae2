/** A worker that answers one call after another. */

interface WorkerScope {
  onmessage: ((event: { readonly data: readonly [call: string, ...values: unknown[]] }) => void) | null;
  postMessage(message: unknown): void;
}

/** In a worker: answers calls by name. */
export function answerCalls(calls: Readonly<Record<string, (...values: never[]) => unknown>>): void {
  const scope = globalThis as unknown as WorkerScope;
  const answer = async (call: string, values: never[]): Promise<unknown> => {
    try {
      return { answer: await calls[call]!(...values) };
    } catch (error) {
      return { failure: error instanceof Error ? `${error.name}: ${error.message}\n${error.stack}` : String(error), code: (error as { code?: unknown }).code };
    }
  };
  scope.onmessage = ({ data: [call, ...values] }) => void answer(call, values as never[]).then((message) => scope.postMessage(message));
}
