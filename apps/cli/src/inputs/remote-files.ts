/** Tables and databases behind http(s) URLs. Loaded only for these. */
import type { Folder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { MemorySource, type Source } from '@bloom/sstable';
import { HttpError, HttpSource, type HttpSourceOptions } from '@bloom/sstable/http';
import { Failure } from '../failure.js';
import { HEADERS_VARIABLE } from '../http-problem.js';
import { httpHeader } from './http-header.js';
import { decoded, type RemoteLocation, shownName } from './location.js';
import type { Trace } from './trace.js';

/** The largest file that is read into memory, as commands do that read whole files. */
const MAX_WHOLE_BYTES = 2 ** 31;
/** The number of bytes at each end of a file that show its kind. */
const KIND_BYTES = 16;
/** The length of a table's magic number. */
const TABLE_END_BYTES = 8;

type Transport = Pick<HttpSourceOptions, 'fetch' | 'headers'>;

/** How requests are sent. @param given the --header options. @throws Failure for an invalid header, without printing it. */
export function transportOf(url: URL, given: readonly string[], trace: Trace | undefined): Transport {
  const lines = (process.env[HEADERS_VARIABLE] ?? '').split('\n').filter((line) => line.trim() !== '');
  const headers: Record<string, string> = {};
  for (const [i, line] of [...lines, ...given].entries()) {
    const [name, value] = httpHeader(line, i < lines.length ? HEADERS_VARIABLE : '--header');
    headers[name] = value;
  }
  if (url.username !== '' || url.password !== '') {
    const userinfo = `${decoded(url.username)}:${decoded(url.password)}`;
    headers.Authorization = `Basic ${Buffer.from(userinfo, 'utf8').toString('base64')}`;
  }
  return { headers, fetch: trace?.fetch(fetch) };
}

/** The address to request, without user and password, which are sent in a header. */
function addressOf(url: URL): string {
  const address = new URL(url);
  address.username = address.password = '';
  return address.href;
}

/** Opens a file behind a URL. */
export function openRemoteFile(url: URL, transport: Transport): Promise<HttpSource> {
  return HttpSource.open(addressOf(url), transport);
}

/** Reads all of a file behind a URL into memory, for commands that read every byte. */
export async function downloaded(url: URL, transport: Transport): Promise<MemorySource> {
  const source: Source = await HttpSource.open(addressOf(url), { ...transport, tailBytes: 0 });
  const { byteLength } = source;
  if (byteLength > MAX_WHOLE_BYTES) throw new Failure(`${url.origin}${url.pathname}: the table has more than 2 GiB, and this command would read it into memory: download it first`);
  const bytes = byteLength === 0 ? new Uint8Array(0) : await source.read(0, byteLength);
  return new MemorySource(bytes, source.name);
}

/** The folder behind a URL. */
export function remoteFolder(url: URL, transport: Transport): Folder {
  const folder = new URL('./', url);
  // A token in the address applies to each file.
  folder.search = url.search;
  return new HttpFolder(addressOf(folder), transport);
}

/**
 * The location of a URL whose end does not show its kind: a folder if it has a CURRENT.
 *
 * @param kindOf the kind of a file by its first and last bytes.
 */
export async function resolved(
  location: Extract<RemoteLocation, { kind: 'remote' }>,
  transport: Transport,
  kindOf: (name: string, start: Uint8Array, end: Uint8Array) => 'file' | 'log',
): Promise<RemoteLocation> {
  const asFolder = new URL(location.url);
  asFolder.pathname += '/';
  try {
    const current = await remoteFolder(asFolder, transport).open('CURRENT');
    await current?.close?.();
    if (current !== undefined) return { kind: 'remote-folder', url: asFolder };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
  }
  try {
    const kind = await kindBehind(location.url, transport, kindOf);
    return { kind: kind === 'log' ? 'remote-log' : 'remote-file', url: location.url };
  } catch (error) {
    // Opening it as a table reports the problem.
    if (!(error instanceof HttpError)) throw error;
    return { kind: 'remote-file', url: location.url };
  }
}

async function kindBehind(url: URL, transport: Transport, kindOf: Parameters<typeof resolved>[2]): Promise<'file' | 'log'> {
  const source = await HttpSource.open(addressOf(url), { ...transport, tailBytes: KIND_BYTES });
  try {
    const { byteLength } = source;
    const length = Math.min(byteLength, KIND_BYTES);
    const [end, start] = [await source.read(byteLength - length, length), await source.read(0, length)];
    return kindOf(shownName(url.href), start, end.subarray(-TABLE_END_BYTES));
  } finally {
    await source.close();
  }
}
