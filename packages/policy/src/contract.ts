/**
 * The laws of `policy.ts`, as checks that any test runner can run.
 *
 * Each law tries the policy on keys and filters that lie at odd offsets of shared buffers, in arrays that are reused
 * with other bytes; on lists of up to 300,007 keys and of up to 17 MiB. A law has a budget of processor time, and fails
 * when the budget is used up. The search for a smaller example ends after a second, and the message says so.
 *
 * In Node, a call that does not return is interrupted, and the law fails. Other hosts cannot interrupt it: there, run
 * the laws in a worker and terminate it after a while. No host can stop a policy that allocates all memory at once.
 *
 * The laws cannot see these faults, which do not show within one process and one day:
 *
 * - a salt or hash that differs between processes, machines, dates or byte orders;
 * - a "no" for a filter that the policy does not understand, instead of "maybe": "no" would be right for a filter of other keys;
 * - a fault of filters of more than 300,007 keys, or of 17 MiB, such as a field that is too narrow for their measures;
 * - answers from memory that agree with the filter's bytes, such as a cache whose key is the whole filter;
 * - what happens after a call has returned, such as a timer that writes to a filter;
 * - a fault that only one key or filter in billions shows, or that needs more than 70,000 filters.
 *
 * @example
 * ```ts
 * import { policyLaws } from '@bloom/policy/contract';
 * import { test } from 'vitest'; // or node:test, or jest's and mocha's own
 * for (const law of policyLaws(() => new MyPolicy())) test(law.name, law.run);
 * ```
 */
import { mustBeFunction, mustBeOptions, shownValue } from '@bloom/bytes/internal';
import { LawRun } from './contract/law-run.js';
import { appendsOnly } from './contract/laws/appends-only.js';
import { changesNothing } from './contract/laws/changes-nothing.js';
import { rateIsAtMost } from './contract/laws/false-positive-rate.js';
import { keepsNothing } from './contract/laws/keeps-nothing.js';
import { manyKeysAsOne } from './contract/laws/many-keys.js';
import { neighbourRateIsAtMost } from './contract/laws/neighbour-rate.js';
import { neverThrows } from './contract/laws/never-throws.js';
import { noFalseNegatives } from './contract/laws/no-false-negatives.js';
import { oneName } from './contract/laws/one-name.js';
import { oneToTheFilter } from './contract/laws/one-to-the-filter.js';
import { prefixesHold } from './contract/laws/prefixes.js';
import { returnsInTime } from './contract/laws/returns-in-time.js';
import { sameAnswer } from './contract/laws/same-answer.js';
import { sameFilter } from './contract/laws/same-filter.js';
import { POLICY_LAWS_OPTIONS, type PolicyLawsOptions } from './contract/options.js';
import { type FilterPolicy, mustBeFilterPolicy } from './policy.js';

export type { KnownFilter, PolicyComparator, PolicyLawsOptions } from './contract/options.js';
export { PolicyLawError } from './contract/policy-law-error.js';

/** One law, ready to be a test. */
export interface PolicyLaw {
  /** The law's number in `policy.ts`, and what it demands. */
  readonly name: string;
  /** @throws {@link PolicyLawError} when the policy breaks the law. Takes no argument and needs no `this`. */
  readonly run: () => void;
}

const BUDGET_MS = 10_000;

/**
 * The laws of `policy.ts` for the policies that `makePolicy` makes.
 *
 * @param makePolicy makes a new instance at each call.
 * @throws TypeError when `makePolicy` is not a function that returns a policy, for example a policy or a class.
 * @throws RangeError when `maxFalsePositiveRate` or `maxNeighbourRate` is not from 0 to 1, or `budgetMs` is not above 0.
 */
export function policyLaws(makePolicy: () => FilterPolicy, options: PolicyLawsOptions = {}): PolicyLaw[] {
  mustBeOptions('policyLaws', options, POLICY_LAWS_OPTIONS);
  const { tunedOtherwise = [], lendBuffers = false, maxFalsePositiveRate, maxNeighbourRate, seed = 1, budgetMs = BUDGET_MS } = options;
  for (const [name, rate] of Object.entries({ maxFalsePositiveRate, maxNeighbourRate })) {
    if (rate !== undefined && !(rate >= 0 && rate <= 1)) throw new RangeError(`${name} must be from 0 to 1, got ${shownValue(rate)}`);
  }
  if (!(budgetMs > 0)) throw new RangeError(`budgetMs must be above 0, got ${shownValue(budgetMs)}`);
  mustBeFunction('makePolicy', makePolicy);
  for (const make of [makePolicy, ...tunedOtherwise]) mustMakePolicies(make);
  const laws: [name: string, law: (run: LawRun) => void][] = [
    ['1. no false negatives: a key that was added matches, however often it was added', noFalseNegatives(makePolicy)],
    ['2. keyMayMatch never throws, and returns true or false, whatever bytes the filter holds', neverThrows(makePolicy)],
    ['3. same keys, same filter, from every instance and after any other calls', sameFilter(makePolicy)],
    ['4. same question, same answer, from the key and the filter alone', sameAnswer(makePolicy, lendBuffers)],
    ['5. it changes nothing that it was lent', changesNothing(makePolicy, lendBuffers)],
    ['6. it keeps nothing that it was lent', keepsNothing(makePolicy)],
    ['7. it only appends, and at least one byte when there is at least one key', appendsOnly(makePolicy)],
    ['8. one name for one format: the same for any tuning, and never the name of another format', oneName(makePolicy, options)],
    ['9. keys that the comparator calls equal are equal to the filter', oneToTheFilter(makePolicy, options)],
    ['10. every call returns, in time about proportional to its input', returnsInTime(makePolicy)],
    ['11. a prefix is what it claims to be, and matches the filters of all keys that have it', prefixesHold(makePolicy, options)],
    ['12. many keys at once get the answers of each', manyKeysAsOne(makePolicy, lendBuffers)],
  ];
  if (maxFalsePositiveRate !== undefined) {
    laws.push([`at most ${maxFalsePositiveRate * 100}% of absent keys match`, rateIsAtMost(makePolicy, maxFalsePositiveRate)]);
  }
  if (maxNeighbourRate !== undefined) {
    laws.push([`at most ${maxNeighbourRate * 100}% of the absent numbers between stored numbers match`, neighbourRateIsAtMost(makePolicy, maxNeighbourRate)]);
  }
  return laws.map(([name, law], i) => ({
    name,
    run: () => {
      law(new LawRun(name, i + 1, seed, budgetMs));
    },
  }));
}

/** Leaves the name to the law about names. */
function mustMakePolicies(make: () => FilterPolicy): void {
  const policy: unknown = make();
  const { createFilter, keyMayMatch } = Object(policy) as Partial<FilterPolicy>;
  if (typeof policy === 'object' && typeof createFilter === 'function' && typeof keyMayMatch === 'function') return;
  mustBeFilterPolicy('the value that makePolicy returns', policy);
}
