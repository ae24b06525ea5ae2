import type { Unchecked } from '@bloom/sstable/inspect';

/** What could not be checked, and why: "; not checked: key order (the comparator is unknown)". Empty if all was checked. */
export function uncheckedText(unchecked: readonly Unchecked[]): string {
  const parts = new Set(unchecked.map(({ part, reason }) => `${part} (${reason})`));
  return parts.size === 0 ? '' : `; not checked: ${[...parts].join(', ')}`;
}
