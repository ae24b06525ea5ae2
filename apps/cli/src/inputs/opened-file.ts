/** Tables as open files, which threads can read too. Other inputs are copied to a temporary file. */
import { type BigIntStats, closeSync, fstatSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type Source, SyncTable } from '@bloom/sstable';
import { decodeInternalKey, isLikelyInternalKey } from '@bloom/sstable/database';
import { Failure, failureOf } from '../failure.js';
import { standardStreams } from '../standard-streams.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import type { Plugins } from '../plugins/plugin-options.js';
import { keyFormOf } from './key-form.js';
import { shownName } from './location.js';
import { isDatabase, recognised } from './opened-input.js';
import { mustNotBeOutput, nameOf, type RemoteOptions, type TableLocation } from './opened-source.js';
import { DescriptorSource } from './sorted-run.js';
import { readWholeText } from './standard-input.js';
import { tableFailure } from './table-advice.js';
import { TemporaryFile } from './temporary-file.js';

/** The number of bytes copied at a time. */
const COPIED_BYTES = 4 * 2 ** 20;

/** A table that is open. */
export interface OpenedFile {
  readonly name: string;
  readonly fd: number;
  readonly byteLength: number;
  /** The status of the given file, which must not be overwritten. */
  readonly stat: BigIntStats;
  close(): void;
}

/** The given tables, then those that the file of --files names, one per line. */
export function tablesNamed(given: readonly string[], { files }: { readonly files?: string }): readonly string[] {
  return files === undefined ? given : [...given, ...readWholeText(files).split(/\r?\n/).filter((line) => line !== '')];
}

/** Opens a table. @throws Failure that names it. */
export async function openFile(given: string, options: RemoteOptions): Promise<OpenedFile> {
  if (given === '') throw new Failure('the name of the table is empty');
  const location = await recognised(given, options);
  if (isDatabase(location)) {
    const name = shownName(given);
    throw new Failure(`${name}: is a ${location.kind.endsWith('log') ? 'log' : 'folder'}, and not a table: bloom convert makes a table of its entries`);
  }
  return openTableFile(location, options);
}

/** Opens a file that is known to be a table. @throws Failure that names it. */
export async function openTableFile(location: TableLocation, options: RemoteOptions): Promise<OpenedFile> {
  const name = nameOf(location);
  try {
    if (location.kind === 'memory') {
      const isStdin = name === nameOf({ kind: 'stdin' });
      return await copied(name, location.source, isStdin ? fstatSync(standardStreams().stdinFd, { bigint: true }) : undefined);
    }
    if (location.kind === 'remote-file') {
      const { openRemoteFile, transportOf } = await import('./remote-files.js');
      const source = await openRemoteFile(location.url, transportOf(location.url, options.header ?? [], options.tracing));
      try {
        return await copied(name, source);
      } finally {
        await source.close();
      }
    }
    mustNotBeOutput(name);
    const fd = openSync(name, 'r');
    const stat = fstatSync(fd, { bigint: true });
    return { name, fd, byteLength: Number(stat.size), stat, close: () => closeSync(fd) };
  } catch (error) {
    throw failureOf(name, error);
  }
}

async function copied(name: string, source: Pick<Source, 'byteLength'> & { read(offset: number, length: number): Uint8Array | Promise<Uint8Array> }, stat?: BigIntStats): Promise<OpenedFile> {
  const file = inTemporaryFolder(() => new TemporaryFile(tmpdir()));
  const { fd } = file;
  try {
    for (let at = 0; at < source.byteLength; at += COPIED_BYTES) {
      const bytes = await source.read(at, Math.min(COPIED_BYTES, source.byteLength - at));
      inTemporaryFolder(() => file.append(bytes));
    }
    return { name, fd, byteLength: file.byteLength, stat: stat ?? fstatSync(fd, { bigint: true }), close: () => file.close() };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The result of `work`. @throws its errors as failures that name the folder for temporary files instead of the input. */
function inTemporaryFolder<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const failure = failureOf(`${tmpdir()}, the folder for temporary files`, error);
    throw failure instanceof Failure ? new Failure(`${failure.message}: ${process.platform === 'win32' ? 'TEMP' : 'TMPDIR'} can name another one`, { cause: error }) : failure;
  }
}

/** Whether the keys of a table are internal keys. @throws Failure when it cannot be opened. */
export function hasInternalKeys(file: OpenedFile, plugins: Plugins): Promise<boolean> {
  // The filters are evidence too.
  return naming(file, async (source) => (await keyFormOf(source, SyncTable.open(source, { codecs: knownCodecs(plugins), cache: null }), 0)).isInternal);
}

/** Whether the tables have internal keys. @throws Failure when only some of them do. */
export async function haveInternalKeys(files: readonly OpenedFile[], plugins: Plugins): Promise<boolean> {
  const sampled: { readonly file: OpenedFile; readonly key: Uint8Array }[] = [];
  for (const file of files) {
    const key = await naming(file, (source) => firstKey(source, plugins));
    // A table without keys has no kind of keys.
    if (key !== undefined) sampled.push({ file, key });
  }
  const first = sampled[0]?.file ?? files[0]!;
  const isInternal = await hasInternalKeys(first, plugins);
  for (const { file, key } of sampled.slice(1)) {
    if (looksInternal(key) === isInternal) continue;
    // A plain key may look like an internal key.
    if (isInternal === (await hasInternalKeys(file, plugins))) continue;
    const [internal, plain] = isInternal ? [first, file] : [file, first];
    throw new Failure(`${internal.name} has internal keys of a database and ${plain.name} has plain keys: bloom convert --keys plain converts the former`);
  }
  return isInternal;
}

function looksInternal(key: Uint8Array): boolean {
  const internal = decodeInternalKey(key);
  return internal !== undefined && isLikelyInternalKey(internal);
}

function firstKey(source: DescriptorSource, plugins: Plugins): Uint8Array | undefined {
  const cursor = SyncTable.open(source, { codecs: knownCodecs(plugins), cache: null, filterPolicies: [] }).cursor();
  return cursor.seekToFirst() ? cursor.key : undefined;
}

/** The result of `work` with the bytes of a table. @throws its errors as failures that name the table. */
async function naming<T>({ name, fd, byteLength }: OpenedFile, work: (source: DescriptorSource) => T | Promise<T>): Promise<T> {
  const source = new DescriptorSource(fd, byteLength);
  try {
    return await work(source);
  } catch (error) {
    throw tableFailure(name, source, error, false);
  }
}
