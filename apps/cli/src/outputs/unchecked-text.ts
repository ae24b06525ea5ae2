import type { Unchecked } from '@bloom/sstable/inspect';

/**
 * What could not be checked, and why: "; not checked: key order (the comparator is unknown)". Empty if all was checked.
 *
 * @param anyOrder whether --any-order was given, which is then the reason for leaving out the order.
 */
export function uncheckedText(unchecked: readonly Unchecked[], anyOrder: boolean): string {
  const parts = new Set(unchecked.map(({ part, reason }) => `${part} (${anyOrder && part === 'key order' ? '--any-order' : reason})`));
  return parts.size === 0 ? '' : `; not checked: ${[...parts].join(', ')}`;
}
