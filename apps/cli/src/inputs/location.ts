import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { SyncSource } from '@bloom/sstable';
import { Failure, isSystemError, urlProblem } from '../failure.js';

/** What an argument of a reading command names. */
export type Location =
  /** A table, as far as its name says: what is in it shows when it is opened. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'pipe'; readonly path: string }
  | { readonly kind: 'log'; readonly path: string }
  | { readonly kind: 'stdin' }
  /** What was read from standard input or a pipe. */
  | { readonly kind: 'memory'; readonly path: string; readonly source: SyncSource }
  | { readonly kind: 'memory-log'; readonly path: string; readonly source: SyncSource }
  /**
   * A database; `current` is a MANIFEST to read instead of the one that CURRENT names, and `file` the file that was named and
   * stands for its folder.
   */
  | { readonly kind: 'folder'; readonly path: string; readonly current?: string; readonly file?: string }
  | RemoteLocation;

export type RemoteLocation =
  | { readonly kind: 'remote-file'; readonly url: URL }
  | { readonly kind: 'remote-log'; readonly url: URL }
  | { readonly kind: 'remote-folder'; readonly url: URL; readonly current?: string; readonly file?: string }
  /** A URL whose end says nothing: a folder if there is a CURRENT in it. */
  | { readonly kind: 'remote'; readonly url: URL };

/** What the path or URL names. A path where nothing is counts as that of a file, whose opening says what is wrong. */
export function locate(path: string): Location {
  if (path === '-') return { kind: 'stdin' };
  if (/^https?:/i.test(path)) return locateRemote(path);
  const stat = statOf(path);
  if (stat?.isDirectory() === true) return { kind: 'folder', path };
  if (stat === undefined && /^s3:\/\//i.test(path)) throw new Failure(urlProblem(path));
  if (stat === undefined) return { kind: 'file', path };
  if (!stat.isFile()) return { kind: 'pipe', path };
  const name = basename(path);
  if (isManifest(name)) return { kind: 'folder', path: dirname(path), current: name, file: name };
  if (name === 'CURRENT') return { kind: 'folder', path: dirname(path), file: name };
  return { kind: isLog(name) ? 'log' : 'file', path };
}

function locateRemote(path: string): RemoteLocation {
  if (!URL.canParse(path)) throw new Failure(`${path.replace(/(?<=^https?:\/\/)[^/]*@|[?#].*$/gis, '')}: is not a valid URL: use http:// or https:// with a host`);
  const url = new URL(path);
  const name = decodeURIComponent(url.pathname.split('/').at(-1)!);
  if (name === '') return { kind: 'remote-folder', url };
  if (isManifest(name)) return { kind: 'remote-folder', url: new URL('./', url), current: name, file: name };
  if (name === 'CURRENT') return { kind: 'remote-folder', url: new URL('./', url), file: name };
  if (isLog(name)) return { kind: 'remote-log', url };
  return { kind: /\.(?:ldb|sst)$/.test(name) ? 'remote-file' : 'remote', url };
}

/** The name of what is read, in messages: a URL without what may be secret in it. */
export function shownName(path: string): string {
  if (path === '-') return 'standard input';
  if (!/^https?:/i.test(path) || !URL.canParse(path)) return path;
  const { origin, pathname } = new URL(path);
  return origin + pathname;
}

function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (isSystemError(error)) return undefined;
    throw error;
  }
}

// As LevelDB names them (db/filename.cc); not by its parser, which most runs of `bloom` for a table do not need.
function isManifest(name: string): boolean {
  return /^MANIFEST-\d+$/.test(name);
}

function isLog(name: string): boolean {
  return /^\d+\.log$/.test(name);
}
