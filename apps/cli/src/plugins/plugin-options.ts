import type { Codec, Comparator } from '@bloom/sstable';
import type { FilterPolicy } from '@bloom/policy';
import { type Command, Option } from 'commander';
import { several } from '../inputs/several.js';

/** The options that name plug-ins, as given. */
export interface PluginOptions {
  readonly comparator?: string;
  readonly policy?: readonly string[];
  readonly codec?: readonly string[];
}

/** The plug-ins that the command line names, in addition to those of `bloom`. */
export interface Plugins {
  /** The order of the keys; undefined if none was given. */
  readonly comparator: Comparator | undefined;
  /** In the given order. A command that writes uses the first. */
  readonly policies: readonly FilterPolicy[];
  /** Later codecs replace earlier ones of the same type. */
  readonly codecs: readonly Codec[];
}

export const NO_PLUGINS: Plugins = { comparator: undefined, policies: [], codecs: [] };

/** Adds --comparator, --policy and --codec. @param writesFilters whether the command writes filters, for the help. */
export function addPluginOptions(command: Command, writesFilters = false): Command {
  const use = writesFilters ? 'repeatable; new filters use the first' : 'repeatable';
  return command
    .option('--comparator <module>', 'the order of the keys: a file or an npm package that exports a comparator; MODULE#NAME names the export')
    .addOption(
      new Option('--policy <policy>', `a filter policy: bloom, fitted, goleveldb-bloom, blocked, ribbon or fuse, such as ribbon:0.001, or a module; ${use}`).argParser(several),
    )
    .addOption(new Option('--codec <module>', 'a module that exports a codec or an array of codecs; repeatable').argParser(several));
}

/** Only these options of a command, for a thread. */
export function pluginOptionsOf({ comparator, policy, codec }: PluginOptions): PluginOptions {
  return { ...(comparator !== undefined && { comparator }), ...(policy !== undefined && { policy }), ...(codec !== undefined && { codec }) };
}

/** Imports the modules that the options name. @throws Failure that names the module. */
export async function loadPlugins({ comparator, policy = [], codec = [] }: PluginOptions): Promise<Plugins> {
  if (comparator === undefined && policy.length === 0 && codec.length === 0) return NO_PLUGINS;
  const { loadCodecs, loadComparator, loadPolicy } = await import('./plugin.js');
  return {
    comparator: comparator === undefined ? undefined : await loadComparator(comparator),
    policies: await Promise.all(policy.map(loadPolicy)),
    codecs: (await Promise.all(codec.map(loadCodecs))).flat(),
  };
}
