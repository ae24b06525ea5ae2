import { statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { SyncSource } from '@bloom/sstable';
import { Failure, isSystemError, shownUrl } from '../failure.js';

/** Standard input in messages. */
export const STANDARD_INPUT = 'standard input';

/** The kind of thing that an argument of a reading command names. */
export type Location =
  /** A table according to its name. Its contents are checked when it is opened. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'pipe'; readonly path: string }
  | { readonly kind: 'log'; readonly path: string }
  | { readonly kind: 'stdin' }
  /** The contents of standard input or a pipe. */
  | { readonly kind: 'memory'; readonly path: string; readonly source: SyncSource }
  | { readonly kind: 'memory-log'; readonly path: string; readonly source: SyncSource }
  /**
   * A database. `current` is a MANIFEST to read instead of the one that CURRENT names. `file` is the file that was given instead
   * of its folder.
   */
  | { readonly kind: 'folder'; readonly path: string; readonly current?: string; readonly file?: string }
  /** A database behind `s3://BUCKET/PREFIX`. */
  | { readonly kind: 'bucket'; readonly address: string }
  | RemoteLocation;

export type RemoteLocation =
  | { readonly kind: 'remote-file'; readonly url: URL }
  | { readonly kind: 'remote-log'; readonly url: URL }
  | { readonly kind: 'remote-folder'; readonly url: URL; readonly current?: string; readonly file?: string }
  /** A URL whose end does not show its kind: it is a folder if it has a CURRENT. */
  | { readonly kind: 'remote'; readonly url: URL };

/** The location of a path or URL. A path that does not exist is treated as a file: opening it reports the error. */
export function locate(path: string): Location {
  if (path === '-') return { kind: 'stdin' };
  if (/^https?:/i.test(path)) return locateRemote(path);
  const stat = statOf(path);
  if (stat?.isDirectory() === true) return { kind: 'folder', path };
  if (stat === undefined && /^s3:\/\//i.test(path)) {
    // Empty for a bucket without a prefix, and after a slash at the end, which says that it is a folder.
    const name = path.split('/').slice(3).at(-1) ?? '';
    if (name === 'CURRENT' || isManifest(name) || isLog(name) || /\.(?:ldb|sst)$/.test(name)) {
      throw new Failure(`${shownUrl(path)}: s3:// names a whole database, not a file in it: pass s3://BUCKET/PREFIX, or the file's https:// address if it is public`);
    }
    return { kind: 'bucket', address: path };
  }
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
  const name = decoded(url.pathname.split('/').at(-1)!);
  if (name === '') return { kind: 'remote-folder', url };
  if (isManifest(name)) return { kind: 'remote-folder', url: new URL('./', url), current: name, file: name };
  if (name === 'CURRENT') return { kind: 'remote-folder', url: new URL('./', url), file: name };
  if (isLog(name)) return { kind: 'remote-log', url };
  return { kind: /\.(?:ldb|sst)$/.test(name) ? 'remote-file' : 'remote', url };
}

/** Without percent-encoding; as it is where a percent sign stands for itself. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The name of an input in messages. Secrets in a URL are left out. */
export function shownName(path: string): string {
  if (path === '-') return STANDARD_INPUT;
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

// LevelDB's file names (db/filename.cc). The parser of @bloom/leveldb is not loaded for this, because most runs for a table do not need it.
function isManifest(name: string): boolean {
  return /^MANIFEST-\d+$/.test(name);
}

function isLog(name: string): boolean {
  return /^\d+\.log$/.test(name);
}
