import type { FolderOrigin } from '../database/folder-origin.js';
import type { DroppedNames } from '../session/dropped-names.js';
import { sampleUrl } from '../session/sample-url.js';

/** The origin of a file. */
export type FileOrigin =
  | { readonly kind: 'file'; readonly file: File; /** The database that it was opened out of. */ readonly folder?: FolderOrigin | undefined; /** What it is a copy of. The next copy takes its place. */ readonly copyOf?: string }
  | { readonly kind: 'url'; readonly url: string; readonly name: string };

const SAMPLE_TABLE = 'weather.ldb';

export function sampleTable(): FileOrigin {
  return { kind: 'url', url: sampleUrl(SAMPLE_TABLE), name: SAMPLE_TABLE };
}

/** The file at `url`. Text that is not a URL is kept, so that opening it fails with an error that says so. */
export function fileAt(url: string): FileOrigin {
  try {
    const { href, pathname } = new URL(url, document.baseURI);
    return { kind: 'url', url: href, name: decoded(pathname.slice(pathname.lastIndexOf('/') + 1)) || href };
  } catch {
    return { kind: 'url', url, name: url };
  }
}

/** A part of a URL as text; as it is if its escapes are not those of UTF-8. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The file that the page's own URL asks for, if the page can read it. */
export function fileFromParams(params: URLSearchParams): FileOrigin | undefined {
  if (params.has('sample')) return sampleTable();
  const url = params.get('url');
  return url === null ? undefined : fileAt(url);
}

export function paramsOfFile(params: URLSearchParams, origin: FileOrigin, dropped: DroppedNames<FileOrigin>): void {
  if (origin.kind === 'file') params.set('file', dropped.nameOf(origin.file) ?? origin.file.name);
  else if (origin.url === sampleUrl(SAMPLE_TABLE)) params.set('sample', '1');
  else params.set('url', origin.url);
}

export function isSameFile(a: FileOrigin, b: FileOrigin): boolean {
  return a.kind === 'url' && b.kind === 'url' ? a.url === b.url : a.kind === 'file' && b.kind === 'file' && a.file === b.file;
}

export function nameOfFile(origin: FileOrigin): string {
  return origin.kind === 'file' ? origin.file.name : origin.name;
}
