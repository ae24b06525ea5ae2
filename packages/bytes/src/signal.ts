/** The members of an `AbortSignal` that the packages need, for programs that do not load its types. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  readonly reason: unknown;
  throwIfAborted(): void;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/**
 * The host's `AbortSignal` where its types are loaded (lib DOM, @types/node), otherwise {@link AbortSignalLike}. The
 * packages therefore type-check without those types, and with them a signal can be passed on to `fetch`.
 */
export type Signal = typeof globalThis extends { AbortSignal: { prototype: infer HostSignal } } ? HostSignal : AbortSignalLike;

/** The members of an `AbortController` that the packages need. */
export interface SignalController {
  readonly signal: Signal;
  /** Aborts the signal, with a reason if one is given. */
  abort(reason?: unknown): void;
}

/** For signals without the method, as in Jest 29's jsdom environment. @throws the signal's reason if it is aborted. */
export function throwIfAborted(signal: Signal | undefined): void {
  if (signal?.aborted === true) throw signal.reason;
}
