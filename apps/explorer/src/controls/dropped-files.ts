/** A file that was dropped or picked. */
export interface DroppedFile {
  /** The path from the dropped folder, whose name comes first; the name of a single file. */
  readonly path: string;
  readonly file: File;
}

/** The depth to which dropped folders are searched. */
const MAX_DEPTH = 8;
/** The most names that are read, because a whole disk may be dropped. */
const MAX_NAMES = 100_000;

/** Dropped files, and, for folders, a way to list them again, because a running program changes them. */
export interface Dropped {
  readonly files: readonly DroppedFile[];
  readonly again: (() => Promise<readonly DroppedFile[]>) | undefined;
}

/** The dropped files: all single files; from folders, those named like files of LevelDB or of similar engines, and blobs of IndexedDB. */
export async function droppedFiles(transfer: DataTransfer): Promise<Dropped> {
  // Entries must be read before the event ends.
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  if (!entries.some(({ isDirectory }) => isDirectory)) return { files: Array.from(transfer.files, (file) => ({ path: file.name, file })), again: undefined };
  const list = (): Promise<DroppedFile[]> => filesOf(entries);
  return { files: await list(), again: list };
}

async function filesOf(entries: readonly FileSystemEntry[]): Promise<DroppedFile[]> {
  // Loaded when a folder is dropped, because the first view does not need it.
  const [{ parseFileName }, { isForeignName }, { isInBlobFolder }] = await Promise.all([import('@bloom/leveldb'), import('@bloom/leveldb/inspect'), import('@bloom/web-storage')]);
  const found: DroppedFile[] = [];
  let level: readonly FileSystemEntry[] = entries;
  let names = 0;
  for (let depth = 0; level.length > 0 && depth <= MAX_DEPTH && names < MAX_NAMES; depth++) {
    const next: FileSystemEntry[] = [];
    for (const entry of level) {
      if (entry.isFile) {
        if (depth > 0 && parseFileName(entry.name) === undefined && !isForeignName(entry.name) && !isInBlobFolder(entry.fullPath)) continue;
        const file = await fileOf(entry as FileSystemFileEntry);
        if (file !== undefined) found.push({ path: entry.fullPath.replace(/^\//, ''), file });
      } else {
        const inner = await entriesOf(entry as FileSystemDirectoryEntry);
        names += inner.length;
        next.push(...inner);
      }
    }
    level = next;
  }
  return found;
}

/** The files of a file input. */
export function pickedFiles(files: Iterable<File>): DroppedFile[] {
  return Array.from(files, (file) => ({ path: file.webkitRelativePath || file.name, file }));
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
