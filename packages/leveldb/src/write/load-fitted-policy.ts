/** The policy of fitted filters. Its code and its kernel are loaded on demand, because few databases use it. */
import type { FilterPolicy, FitOptions, FittedBloomFilterPolicy } from '@bloom/policy';
import { loadedCode } from '../folder/loaded-code.js';

type FittedClass = typeof FittedBloomFilterPolicy;

let fitted: FittedClass | undefined;

/** Provides the class. */
export function provideFittedPolicy(given: FittedClass): void {
  fitted = given;
}

/** Whether a policy may be fitted, or is to be made for these options: `loadFittedPolicy` must then settle before they are used. */
export function mayBeFitted(options: { readonly fitFilters?: unknown; readonly filterPolicy?: unknown }): boolean {
  const { fitFilters = false, filterPolicy } = options;
  return fitFilters !== false || (typeof filterPolicy === 'object' && filterPolicy !== null && 'extraBytes' in filterPolicy);
}

/** Loads the class. @throws DatabaseError `BLOOM_NOT_LOADED`. */
export async function loadFittedPolicy(): Promise<void> {
  fitted ??= (await loadedCode(import('./fitted-policy.js'))).FittedBloomFilterPolicy;
}

/** REQUIRES: the class is loaded or provided. */
export function fittedPolicyOf(bitsPerKey: number, options: FitOptions): FittedBloomFilterPolicy {
  return new fitted!(bitsPerKey, options);
}

export function isFitted(policy: FilterPolicy | null): policy is FittedBloomFilterPolicy {
  return fitted !== undefined && policy instanceof fitted;
}

/** Whether it is the class itself, not a subclass. */
export function isFittedClass(given: unknown): boolean {
  return fitted !== undefined && given === fitted;
}
