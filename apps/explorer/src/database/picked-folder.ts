import { type FileLike, FileListFolder } from '@bloom/leveldb/browser';

/** A folder of files without their paths, because the page has already chosen the folder. */
export function pickedFolder(files: readonly File[]): FileListFolder {
  return new FileListFolder(files.map((file): FileLike => ({ name: file.name, size: file.size, slice: (start, end) => file.slice(start, end) })));
}
