import { numberOf } from '@bloom/bytes/internal';

/**
 * Checks the range of a key. Hashing checks it too, but a policy answers for a malformed filter without hashing the key.
 *
 * @throws RangeError unless `start` and `end` are in order and within `bytes`.
 */
export function mustBeKeyRange(bytes: Uint8Array, start: number, end: number): void {
  if (start >= 0 && start <= end && end <= bytes.length) return;
  throw new RangeError(`keyStart and keyEnd must be in order and within the ${numberOf(bytes.length, 'byte')}, got ${start} and ${end}`);
}
