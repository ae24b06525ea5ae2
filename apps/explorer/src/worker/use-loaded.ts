import { useEffect, useState } from 'preact/hooks';
import { CallError, type FailureFacts, failureFacts } from './failure.js';

/** A value, or the reason why it could not be loaded; neither while it is loaded. */
interface Loaded<T> {
  readonly value?: T;
  readonly failure?: FailureFacts;
}

const LOADING: Loaded<never> = {};

/** Loads a value, and another one when one of the `inputs` changes. @param load returns undefined if nothing is to be loaded. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T> | undefined, inputs: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>(LOADING);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setLoaded(LOADING);
    load(signal)?.then(
      (value) => signal.aborted || setLoaded({ value }),
      (error: unknown) => signal.aborted || (error instanceof CallError && error.isCancelled) || setLoaded({ failure: failureFacts(error) }),
    );
    return () => controller.abort();
  }, inputs);
  return loaded;
}
