import { shownKey } from '../../format/comparator-error.js';
import type { LawRun } from '../law-run.js';

/** Law 4: keys with different bytes are equal only with a `keyEquivalence`. */
export function declaresEquivalence(run: LawRun): void {
  const { name, keyEquivalence } = run.comparator;
  if (keyEquivalence === undefined) {
    run.overPairs((a, b) => {
      if (a === b || run.order(a, b) !== 0) return undefined;
      return `compare calls ${shownKey(a)} and ${shownKey(b)} equal, and there is no keyEquivalence`;
    });
    return;
  }
  if (typeof keyEquivalence !== 'string' || keyEquivalence === '') run.fail('keyEquivalence must be a string, and not empty');
  const hasEqualKeys = run.pools.some((pool) => pool.some((a) => pool.some((b) => a !== b && run.order(a, b) === 0)));
  if (!hasEqualKeys) {
    run.fail(`keyEquivalence of ${name} is ${JSON.stringify(keyEquivalence)}, and no two keys that were compared are equal: give some that are in the option keys`);
  }
}
