/**
 * The laws of {@link Comparator}, as checks that any test runner can run: for an order of your own.
 *
 * Each law compares all pairs, or all triples, of keys that are near to each other: texts that differ in case, spaces or accents, decimal
 * numbers as text, doubles and integers of eight bytes, invalid UTF-8, runs of 0x00 and 0xff, prefixes of each other, and neighbours of
 * the `keys` that you give. A comparator breaks a law only if it does so each time that it is asked.
 *
 * The laws cannot see these faults:
 *
 * - what only keys of a format show that no key in `keys` has;
 * - an order that differs between processes, machines, versions of a library or dates, such as that of `localeCompare`;
 * - a comparison that never returns: no host interrupts it.
 *
 * @example
 * ```ts
 * import { comparatorLaws } from '@bloom/sstable/contract';
 * import { test } from 'vitest'; // or node:test, or jest's and mocha's own
 * for (const law of comparatorLaws(myComparator)) test(law.name, law.run);
 * ```
 */
import { mustBeArray, mustBeBytes, mustBeFunction, mustBeOptions, mustBeWhole } from '@bloom/bytes/internal';
import { keyPools } from './contract/key-pools.js';
import { LawRun } from './contract/law-run.js';
import { sameBothWays } from './contract/laws/both-ways.js';
import { declaresEquivalence } from './contract/laws/declared-equivalence.js';
import { orders } from './contract/laws/every-key.js';
import { changesNothing, keepsNothing } from './contract/laws/lent-keys.js';
import { hasName } from './contract/laws/one-name.js';
import { answersAlike } from './contract/laws/same-answer.js';
import { comparesRanges, readsOnlyKeys } from './contract/laws/same-place.js';
import { separatesKeys, succeedsKeys } from './contract/laws/separators.js';
import { MOST_TIMES, takesLittleTime } from './contract/laws/comparison-time.js';
import { isTransitive } from './contract/laws/transitive.js';
import { COMPARATOR_LAWS_OPTIONS, type ComparatorLawsOptions } from './contract/options.js';
import { mustCompare } from './format/checked-comparator.js';
import type { Comparator } from './format/comparator.js';

export { ComparatorLawError } from './contract/comparator-law-error.js';
export type { ComparatorLawsOptions } from './contract/options.js';

/** One law, ready to be a test. */
export interface ComparatorLaw {
  /** The law's number, and what it demands. */
  readonly name: string;
  /** @throws ComparatorLawError when the comparator breaks the law. Takes no argument and needs no `this`. */
  readonly run: () => void;
}

const LAWS: readonly (readonly [name: string, law: (run: LawRun) => void])[] = [
  ['1. compare returns a number for any two keys, and never throws', orders],
  ['2. a key is equal to itself, and a is before b where b is after a', sameBothWays],
  ['3. where a is before b, and b before c, a is before c', isTransitive],
  ['4. keys with different bytes are equal only with a keyEquivalence', declaresEquivalence],
  ['5. findShortestSeparator(start, limit) returns a key at or after start and before limit', separatesKeys],
  ['6. findShortSuccessor(key) returns a key at or after key', succeedsKeys],
  ['7. the answer depends on the bytes of the keys alone, wherever they are in a buffer', readsOnlyKeys],
  ['8. compareRange, where there is one, answers as compare does', comparesRanges],
  ['9. the same keys get the same answer each time', answersAlike],
  ['10. it changes no key that it was lent', changesNothing],
  ['11. it keeps no key that it was lent', keepsNothing],
  ['12. the name is text, and not empty', hasName],
  [`13. a comparison takes at most ${MOST_TIMES.toLocaleString('en')} times as long as that of the bytes`, takesLittleTime],
];

/**
 * The laws of {@link Comparator} for one comparator.
 *
 * @throws TypeError for what is not a comparator, or an invalid option; RangeError for an invalid `seed`.
 */
export function comparatorLaws(comparator: Comparator, options: ComparatorLawsOptions = {}): ComparatorLaw[] {
  // Without a name or with a wrong keyEquivalence it breaks a law.
  mustCompare('comparator', comparator);
  mustBeOptions('comparatorLaws', options, COMPARATOR_LAWS_OPTIONS);
  const { keys = [], isKey, seed = 1 } = options;
  mustBeArray('keys', keys, 'Uint8Arrays');
  for (const [i, key] of keys.entries()) mustBeBytes(`keys[${i}]`, key);
  if (isKey !== undefined) mustBeFunction('isKey', isKey);
  mustBeWhole('seed', seed, 0, 2 ** 32 - 1);
  let pools: readonly (readonly Uint8Array[])[] | undefined;
  return LAWS.map(([name, law]) => ({
    name,
    run: () => {
      pools ??= keyPools(options);
      law(new LawRun(name, comparator, options, pools));
    },
  }));
}
