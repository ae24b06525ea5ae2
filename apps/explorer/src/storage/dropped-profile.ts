import { blobFolderOf, isInBlobFolder, kindOfFolder } from '@bloom/web-storage';
import { type Dropped, type DroppedFile, filesByFolder } from '../controls/dropped-files.js';
import type { ProfileFolder, ProfileOrigin } from './profile-origin.js';

/** The LevelDB folders among dropped or picked files: one for each CURRENT. */
export function profileOf(dropped: readonly DroppedFile[], again?: Dropped['again'], unread = 0): ProfileOrigin {
  const byFolder = filesByFolder(dropped);
  const paths = [...byFolder].filter(([, files]) => files.some(({ name }) => name === 'CURRENT')).map(([path]) => path);
  const blobs = new Map<string, [string, File][]>(paths.flatMap((path) => (blobFolderOf(path) === undefined ? [] : [[blobFolderOf(path)!, []]])));
  for (const { path, file } of dropped) {
    if (!isInBlobFolder(path)) continue;
    const end = /\.blob\//u.exec(path)!;
    const start = end.index + end[0].length;
    blobs.get(path.slice(0, start - 1))?.push([path.slice(start), file]);
  }
  const root = commonFolder(paths);
  const folders = paths
    .map((path) => ({ path: path.slice(root.length).replace(/^\//u, ''), files: byFolder.get(path)!, blobs: blobs.get(blobFolderOf(path) ?? '') ?? [] }))
    .sort((a, b) => orderOf(a) - orderOf(b) || (a.path < b.path ? -1 : 1));
  const name = root.slice(root.lastIndexOf('/') + 1) || (paths.length > 1 ? 'dropped folders' : paths[0]!) || 'dropped folder';
  return { name, folders, unread, again };
}

/** Whether the paths show that a browser wrote the folders. */
export function isOfBrowser({ folders, name }: ProfileOrigin): boolean {
  return folders.some(({ path }) => kindOfFolder(path === '' ? name : path).storage !== undefined);
}

const ORDER = ['indexeddb', 'local-storage', 'session-storage', undefined];

function orderOf({ path }: ProfileFolder): number {
  return ORDER.indexOf(kindOfFolder(path).storage);
}

/** The common parent folder. For a single folder, the folder whose name shows its kind. */
function commonFolder(paths: readonly string[]): string {
  const [first = ''] = paths;
  // The names of these folders show their kind only together with the parent.
  const depth = paths.length > 1 ? first.lastIndexOf('/') : kindOfFolder(first).storage === undefined ? first.length : first.indexOf('/');
  let root = first.slice(0, Math.max(0, depth));
  while (root !== '' && !paths.every((path) => path === root || path.startsWith(`${root}/`))) root = root.slice(0, Math.max(0, root.lastIndexOf('/')));
  return root;
}
