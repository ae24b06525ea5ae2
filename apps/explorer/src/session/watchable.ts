import { useLayoutEffect, useReducer } from 'preact/hooks';

/** Something whose changes components follow. */
export class Watchable {
  readonly #listeners = new Set<() => void>();

  /** @returns a function that ends the subscription. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  protected changed(): void {
    for (const listener of this.#listeners) listener();
  }
}

/** Redraws the component when `watched` changes. */
export function useChanges(watched: Watchable): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useLayoutEffect(() => watched.subscribe(() => redraw(undefined)), [watched]);
}
