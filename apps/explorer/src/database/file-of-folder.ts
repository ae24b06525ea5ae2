import type { FileOrigin } from '../table/file-origin.js';
import { folderAt, type FolderOrigin } from './folder-origin.js';

/** A file of the folder; undefined if there is none. */
export function fileOfFolder(origin: FolderOrigin, name: string): FileOrigin | undefined {
  if (origin.kind === 'url') return { kind: 'url', url: new URL(name, origin.url).href, name };
  const file = origin.files.find((candidate) => candidate.name === name) ?? origin.files.find((candidate) => candidate.name === name.replace(/\.ldb$/, '.sst'));
  return file && { kind: 'file', file, folder: origin };
}

/** The folder that a file belongs to, if it is known: for a file on a server, by its numbered name. */
export function folderOfFile(origin: FileOrigin): FolderOrigin | undefined {
  if (origin.kind === 'file') return origin.folder;
  return /^(\d{6,}\.(ldb|sst|log)|MANIFEST-\d{6,})$/.test(origin.name) ? folderAt(new URL('.', origin.url).href) : undefined;
}
