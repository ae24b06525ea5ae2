import { fstatSync, readFileSync, statSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { MemorySource, type SyncSource } from '@bloom/sstable';
import { SyncFileSource } from '@bloom/sstable/node';
import { Failure, failureOf } from '../failure.js';
import { isSameFile } from '../outputs/same-file.js';
import { type Location, shownName } from './location.js';
import { httpHeader } from './http-header.js';
import { several } from './several.js';
import { readStandardInput } from './standard-input.js';
import type { Trace } from './trace.js';

/** How URLs are read, and whether reads are reported. */
export interface RemoteOptions {
  readonly header?: readonly string[];
  readonly trace?: true;
  /** The counters of --trace, which the command creates. */
  readonly tracing?: Trace | undefined;
}

/** The location of a single file, which need not be a table. */
export type TableLocation = Exclude<Location, { kind: 'folder' | 'remote-folder' | 'bucket' | 'remote' }>;

/** Adds --header. */
export function addHeaderOption(command: Command): Command {
  return command.addOption(
    new Option('-H, --header <header>', 'an HTTP header to send, NAME: VALUE; repeatable; also one per line in BLOOM_HTTP_HEADERS').argParser(checkedHeaders),
  );
}

/** The values of --header. An invalid one is refused even when the input is a local file. */
function checkedHeaders(value: string, before?: readonly string[]): readonly string[] {
  httpHeader(value, '--header');
  return several(value, before);
}

/** Adds --header and --trace. */
export function addRemoteOptions(command: Command): Command {
  return addHeaderOption(command)
    .option('--trace', 'report reads on standard error: requests, bytes, results of filters');
}

/** The counters of --trace; undefined without it. */
export async function tracingFor({ trace }: RemoteOptions): Promise<Trace | undefined> {
  return trace === undefined ? undefined : new (await import('./trace.js')).Trace();
}

/** The name of a file in messages. */
export function nameOf(location: TableLocation): string {
  if (location.kind === 'stdin') return shownName('-');
  return 'path' in location ? location.path : shownName(location.url.href);
}

/**
 * Opens a file, runs `work` with it, and closes it. Inputs without random access, such as pipes, and files behind URLs are read into
 * memory first. Failures name the file.
 */
export async function withSource<T>(
  location: TableLocation,
  { header = [], tracing }: RemoteOptions,
  work: (path: string, source: SyncSource) => T | Promise<T>,
): Promise<T> {
  const path = nameOf(location);
  try {
    if (location.kind === 'remote-file' || location.kind === 'remote-log') {
      const { downloaded, transportOf } = await import('./remote-files.js');
      return await work(path, await downloaded(location.url, transportOf(location.url, header, tracing)));
    }
    if (location.kind === 'stdin' || location.kind === 'pipe') return await work(path, counted(await readWhole(location), tracing));
    if (location.kind === 'memory' || location.kind === 'memory-log') return await work(path, counted(location.source, tracing));
    mustBeReadable(path);
    const source = SyncFileSource.open(path);
    try {
      return await work(path, counted(source, tracing));
    } finally {
      source.close();
    }
  } catch (error) {
    throw failureOf(path, error);
  }
}

/** Reads standard input or a pipe to its end. */
export async function readWhole(location: Extract<TableLocation, { kind: 'stdin' | 'pipe' }>): Promise<SyncSource> {
  const path = nameOf(location);
  if (location.kind === 'stdin' && (await import('./terminal-input.js')).isTerminalInput()) {
    throw new Failure('stdin is a terminal: redirect a file to it, for example bloom scan - < table.ldb');
  }
  try {
    return new MemorySource(location.kind === 'stdin' ? readStandardInput() : readFileSync(location.path), path);
  } catch (error) {
    throw failureOf(path, error);
  }
}

function counted(source: SyncSource, tracing: Trace | undefined): SyncSource {
  return tracing?.source(source) ?? source;
}

function mustBeReadable(path: string): void {
  if (path === '') throw new Failure('the name of the input is empty');
  mustNotBeOutput(path);
}

/** @throws Failure for a file to which standard output is redirected; the system's error. */
export function mustNotBeOutput(path: string): void {
  const found = statSync(path, { bigint: true });
  if (isSameFile(found, fstatSync(1, { bigint: true }))) {
    throw new Failure(`${path}: is also the file that standard output goes to, which would overwrite it`);
  }
}
