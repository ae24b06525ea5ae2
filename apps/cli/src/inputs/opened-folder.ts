import { readdirSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { DatabaseReader, type Dropped, type Folder, FolderError, parseFileName, type ReaderOptions, SyncDatabaseReader, type SyncFolder } from '@bloom/leveldb';
import { comparatorNameSync } from '@bloom/leveldb/inspect';
import { idbComparator, idbFilterPolicyOf } from '@bloom/leveldb/idb-comparator';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { quotedName } from '@bloom/bytes/internal';
import { count, counted } from '@bloom/report';
import { bytewiseComparator, type Comparator, CorruptionError, type SyncSource, UnsupportedError } from '@bloom/sstable';
import { Failure, failureOf, isSystemError, placedBytes } from '../failure.js';
import { note } from '../outputs/output.js';
import { CODEC_ADVICE, withoutAdvice } from '../library-advice.js';
import { knownCodecs, knownPolicies } from '../plugins/known-plugins.js';
import { loadPlugins, type PluginOptions, type Plugins } from '../plugins/plugin-options.js';
import { allShippedPolicies } from '../plugins/shipped-policy.js';
import { type DamageOptions, isFolder, mustNotInsist } from './folder-argument.js';
import { type Location, shownName } from './location.js';
import { folderOfLog, withCurrent } from './log-folder.js';
import { type RemoteOptions, withSource } from './opened-source.js';
import { looksLikeManifest } from './recognized-file.js';

/** The number of damaged places that are named per folder. */
const SHOWN_DROPS = 20;

/** A database that a command reads. */
export interface DatabaseFile {
  /** The name of the folder or log, in messages. */
  readonly path: string;
  readonly database: SyncDatabaseReader | DatabaseReader;
  readonly folder: Folder;
  readonly plugins: Plugins;
}

/** The location of a database. A log is read as one. */
export type DatabaseLocation = Extract<Location, { kind: 'folder' | 'remote-folder' | 'bucket' | 'log' | 'remote-log' | 'memory-log' }>;

export interface FolderOptions extends DamageOptions, PluginOptions, RemoteOptions {
  readonly internal?: boolean;
  /** Whether the files of a bucket are listed. */
  readonly listsBucket?: boolean | undefined;
}

/** A log is read into memory. LevelDB starts a new log at 1 GiB at the latest. */
const MAX_LOG_BYTES = 2 ** 31;

/** Opens a database, runs `work` with it, and closes it. Failures name the file. */
export function withDatabase<T>(location: DatabaseLocation, options: FolderOptions, work: (file: DatabaseFile) => T | Promise<T>): Promise<T> {
  return withDatabaseFolder(location, options, async (path, folder, plugins) => {
    const database = await openDatabase(folder, plugins, { damage: options.damage });
    try {
      noteIgnoredComparator(path, database.describe().comparator, plugins);
      return await work({ path, database, folder, plugins });
    } finally {
      await database.close();
    }
  });
}

/** Notes that --comparator is not the order of a database. @param name that of its comparator, if known. */
export function noteIgnoredComparator(path: string, name: string | undefined, { comparator }: Plugins): void {
  if (comparator === undefined || name === undefined || comparator.name === name) return;
  note(`${path}: its comparator is ${name}, so --comparator (${comparator.name}) is ignored`);
}

/** The order of a database's keys by its name; undefined if it is unknown. */
export function comparatorNamed(name: string, { comparator }: Plugins): Comparator | undefined {
  return [comparator, bytewiseComparator, idbComparator].find((known) => known?.name === name);
}

/** Runs `work` with the folder of a database. Failures name the file. */
export async function withDatabaseFolder<T>(
  location: DatabaseLocation,
  options: FolderOptions,
  work: (path: string, folder: Folder, plugins: Plugins) => Promise<T>,
): Promise<T> {
  mustNotInsist(nameOfDatabase(location), options, location.kind.endsWith('log') ? 'log' : 'folder');
  const plugins = await loadPlugins(options);
  const { tracing } = options;
  switch (location.kind) {
    case 'folder': {
      const { path, current } = location;
      const folder = current === undefined ? new SyncNodeFolder(path) : withCurrent(new SyncNodeFolder(path), current);
      return withFolderFailures(path, folder, options, () => work(path, tracing?.folder(folder) ?? folder, plugins));
    }
    case 'remote-folder': {
      const { url, current } = location;
      const path = shownName(url.href);
      const { remoteFolder, transportOf } = await import('./remote-files.js');
      const remote = remoteFolder(url, transportOf(url, options.header ?? [], tracing));
      const folder = current === undefined ? remote : withCurrent(remote, current);
      return withFolderFailures(path, folder, options, () => work(path, folder, plugins));
    }
    case 'bucket': {
      const { address } = location;
      mustHaveNoHeader(address, options);
      const { bucketFolder } = await import('./store-argument.js');
      const folder = bucketFolder(address, tracing, options.listsBucket === true);
      return withFolderFailures(address, folder, options, () => work(address, folder, plugins));
    }
    case 'log':
    case 'remote-log':
    case 'memory-log':
      return withSource(location, options, (path, source) => {
        if (looksLikeManifest(source)) throw new Failure(`${path}: is a MANIFEST without its folder, which has the tables and logs: pass the folder; bloom layout shows the content of the MANIFEST`);
        const folder = folderOfLog(bytesOfLog(path, source), basename(path), (plugins.comparator ?? bytewiseComparator).name);
        return withFolderFailures(path, folder, options, () => work(path, folder, plugins));
      });
  }
}

/** The name of a database in messages. */
function nameOfDatabase(location: DatabaseLocation): string {
  if (location.kind === 'bucket') return location.address;
  return 'path' in location ? location.path : shownName(location.url.href);
}

/** @throws Failure for --header with a bucket, whose requests are signed. */
export function mustHaveNoHeader(address: string, { header }: RemoteOptions): void {
  if (header !== undefined) throw new Failure(`${address}: --header is for http:// and https://: omit it`);
}

/** The bytes of a log or a MANIFEST. @throws Failure when it is too long to be read into memory. */
export function bytesOfLog(path: string, source: SyncSource): Uint8Array {
  if (source.byteLength > MAX_LOG_BYTES) throw new Failure(`${path}: is longer than ${counted(MAX_LOG_BYTES, 'byte')}, the limit for a log`);
  return source.read(0, source.byteLength);
}

/** The readers' options: the plug-ins of `bloom`, and those that the command line names. */
export async function readerOptions(plugins: Plugins): Promise<Required<Pick<ReaderOptions, 'codecs' | 'comparators' | 'filterPolicies'>>> {
  const { comparator } = plugins;
  const policies = await allShippedPolicies();
  return {
    codecs: knownCodecs(plugins),
    comparators: comparator === undefined ? [] : [comparator],
    filterPolicies: knownPolicies(plugins, policies, comparator),
  };
}

/** Runs `work` with the files of a folder. Failures name the file. */
async function withFolderFailures<T>(path: string, folder: Folder, { damage = 'strict' }: DamageOptions, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const failure = folderFailure(path, folder, error);
    const advice = failure instanceof Failure ? adviceFor(folder, damage, error) : undefined;
    throw advice === undefined ? failure : new Failure(`${(failure as Failure).message}; ${advice}`, { cause: error });
  }
}

/** Opens the database in a folder, with the comparator that its MANIFEST names, if it is known. */
export async function openDatabase(folder: SyncFolder, plugins: Plugins, options: ReaderOptions): Promise<SyncDatabaseReader>;
export async function openDatabase(folder: Folder, plugins: Plugins, options: ReaderOptions): Promise<SyncDatabaseReader | DatabaseReader>;
export async function openDatabase(folder: Folder, plugins: Plugins, options: ReaderOptions): Promise<SyncDatabaseReader | DatabaseReader> {
  const given = await readerOptions(plugins);
  const open = (all: ReaderOptions): SyncDatabaseReader | Promise<DatabaseReader> =>
    isSync(folder) ? SyncDatabaseReader.open(folder, all) : DatabaseReader.open(folder, all);
  try {
    return await open({ ...given, ...options });
  } catch (error) {
    if (!(error instanceof UnsupportedError && error.code === 'BLOOM_UNKNOWN_COMPARATOR')) throw error;
    return open({ ...given, comparators: [idbComparator], filterPolicies: (given.filterPolicies ?? []).map((policy) => idbFilterPolicyOf(policy)), ...options });
  }
}

/** Whether the folder is synchronous. All folders are, except those behind URLs. */
export function isSync(folder: Folder): folder is SyncFolder {
  return folder.isRemote !== true;
}

/** Turns an error about a folder or a file in it into a failure with a line to show. Returns other errors unchanged. */
export function folderFailure(path: string, folder: Folder, error: unknown): unknown {
  if (error instanceof FolderError) {
    return new Failure(`${fileIn(path, error.file)}: ${folderProblem(error)}`, { cause: error });
  }
  if (error instanceof UnsupportedError && error.code === 'BLOOM_UNKNOWN_COMPARATOR') {
    const advice = 'pass the order with --comparator MODULE; without it, scan --all-versions prints what each file stores, and verify --any-order checks everything but the order';
    return new Failure(`${fileIn(path, error.file)}: ${orderProblem(folder, error)}; ${advice}`, { cause: error });
  }
  if (error instanceof CorruptionError && error.code === 'BLOOM_NOT_A_DATABASE' && hasLogsOrTables(folder)) {
    return new Failure(`${path}: it has no CURRENT, so it cannot be opened as a database`, { cause: error });
  }
  return failureOf(isPlaced(error) ? fileIn(path, error.file) : placeOf(path, error), error);
}

function orderProblem(folder: Folder, { problem }: UnsupportedError): string {
  if (isSync(folder)) return unknownOrderText(comparatorNameSync(folder));
  // The reader's message contains the name, and its advice is for programmers.
  return `${problem.replace(/, which was not given.*/s, '')}, which bloom does not know`;
}

function folderProblem({ code, message }: FolderError): string {
  if (code === 'BLOOM_FOLDER_BUSY') return 'another program keeps changing the folder: try again';
  // Tables behind URLs are opened when they are needed, so a missing one may never have existed.
  if (/ is gone\b/.test(message)) return 'the MANIFEST lists it, but it is missing: either it was just deleted, so try again, or the folder is incomplete, which bloom verify shows';
  return 'it was changed while it was read: try again';
}

/** The path of a file in a folder, or of the folder itself. @param file the path or the name in an error. */
export function fileIn(path: string, file: string | undefined): string {
  // The path of a log that is read as a database is that of the file.
  if (file === undefined || file === path || isOneFile(path)) return path;
  return path.includes('://') ? `${path.replace(/\/$/, '')}/${basename(file)}` : join(path, basename(file));
}

/** The file of a folder that a system's error is about, if it names one; else the folder. */
function placeOf(path: string, error: unknown): string {
  const file = isSystemError(error) ? error.path : undefined;
  return file !== undefined && resolve(dirname(file)) === resolve(path) ? fileIn(path, file) : path;
}

/** Whether the folder is made from a single log. */
function isOneFile(path: string): boolean {
  return path.includes('://') ? !path.endsWith('/') && !/^s3:/i.test(path) : !isFolder(path);
}

function isPlaced(error: unknown): error is CorruptionError | UnsupportedError {
  return error instanceof CorruptionError || error instanceof UnsupportedError;
}

/** The message that `bloom` does not know the order of a database's keys. @param name the name of the comparator, if known. */
export function unknownOrderText(name: string | undefined): string {
  return `its keys are sorted by ${name === undefined ? 'a comparator' : `the comparator ${quotedName(name)}`}, which bloom does not know`;
}

/** Whether logs or tables are in a folder, by their names. False if it cannot be listed. */
export function hasLogsOrTables(folder: Folder): boolean {
  try {
    return isSync(folder) && folder.list().some((name) => ['log', 'table'].includes(parseFileName(name)?.type ?? ''));
  } catch {
    return false;
  }
}

/** Whether there are folders in a folder on the disk. */
export function hasFolders({ name }: Folder): boolean {
  try {
    return name !== undefined && readdirSync(name, { withFileTypes: true }).some((entry) => entry.isDirectory());
  } catch {
    return false;
  }
}

const READ_FILES = 'bloom repair rebuilds the database from its logs and tables, and bloom salvage writes their entries to a table';
const READ_COPY = 'download all of its files: bloom repair rebuilds the database from the logs and tables in the copy, and bloom salvage writes their entries to a table';
/** For a folder that has no file of a database. */
export const FIND_BELOW = 'bloom ls finds the databases in the folders below it';

/** What the user can do about damage in a folder; undefined if nothing. */
function adviceFor(folder: Folder, damage: 'strict' | 'skip', error: unknown): string | undefined {
  if (error instanceof UnsupportedError && error.code === 'BLOOM_UNSUPPORTED_CODEC') return CODEC_ADVICE;
  if (!(error instanceof CorruptionError) || error.code === 'BLOOM_TOO_LARGE') return undefined;
  const isLocal = isSync(folder);
  if (error.code === 'BLOOM_NOT_A_DATABASE') return hasLogsOrTables(folder) ? READ_FILES : isLocal && hasFolders(folder) ? FIND_BELOW : undefined;
  const type = parseFileName(basename(error.file ?? ''))?.type;
  // CURRENT may name a log or a table instead of a MANIFEST.
  const isOfManifest = ['CURRENT', 'MANIFEST', 'version edit'].includes(error.structure);
  if (isOfManifest || (type !== 'log' && type !== 'table')) return isLocal ? READ_FILES : READ_COPY;
  // The message says what a repair does. Skipping the table would bring back older versions of its keys.
  if (error.code === 'BLOOM_TRUNCATED' && /\ba repair keeps\b/.test(error.problem)) return isLocal ? 'bloom repair does this' : 'download all of its files: bloom repair does this in the copy';
  return damage === 'strict' ? '--damage skip reads the rest' : 'bloom salvage copies what can still be read';
}

/** Prints to standard error which parts of a folder were skipped. */
export function noteDropped(path: string, dropped: readonly Dropped[]): void {
  for (const drop of dropped.slice(0, SHOWN_DROPS)) note(`${fileIn(path, drop.file)}: ${droppedText(drop)}`);
  if (dropped.length > SHOWN_DROPS) note(`${path}: ${count(dropped.length - SHOWN_DROPS)} more places were skipped`);
}

/** A skipped part of a file, for JSON. */
export function droppedJson({ file, offset, byteLength, reason, code }: Dropped): object {
  return { file: basename(file), offset, bytes: byteLength ?? null, reason: withoutAdvice(reason), code };
}

/** A skipped part of a file, as text without the name of the file. */
export function droppedText({ offset, byteLength, reason }: Dropped): string {
  return `left out ${byteLength === undefined ? `at offset ${offset}` : placedBytes(byteLength, offset)}: ${withoutAdvice(reason)}`;
}
