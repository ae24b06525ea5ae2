import { useEffect, useState } from 'preact/hooks';
import { WorkerCalls } from '../worker/worker-calls.js';

let calls: WorkerCalls | undefined;

function rateWorker(): WorkerCalls {
  calls ??= new WorkerCalls(new Worker(new URL('./rate-worker.ts', import.meta.url), { type: 'module' }));
  return calls;
}

const DELAY_MS = 150;

/** An answer of the worker; the last one while the next is computed. */
function useAnswer(method: string, args: readonly number[], wanted: boolean): { readonly answer: number | undefined; readonly isCurrent: boolean } {
  const [state, setState] = useState<{ readonly key: string; readonly answer: number | undefined }>();
  const key = JSON.stringify([method, ...args]);
  useEffect(() => {
    if (!wanted) return;
    let current = true;
    const timer = setTimeout(() => {
      rateWorker()
        .call<number | undefined>(method, args)
        .then((answer) => current && setState({ key, answer }), () => undefined);
    }, DELAY_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key, wanted]);
  return { answer: state?.answer, isCurrent: state?.key === key };
}

/** The rate of LevelDB's own scheme at its full number of keys, out of filters that are made and asked. */
export function useDesignedRate(bitsPerKey: number, keys: number) {
  return useAnswer('rate', [bitsPerKey, keys], true);
}

/** The fewest bits per key that keep to `rate`; an undefined answer that is current: none do. */
export function useBitsForRate(rate: number, keys: number, wanted: boolean) {
  return useAnswer('bitsPerKey', [rate, keys], wanted);
}
