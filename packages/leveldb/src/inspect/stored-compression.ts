import type { SignalOptions } from '@bloom/sstable';
import { internalTableOptions } from '@bloom/sstable/database';
import { signalOf } from '@bloom/sstable/internal';
import { runClosing } from '../folder/closing-files.js';
import { type Folder, mustBeFolder } from '../folder/folder.js';
import { listFiles, runAsync } from '../folder/folder-reading.js';
import { namesByAge } from '../format/file-name.js';
import { compressionOfTables } from '../table/newest-compression.js';

/** The compression of the blocks of tables. */
export interface StoredCompression {
  /** The compression type as stored: 0 for none, 1 for Snappy; the others need codecs. */
  readonly type: number;
  /** `'none'`, `'snappy'`, `'zlib'`, `'zstd'` or `'deflate'`; for any other type, its number: `'type 7'`. */
  readonly name: string;
}

/**
 * The compression of the tables in a folder, even of one that cannot be opened: that of the newest table whose blocks need a codec, otherwise
 * Snappy if a table has that, otherwise none. It needs no codec. A few bytes of each table are read.
 *
 * @param folder one that can be listed.
 * @returns undefined if there are no tables, or all are damaged.
 * @throws TypeError when the folder cannot be listed. Errors of the folder are passed on; damaged files cause none.
 * @example
 * ```ts
 * await storedCompression(new NodeFolder('world/db')); // { type: 4, name: 'deflate' }
 * ```
 */
export async function storedCompression(folder: Folder, options?: SignalOptions): Promise<StoredCompression | undefined> {
  mustBeFolder(folder, ['open', 'list']);
  const signal = signalOf('storedCompression', options);
  const names = namesByAge('table', await runAsync(folder, listFiles(), signal));
  const found = await runClosing(folder, (closing) => compressionOfTables(names, internalTableOptions({}), closing), signal);
  return found && { type: found.type, name: found.name };
}
