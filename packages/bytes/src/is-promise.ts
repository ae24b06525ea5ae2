/** Whether a value that a caller's function returned is to be awaited: a promise of any realm, or another object with a `then`. */
export function isPromise<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === 'function';
}
