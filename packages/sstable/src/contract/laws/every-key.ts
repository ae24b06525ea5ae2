import { shownKey } from '../../format/comparator-error.js';
import { type LawRun, shownError } from '../law-run.js';

/** Law 1: `compare` returns a number for any two keys. */
export function orders(run: LawRun): void {
  run.overPairs((a, b) => {
    const keys = `compare(${shownKey(a)}, ${shownKey(b)})`;
    let result: unknown;
    try {
      result = run.comparator.compare(a.slice(), b.slice());
    } catch (error) {
      return `${keys} throws ${shownError(error)}. If it is never called with such keys, give the option isKey`;
    }
    if (typeof result === 'number' && !Number.isNaN(result)) return undefined;
    return `${keys} returns ${typeof result === 'number' ? 'NaN' : `a value of type ${typeof result}`}, and must return a number`;
  });
}
