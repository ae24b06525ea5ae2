/** A file that was dropped or picked. */
export interface DroppedFile {
  /** The path from the dropped folder, whose name comes first; the name of a single file. */
  readonly path: string;
  readonly file: File;
}

/** The depth to which dropped folders are searched. */
const MAX_DEPTH = 8;
/** No deeper folders are listed once so many names were read, because a whole disk may be dropped. */
const MAX_NAMES = 100_000;

/** Dropped files, and, for folders, a way to list them again, because a running program changes them. */
export interface Dropped extends FoundFiles {
  /** The name of the first dropped folder or file. */
  readonly name: string;
  readonly again: (() => Promise<FoundFiles>) | undefined;
}

/** The files in dropped folders. */
export interface FoundFiles {
  readonly files: readonly DroppedFile[];
  /** The number of folders and files that the browser refused to read, and of folders beyond the limit. */
  readonly unread: number;
}

/** The dropped files: all single files; from folders, those that {@link wantedInFolders} chooses. */
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped> {
  // Entries must be read before the event ends.
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const name = entries[0]?.name ?? '';
  if (!entries.some(({ isDirectory }) => isDirectory)) return { name, files: Array.from(transfer.files, (file) => ({ path: file.name, file })), unread: 0, again: undefined };
  const list = (): Promise<FoundFiles> => filesOf(entries);
  return { name, ...(await list()), again: list };
}

async function filesOf(entries: readonly FileSystemEntry[]): Promise<FoundFiles> {
  const isWanted = await wantedInFolders();
  const found: DroppedFile[] = [];
  let level: readonly FileSystemEntry[] = entries;
  let names = 0;
  let unread = 0;
  for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH; depth++) {
    const next: FileSystemEntry[] = [];
    const isFull = names >= MAX_NAMES;
    for (const entry of level) {
      if (entry.isFile) {
        if (depth > 0 && !isWanted(entry.name, entry.fullPath)) continue;
        try {
          const file = await fileOf(entry as FileSystemFileEntry);
          if (file !== undefined) found.push({ path: entry.fullPath.replace(/^\//, ''), file });
        } catch {
          unread++;
        }
      } else if (isFull) unread++;
      else {
        try {
          const inner = await entriesOf(entry as FileSystemDirectoryEntry);
          names += inner.length;
          for (const each of inner) next.push(each);
        } catch {
          unread++;
        }
      }
    }
    level = next;
  }
  return { files: found, unread };
}

/** Files by the path of their folder. */
export function filesByFolder(dropped: readonly DroppedFile[]): Map<string, File[]> {
  const folders = new Map<string, File[]>();
  for (const { path, file } of dropped) {
    const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const files = folders.get(folder);
    if (files === undefined) folders.set(folder, [file]);
    else files.push(file);
  }
  return folders;
}

/** The files of a file input: a single one, or those of a folder, as if it had been dropped. */
export async function pickedFiles(picked: readonly File[]): Promise<Dropped> {
  const all = picked.map((file) => ({ path: file.webkitRelativePath || file.name, file }));
  const name = all[0]?.path.split('/')[0] ?? '';
  if (!all.some(({ path }) => path.includes('/'))) return { name, files: all, unread: 0, again: undefined };
  // Sending all files of a profile to a worker would take seconds.
  const isWanted = await wantedInFolders();
  return { name, files: all.filter(({ path, file }) => isWanted(file.name, path)), unread: 0, again: undefined };
}

/** Chooses the files of folders that are opened: tables, files named like those of LevelDB or of similar engines, and blobs of IndexedDB. */
async function wantedInFolders(): Promise<(name: string, path: string) => boolean> {
  // Loaded when a folder is opened, because the first view does not need it.
  const [{ parseFileName }, { isForeignName }, { isInBlobFolder }] = await Promise.all([import('@bloom/leveldb'), import('@bloom/leveldb/inspect'), import('@bloom/web-storage')]);
  return (name, path) => /\.(?:ldb|sst)$/u.test(name) || parseFileName(name) !== undefined || isForeignName(name) || isInBlobFolder(path);
}

/** A file; undefined if a running program has deleted it after it was listed. */
function fileOf(entry: FileSystemFileEntry): Promise<File | undefined> {
  return new Promise((resolve, reject) => entry.file(resolve, (error) => (error.name === 'NotFoundError' ? resolve(undefined) : reject(error))));
}

async function entriesOf(directory: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = directory.createReader();
  const entries: FileSystemEntry[] = [];
  for (;;) {
    // It returns about a hundred at a time.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return entries;
    entries.push(...some);
  }
}
