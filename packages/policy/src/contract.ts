/**
 * The laws of `policy.ts`, as checks that any test runner can run.
 *
 * Each law tries the policy on keys and filters that lie at odd offsets of shared buffers, come back with other bytes
 * in the same arrays, number up to 200,003 and have up to 17 MiB together. It has a budget of processor time, and fails
 * when that is over; looking for a smaller example ends after a second, and the message says so.
 *
 * In Node a call that does not return is interrupted, and the law fails. Other hosts cannot do that: there, run the laws
 * in a worker that is terminated after a while. Nowhere can they stop a policy that takes all memory at once.
 *
 * What the laws cannot see, because it does not show within one process and one day:
 *
 * - a salt or hash that differs between processes, machines or dates, or in byte order;
 * - answers out of memory that agree with the filter's bytes, as from a cache by the filter's whole contents;
 * - what happens after a call has returned, such as a timer that writes to a part;
 * - a fault that needs one certain key or filter among billions, or more than 70,000 filters to show.
 *
 * @example
 * ```ts
 * import { policyLaws } from '@bloom/policy/contract';
 * import { test } from 'vitest'; // or node:test, or jest's and mocha's own
 * for (const law of policyLaws(() => new MyPolicy())) test(law.name, law.run);
 * ```
 */
import { LawRun } from './contract/law-run.js';
import { appendsOnly } from './contract/laws/appends-only.js';
import { changesNothing } from './contract/laws/changes-nothing.js';
import { rateIsAtMost } from './contract/laws/false-positive-rate.js';
import { keepsNothing } from './contract/laws/keeps-nothing.js';
import { neverThrows } from './contract/laws/never-throws.js';
import { noFalseNegatives } from './contract/laws/no-false-negatives.js';
import { oneName } from './contract/laws/one-name.js';
import { oneToTheFilter } from './contract/laws/one-to-the-filter.js';
import { returnsInTime } from './contract/laws/returns-in-time.js';
import { sameAnswer } from './contract/laws/same-answer.js';
import { sameFilter } from './contract/laws/same-filter.js';
import type { PolicyLawsOptions } from './contract/options.js';
import { type FilterPolicy, mustBeFilterPolicy } from './policy.js';

export type { KeyOrder, KnownFilter, PolicyLawsOptions } from './contract/options.js';
export { PolicyLawError } from './contract/policy-law-error.js';

/** One law, ready to be a test. */
export interface PolicyLaw {
  /** Its number in `policy.ts`, and what it claims. */
  readonly name: string;
  /** @throws {@link PolicyLawError} when the policy breaks the law. Takes no argument and needs no `this`. */
  readonly run: () => void;
}

const BUDGET_MS = 10_000;

/**
 * The laws of `policy.ts` for the policies that `makePolicy` makes.
 *
 * @param makePolicy makes a new instance at each call.
 * @throws TypeError when `makePolicy` makes no policy, such as a class instead of an instance.
 * @throws RangeError when `maxFalsePositiveRate` is not from 0 to 1, or `budgetMs` not above 0.
 */
export function policyLaws(makePolicy: () => FilterPolicy, options: PolicyLawsOptions = {}): PolicyLaw[] {
  const { tunedOtherwise = [], lendBuffers = false, maxFalsePositiveRate, seed = 1, budgetMs = BUDGET_MS } = options;
  if (maxFalsePositiveRate !== undefined && !(maxFalsePositiveRate >= 0 && maxFalsePositiveRate <= 1)) {
    throw new RangeError(`maxFalsePositiveRate must be from 0 to 1, got ${maxFalsePositiveRate}`);
  }
  if (!(budgetMs > 0)) throw new RangeError(`budgetMs must be above 0, got ${budgetMs}`);
  for (const make of [makePolicy, ...tunedOtherwise]) mustMakePolicies(make);
  const laws: [name: string, law: (run: LawRun) => void][] = [
    ['1. no false negatives: a key that was added may match, however often it was added', noFalseNegatives(makePolicy)],
    ['2. keyMayMatch never throws, and returns true or false, whatever bytes the filter has', neverThrows(makePolicy)],
    ['3. same keys, same filter, from every instance and after any other calls', sameFilter(makePolicy)],
    ['4. same question, same answer, out of the key and the filter alone', sameAnswer(makePolicy, lendBuffers)],
    ['5. it changes nothing that it was lent', changesNothing(makePolicy, lendBuffers)],
    ['6. it keeps nothing that it was lent', keepsNothing(makePolicy)],
    ['7. it appends only, and at least one byte for at least one key', appendsOnly(makePolicy)],
    ['8. one name for one format: never another for tuning, never that of another format', oneName(makePolicy, options)],
    ['9. keys that are one to the comparator are one to the filter', oneToTheFilter(makePolicy, options)],
    ['10. every call returns, in time that grows no faster than what it is given', returnsInTime(makePolicy)],
  ];
  if (maxFalsePositiveRate !== undefined) {
    laws.push([`of absent keys, at most ${maxFalsePositiveRate * 100}% may match`, rateIsAtMost(makePolicy, maxFalsePositiveRate)]);
  }
  return laws.map(([name, law], i) => ({
    name,
    run: () => {
      law(new LawRun(name, i + 1, seed, budgetMs));
    },
  }));
}

/** A policy without a name is for the law of names to say. */
function mustMakePolicies(make: () => FilterPolicy): void {
  const policy: unknown = make();
  const { createFilter, keyMayMatch } = Object(policy) as Partial<FilterPolicy>;
  if (typeof policy === 'object' && typeof createFilter === 'function' && typeof keyMayMatch === 'function') return;
  mustBeFilterPolicy('what makePolicy makes', policy);
}
