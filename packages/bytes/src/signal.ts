/** What is needed of an `AbortSignal`, for hosts whose types are not known. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The host's `AbortSignal` where its types are loaded (lib DOM, @types/node), else {@link AbortSignalLike}: so the
 * packages type-check with neither, and a signal fits into a `fetch` with either.
 */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer HostSignal } } ? HostSignal : AbortSignalLike;

/** What is needed of an `AbortController`. */
export interface SignalController {
  readonly signal: Signal;
  abort(reason?: unknown): void;
}
