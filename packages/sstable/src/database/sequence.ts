/** Which state of a database to look at. */
export interface SequenceOptions {
  /** What was written with a higher sequence is not seen. Default: the newest. */
  readonly sequence?: bigint | undefined;
}

/** @throws TypeError unless it is a bigint; RangeError for a negative one. Any other is valid: a high one sees everything. */
export function mustBeSequence(sequence: unknown): asserts sequence is bigint {
  if (typeof sequence !== 'bigint') throw new TypeError(`sequence must be a bigint, got ${typeof sequence}`);
  if (sequence < 0n) throw new RangeError(`sequence must be at least 0, got ${sequence}`);
}
