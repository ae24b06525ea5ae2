/** @throws RangeError, which names the option, unless `value` is a whole number from `least` on. */
export function mustBeWhole(name: string, value: number, least: number): number {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new RangeError(`${name} must be a whole number, at least ${least}, got ${value}`);
}
