import type { SignalOptions } from '@bloom/sstable';
import { signalOf } from '@bloom/sstable/internal';
import { ClosingFiles, runClosing, useFile } from '../folder/closing-files.js';
import { readManifestName } from '../folder/current-file.js';
import { type Folder, mustBeFolder, type SyncFolder } from '../folder/folder.js';
import { type FolderReading, listFiles, runSync } from '../folder/folder-reading.js';
import { readManifest } from '../folder/manifest-file.js';
import { namesByAge } from '../format/file-name.js';

/**
 * The name of a database's comparator, even if the database cannot be opened: from the MANIFEST that CURRENT names, or else from the
 * newest one that has it. Damaged records are skipped.
 *
 * @param folder a folder that can be listed.
 * @returns undefined when no MANIFEST has the name.
 * @throws TypeError when the folder cannot be listed. Errors of the folder are passed on; damaged files cause none.
 * @example
 * ```ts
 * await comparatorName(new NodeFolder('path/to/database')); // 'leveldb.BytewiseComparator'
 * ```
 */
export async function comparatorName(folder: Folder, options?: SignalOptions): Promise<string | undefined> {
  mustBeFolder(folder, ['open', 'list']);
  const signal = signalOf('comparatorName', options);
  return runClosing(folder, (closing) => readComparatorName(folder.name, closing), signal);
}

/** The synchronous {@link comparatorName}. */
export function comparatorNameSync(folder: SyncFolder): string | undefined {
  mustBeFolder(folder, ['open', 'list']);
  return runSync(folder, readComparatorName(folder.name, new ClosingFiles()));
}

function* readComparatorName(folderName: string | undefined, closing: ClosingFiles): FolderReading<string | undefined> {
  const named = yield* readManifestName(folderName, closing);
  const others = namesByAge('manifest', yield* listFiles()).filter((name) => name !== named);
  for (const name of [...(named === undefined ? [] : [named]), ...others]) {
    const manifest = yield* useFile(name, closing, (file) => readManifest(file, name, { isStartEnough: true, onDamage: () => undefined }));
    if (manifest?.builder.comparator !== undefined) return manifest.builder.comparator;
  }
  return undefined;
}
