// What the thread that flushes and compacts has the plug-ins of the command line from.
import type { ThreadPlugins } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { knownCodecs } from './plugins/known-plugins.js';
import { loadPlugins, type PluginOptions } from './plugins/plugin-options.js';

export async function threadPlugins(options: PluginOptions): Promise<ThreadPlugins> {
  const plugins = await loadPlugins(options);
  const { comparator, policies } = plugins;
  return {
    comparators: [idbComparator, ...(comparator === undefined ? [] : [comparator])],
    filterPolicies: [...policies, idbFilterPolicy],
    codecs: knownCodecs(plugins),
  };
}
