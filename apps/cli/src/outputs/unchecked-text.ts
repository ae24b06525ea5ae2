import type { Finding, Unchecked } from '@bloom/sstable/inspect';
import { note } from './output.js';

/**
 * What could not be checked, and why: "; not checked: key order (the comparator is unknown)". Empty if all was checked.
 *
 * @param anyOrder whether --any-order was given, which is then the reason for leaving out the order.
 */
export function uncheckedText(unchecked: readonly Unchecked[], anyOrder: boolean): string {
  const parts = new Set(unchecked.map(({ part, reason }) => `${part} (${anyOrder && part === 'key order' ? '--any-order' : reason})`));
  return parts.size === 0 ? '' : `; not checked: ${[...parts].join(', ')}`;
}

/** Says how blocks can be read whose codec `bloom` does not have. */
export function noteCodecs(path: string, findings: readonly Pick<Finding, 'code'>[]): void {
  if (findings.some(({ code }) => code === 'BLOOM_UNSUPPORTED_CODEC')) note(`${path}: --codec MODULE supplies the codec that can read these blocks`);
}
