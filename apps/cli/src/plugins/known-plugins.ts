/** What can be read: what `bloom` has itself, and what the command line names. */
import { allCodecs } from '@bloom/codecs';
import type { FilterPolicy } from '@bloom/policy';
import type { Codec, Comparator } from '@bloom/sstable';
import type { Plugins } from './plugin-options.js';

/** All codecs; one that was given replaces another of its type. */
export function knownCodecs({ codecs }: Plugins): readonly Codec[] {
  if (codecs.length === 0) return allCodecs;
  const byType = new Map([...allCodecs, ...codecs].map((codec) => [codec.type, codec]));
  return [...byType.values()];
}

/**
 * The policies whose filters can be asked: those that were given first, then `others` with other names.
 *
 * @param comparator the order of the keys. A policy that has other keys equal than it cannot be asked.
 */
export function knownPolicies({ policies }: Plugins, others: readonly FilterPolicy[], comparator?: Comparator): FilterPolicy[] {
  const byName = new Map([...others, ...policies].map((policy) => [policy.name, policy]));
  return [...byName.values()].filter(({ keyEquivalence }) => keyEquivalence === comparator?.keyEquivalence);
}
