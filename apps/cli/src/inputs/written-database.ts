/** Databases that commands write to. */
import { Database, DatabaseError, type DatabaseOptions } from '@bloom/leveldb';
import { comparatorNameSync } from '@bloom/leveldb/inspect';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { BackgroundThread, SyncNodeFolder } from '@bloom/leveldb/node';
import { quotedName } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, CorruptionError, UnsupportedError } from '@bloom/sstable';
import { type Command, Option } from 'commander';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure, failureOf, isSystemError, mustBeWrittenHere } from '../failure.js';
import { withoutAdvice } from '../library-advice.js';
import { addFilterOptions, type TableOptions } from '../outputs/table-options.js';
import { knownCodecs, knownPolicies } from '../plugins/known-plugins.js';
import { addPluginOptions, loadPlugins, pluginOptionsOf, type Plugins } from '../plugins/plugin-options.js';
import { policyInOrder } from '../plugins/policy-in-order.js';
import type { ThreadOptions } from '../thread-plugins.js';
import { byteSize } from './byte-size.js';
import { lockHolders } from './lock-holder.js';
import { folderFailure, hasLogsOrTables } from './opened-folder.js';
import { isPublished, noteNoLongerPublished } from './published-folder.js';
import { writtenCompression } from './written-compression.js';
import { WrittenFolder } from './written-folder.js';

/** The module in the program's folder from which the thread that writes tables loads plug-ins. */
const THREAD_PLUGINS = pathToFileURL(join(__dirname, 'thread-plugins.cjs')).href;

/** The options of commands that write to a folder. */
export type DatabaseCommandOptions = Omit<TableOptions, 'blockRestartInterval'>;

/** Adds the options about the order of a database's keys and its new tables. */
export function addDatabaseOptions(command: Command): Command {
  addFilterOptions(command)
    .addOption(new Option('--block-size <bytes>', 'bytes before compression at which a block is full (default: 4096)').argParser(byteSize(2 ** 10, 4 * 2 ** 20)))
    .addOption(new Option('--compression <codec>', 'compression of new tables: none, snappy, zlib, deflate, or the name of a codec passed with --codec (default: that of the tables in the folder, or else snappy)'));
  return addPluginOptions(command, true);
}

/** @throws Failure for an empty path, which would mean the current folder. */
export function mustBeNamed(path: string): void {
  if (path === '') throw new Failure('the name of the folder is empty');
}

/** The options of a `Database`, with the order that the folder's MANIFEST names. @throws Failure when the order is unknown. */
export async function databaseOptionsOf(path: string, options: DatabaseCommandOptions): Promise<DatabaseOptions> {
  mustBeNamed(path);
  mustBeWrittenHere(path);
  const plugins = await loadPlugins(options);
  const comparator = comparatorOf(path, plugins);
  const { blockSize, filterRange } = options;
  const policies = plugins.policies.map((policy) => policyInOrder(policy, comparator));
  return {
    comparator,
    filterPolicy: filterPolicyOf(options, policies, comparator),
    filterPolicies: knownPolicies({ ...plugins, policies }, [policyInOrder(new BloomFilterPolicy(), comparator)], comparator),
    codecs: knownCodecs(plugins),
    compression: await writtenCompression(path, options, plugins),
    blockSize,
    filterRange,
  };
}

/** The filter policy; undefined for the library's default, which depends on the comparator. */
function filterPolicyOf({ filter, bitsPerKey }: DatabaseCommandOptions, [given]: readonly FilterPolicy[], comparator: Comparator): FilterPolicy | null | undefined {
  if (!filter) return null;
  if (given !== undefined) return given;
  const policy = policyInOrder(new BloomFilterPolicy(bitsPerKey), comparator);
  return bitsPerKey === undefined && policy.keyEquivalence !== comparator.keyEquivalence ? undefined : policy;
}

/** The order of a folder's keys, by its MANIFEST. @throws Failure when it is unknown. */
export function comparatorOf(path: string, { comparator }: Plugins): Comparator {
  let name: string | undefined;
  try {
    name = comparatorNameSync(new SyncNodeFolder(path));
  } catch {
    // Opening the database reports the problem.
  }
  if (comparator !== undefined) {
    if (name === undefined || name === comparator.name) return comparator;
    const remedy = name === bytewiseComparator.name || name === idbComparator.name ? 'omit --comparator' : 'name a module with that order';
    throw new Failure(`${path}: its keys are sorted by the comparator ${quotedName(name)}, but --comparator is ${quotedName(comparator.name)}: ${remedy}`);
  }
  if (name === undefined || name === bytewiseComparator.name) return bytewiseComparator;
  if (name === idbComparator.name) return idbComparator;
  throw new Failure(`${path}: its keys are sorted by the comparator ${quotedName(name)}, which bloom does not have: pass it with --comparator`);
}

/** The options that the thread that writes tables needs. */
function threadOptionsOf(options: DatabaseCommandOptions): ThreadOptions {
  const { bitsPerKey } = options;
  return { ...pluginOptionsOf(options), ...(bitsPerKey !== undefined && { bitsPerKey }) };
}

/** Opens a database for writing, runs `work` with it, and closes it. @throws Failure that names the folder. */
export async function withDatabase<T>(path: string, options: DatabaseCommandOptions & { readonly quiet?: boolean }, createIfMissing: boolean, work: (database: Database) => Promise<T>): Promise<T> {
  const settings = { ...(await databaseOptionsOf(path, options)), createIfMissing };
  const wasPublished = options.quiet !== true && (await isPublished(path));
  try {
    const thread = new BackgroundThread({ plugins: { module: THREAD_PLUGINS, data: threadOptionsOf(options) } });
    const database = await Database.open(new WrittenFolder(path, { thread }), settings);
    if (wasPublished) noteNoLongerPublished(path);
    try {
      return await work(database);
    } finally {
      await database.close();
      await thread.close();
    }
  } catch (error) {
    throw databaseFailure(path, error);
  }
}

/** Turns an error of a database that is open for writing into a failure with one line. Returns other errors unchanged. */
export function databaseFailure(path: string, error: unknown): unknown {
  if (error instanceof DatabaseError) return new Failure(databaseProblem(path, error), { cause: error });
  if (error instanceof RangeError) return new Failure(`${path}: ${withoutAdvice(error.message)}`, { cause: error });
  const failure = folderFailure(path, new SyncNodeFolder(path), error);
  if (!(failure instanceof Failure)) return failure;
  if (error instanceof CorruptionError) return new Failure(`${failure.message}; bloom repair rebuilds the database from its readable parts`, { cause: error });
  if (error instanceof UnsupportedError && error.code === 'BLOOM_UNSUPPORTED_CODEC') return new Failure(`${failure.message}: ${codecAdvice(error)}`, { cause: error });
  return failure;
}

/** The advice for a codec that is missing, or that cannot compress. */
function codecAdvice({ message }: UnsupportedError): string {
  return message.includes('does not write') ? '--compression says how to write' : 'name a codec with --codec';
}

function databaseProblem(path: string, { code, message: given, cause }: DatabaseError): string {
  const message = withoutAdvice(given);
  if (code === 'BLOOM_DATABASE_MISSING') {
    if (!existsSync(path)) return `${path}: no such file or folder`;
    const advice = hasLogsOrTables(new SyncNodeFolder(path)) ? 'it has no CURRENT: bloom repair rebuilds the database from its logs and tables' : 'there is no database: bloom put and bloom load create one';
    return `${path}: ${advice}`;
  }
  if (code === 'BLOOM_WRITING_ENDED' && cause instanceof Error) {
    const problem = isSystemError(cause) ? (failureOf(path, cause) as Failure).message : `${path}: ${withoutAdvice(cause.message)}`;
    return `${problem}: earlier writes can be read`;
  }
  if (code === 'BLOOM_NO_LOCK' && isSystemError(cause)) return (failureOf(join(path, 'LOCK'), cause) as Failure).message;
  if (code === 'BLOOM_LOCKED') {
    const holders = lockHolders(path);
    if (holders.length > 0) return `${path}: is already open for writing, by the process ${holders.join(' or ')}`;
  }
  return message.startsWith(path) ? message : `${path}: ${message}`;
}
