import { type DroppedFile, filesByFolder } from '../controls/dropped-files.js';
import type { DroppedNames } from '../session/dropped-names.js';
import { SAMPLE_DATABASE_FILES, sampleUrl } from '../session/sample-url.js';

/** The origin of a folder. */
export type FolderOrigin = (
  | { readonly kind: 'files'; readonly name: string; readonly files: readonly File[]; /** What it is a copy of. The next copy takes its place. */ readonly copyOf?: string }
  | { readonly kind: 'url'; readonly name: string; readonly url: string; /** The names of the files, if they are known. */ readonly files?: readonly string[] }
) & {
  /** Whether to read keys in bytewise order, although the database has another order, which the page does not know. */
  readonly isForcedBytewise?: boolean | undefined;
  /** Whether to read the database although tables are missing. */
  readonly hasGaps?: boolean | undefined;
};

const SAMPLE_NAME = 'weather database';

export function sampleDatabase(): FolderOrigin {
  return { kind: 'url', name: SAMPLE_NAME, url: sampleUrl('database/'), files: SAMPLE_DATABASE_FILES };
}

/** The databases among dropped or picked files: one for each CURRENT, or one of all files if there is no CURRENT. */
export function droppedFolders(dropped: readonly DroppedFile[]): FolderOrigin[] {
  const folders = filesByFolder(dropped);
  const databases = [...folders].filter(([, files]) => files.some(({ name }) => name === 'CURRENT'));
  // Without CURRENT, opening reports the missing file.
  const chosen = databases.length > 0 ? databases : [...folders].sort(([, a], [, b]) => b.length - a.length).slice(0, 1);
  return chosen.map(([path, files]) => ({ kind: 'files', name: (chosen.length > 1 ? path : path.split('/').at(-1)!) || 'dropped folder', files }));
}

/** The folder at `url`. Text that is not a URL is kept, so that opening it fails with an error that says so. */
export function folderAt(url: string): FolderOrigin {
  try {
    const { href } = new URL(url.endsWith('/') ? url : `${url}/`, document.baseURI);
    const sample = sampleDatabase();
    return sample.kind === 'url' && sample.url === href ? sample : { kind: 'url', name: href, url: href };
  } catch {
    return { kind: 'url', name: url, url };
  }
}

/**
 * The folder that the page's own URL asks for, if the page can read it.
 *
 * `#/database?url=FOLDER` and `#/lookup?url=FOLDER` open a folder over HTTP, at an absolute URL or one relative to the page, and
 * `#/table?url=FILE` opens a table, log or MANIFEST. The server only has to respond to GET with the files by their names: CURRENT names
 * the MANIFEST, which names the tables, and the page tries the numbers that logs may have. It needs no listing. A server of another
 * origin must allow the page's requests (CORS).
 */
export function folderFromParams(params: URLSearchParams): FolderOrigin | undefined {
  const url = params.get('url');
  const folder = params.has('sample') ? sampleDatabase() : url === null ? undefined : folderAt(url);
  return folder && params.get('order') === 'bytewise' ? { ...folder, isForcedBytewise: true } : folder;
}

export function paramsOfFolder(params: URLSearchParams, origin: FolderOrigin, dropped: DroppedNames<FolderOrigin>): void {
  if (origin.kind === 'files') params.set('folder', dropped.nameOf(origin.files) ?? origin.name);
  else if (origin.name === SAMPLE_NAME) params.set('sample', '1');
  else params.set('url', origin.url);
  if (origin.isForcedBytewise === true) params.set('order', 'bytewise');
}

export function isSameFolder(a: FolderOrigin, b: FolderOrigin): boolean {
  if (a.isForcedBytewise !== b.isForcedBytewise || a.hasGaps !== b.hasGaps) return false;
  return a.kind === 'url' && b.kind === 'url' ? a.url === b.url : a.kind === 'files' && b.kind === 'files' && a.files === b.files;
}
