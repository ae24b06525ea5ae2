import type { TableOptions } from '@bloom/sstable';
import { NO_COMPRESSION, SNAPPY_TYPE } from '@bloom/sstable/internal';
import { type ClosingFiles, useFile } from '../folder/closing-files.js';
import type { FolderReading } from '../folder/folder-reading.js';
import { dataBlockCompression, tableCompression, type TableCompression } from './table-compression.js';

/**
 * The compression of the newest table whose blocks are compressed by a codec, or else Snappy, or else none.
 *
 * @param names the names of tables, the newest first.
 * @param closing closes the files.
 * @returns undefined when no table has a known compression.
 */
export function* compressionOfTables(names: readonly string[], options: TableOptions, closing: ClosingFiles): FolderReading<TableCompression | undefined> {
  let known: TableCompression | undefined;
  for (const look of [tableCompression, dataBlockCompression]) {
    for (const name of names) {
      const found = yield* useFile(name, closing, (file) => look(file, options));
      if (found !== undefined && found.type > SNAPPY_TYPE) return found;
      if (found !== undefined && (known === undefined || found.type > known.type)) known = found;
    }
    // One compressed block is enough.
    if (known !== undefined && known.type !== NO_COMPRESSION) return known;
  }
  return known;
}
