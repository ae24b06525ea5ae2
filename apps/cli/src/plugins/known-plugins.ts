/** The plug-ins for reading: those of `bloom`, and those that the command line names. */
import { allCodecs } from '@bloom/codecs';
import type { FilterPolicy } from '@bloom/policy';
import type { Codec, Comparator } from '@bloom/sstable';
import type { Plugins } from './plugin-options.js';

/** All codecs. A given codec replaces another of its type. */
export function knownCodecs({ codecs }: Plugins): readonly Codec[] {
  if (codecs.length === 0) return allCodecs;
  const byType = new Map([...allCodecs, ...codecs].map((codec) => [codec.type, codec]));
  return [...byType.values()];
}

/**
 * The policies whose filters can be used: first the given ones, then `others` with other names.
 *
 * @param comparator the order of the keys. A policy that treats other keys as equal cannot be used.
 */
export function knownPolicies({ policies }: Plugins, others: readonly FilterPolicy[], comparator?: Comparator): FilterPolicy[] {
  const byName = new Map([...others, ...policies].map((policy) => [policy.name, policy]));
  return [...byName.values()].filter(({ keyEquivalence }) => keyEquivalence === comparator?.keyEquivalence);
}
