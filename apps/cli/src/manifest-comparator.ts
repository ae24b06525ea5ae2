import { CorruptionError, decodeVersionEdit, parseFileName } from '@bloom/leveldb';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { readLog } from '@bloom/log';

/** More than the name of any file. */
const MAX_NAME_BYTES = 4096;
/** A MANIFEST is read into memory whole. A larger file that CURRENT names is not taken for one. */
const MAX_MANIFEST_BYTES = 2 ** 30;

/**
 * The name of the comparator of a database that cannot be opened: from the MANIFEST that CURRENT names, or else from the
 * newest one that has it. Undefined if none does.
 */
export function comparatorNameOf(path: string): string | undefined {
  const folder = new SyncNodeFolder(path);
  const named = contentsOf(folder, 'CURRENT', MAX_NAME_BYTES)?.toString('utf8').trimEnd();
  for (const manifest of [...(named === undefined ? [] : [named]), ...manifestsOf(folder)]) {
    const bytes = contentsOf(folder, manifest, MAX_MANIFEST_BYTES);
    const name = bytes && comparatorNameIn(bytes);
    if (name !== undefined) return name;
  }
  return undefined;
}

/** The names of a folder's MANIFESTs, newest first. */
function manifestsOf(folder: SyncNodeFolder): string[] {
  const found: { readonly name: string; readonly number: bigint }[] = [];
  for (const name of folder.list()) {
    const file = parseFileName(name);
    if (file?.type === 'manifest') found.push({ name, number: file.number });
  }
  return found.sort((a, b) => (a.number < b.number ? 1 : -1)).map(({ name }) => name);
}

function comparatorNameIn(manifest: Uint8Array): string | undefined {
  for (const { bytes, offset } of readLog(manifest).records) {
    try {
      const { comparator } = decodeVersionEdit(bytes, { structure: 'version edit', offset });
      if (comparator !== undefined) return comparator;
    } catch (error) {
      // A damaged edit hides its own fields only.
      if (!(error instanceof CorruptionError)) throw error;
    }
  }
  return undefined;
}

/** What is in a file; undefined if there is none, or if it has more than `maxBytes`. */
function contentsOf(folder: SyncNodeFolder, name: string, maxBytes: number): Buffer | undefined {
  const file = folder.open(name);
  if (file === undefined) return undefined;
  try {
    return file.byteLength > maxBytes ? undefined : Buffer.from(file.read(0, file.byteLength));
  } finally {
    file.close?.();
  }
}
