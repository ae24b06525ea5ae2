/** @throws RangeError, which names the option, unless `value` is a whole number from `least` to `most`. */
export function mustBeWhole(name: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `from ${least} to ${most}`;
  throw new RangeError(`${name} must be a whole number, ${range}, got ${value}`);
}

/** @throws TypeError, which names the argument, unless `value` is a Uint8Array: a string, say, would be stored as zeros. */
export function mustBeBytes(name: string, value: unknown): void {
  if (value instanceof Uint8Array) return;
  // An array of another realm, such as a test runner's sandbox, is as good.
  if (Object.prototype.toString.call(value) === '[object Uint8Array]') return;
  throw new TypeError(`${name} must be a Uint8Array, got ${value === null ? 'null' : typeof value}`);
}
