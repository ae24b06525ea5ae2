// What the thread that flushes and compacts has the plug-ins of the command line from.
import type { ThreadPlugins } from '@bloom/leveldb/node';
import { idbComparator, idbFilterPolicyOf } from '@bloom/leveldb/idb-comparator';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { knownCodecs } from './plugins/known-plugins.js';
import { loadPlugins, type PluginOptions } from './plugins/plugin-options.js';

export interface ThreadOptions extends PluginOptions {
  /** Of LevelDB's Bloom filters in IndexedDB's databases; those of other databases need no plug-in. */
  readonly bitsPerKey?: number;
}

export async function threadPlugins(options: ThreadOptions): Promise<ThreadPlugins> {
  const plugins = await loadPlugins(options);
  const { comparator, policies } = plugins;
  const known: FilterPolicy[] = [...policies, new BloomFilterPolicy(options.bitsPerKey)];
  const plain = known.filter(({ keyEquivalence }) => keyEquivalence === undefined);
  return {
    comparators: [idbComparator, ...(comparator === undefined ? [] : [comparator])],
    // The thread takes the first one that has the name and goes with the comparator.
    filterPolicies: [...policies, ...plain.map((policy) => idbFilterPolicyOf(policy))],
    codecs: knownCodecs(plugins),
  };
}
