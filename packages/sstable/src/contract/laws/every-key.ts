import { shownKey } from '../../format/comparator-error.js';
import { type LawRun, shownError } from '../law-run.js';

/** Law 1: `compare` returns a number for any two keys. */
export function orders(run: LawRun): void {
  run.overPairs((a, b) => {
    let result: unknown;
    try {
      result = run.comparator.compare(a.slice(), b.slice());
    } catch (error) {
      return `${call(a, b)} throws ${shownError(error)}. If it is never called with such keys, give the option isKey`;
    }
    if (typeof result === 'number' && !Number.isNaN(result)) return undefined;
    return `${call(a, b)} returns ${typeof result === 'number' ? 'NaN' : `a value of type ${typeof result}`}, and must return a number`;
  });
}

function call(a: Uint8Array, b: Uint8Array): string {
  return `compare(${shownKey(a)}, ${shownKey(b)})`;
}
