/** The entries of single files of a folder. */
import type { Folder, FolderFile, StoredEntry, SyncFolderFile } from '@bloom/leveldb';
import { storedEntries, storedEntriesSync } from '@bloom/leveldb/inspect';
import { isSync } from './opened-folder.js';

/** The entries of these files, unmerged. @param names as in the MANIFEST: a table may have the older extension `.sst`. */
export function storedIn(folder: Folder, names: readonly string[], options: Parameters<typeof storedEntries>[1]): Iterable<StoredEntry> | AsyncIterable<StoredEntry> {
  const list = (): readonly string[] => names;
  if (!isSync(folder)) return storedEntries({ name: folder.name, isRemote: true, list, open: (name) => openListed(folder, name) }, options);
  const open = (name: string): SyncFolderFile | undefined => folder.open(name) ?? folder.open(olderName(name));
  return storedEntriesSync({ name: folder.name, list, open }, options);
}

/** Opens a file by the name that the MANIFEST gives it. */
export async function openListed(folder: Folder, name: string): Promise<FolderFile | undefined> {
  return (await folder.open(name)) ?? (await folder.open(olderName(name)));
}

/** The name that older versions of LevelDB gave a table. */
export function olderName(name: string): string {
  return name.replace(/\.ldb$/, '.sst');
}
