import type { SignalOptions } from '@bloom/sstable';
import { signalOf } from '@bloom/sstable/internal';
import { ClosingFiles } from '../folder/closing-files.js';
import { type Folder, mustBeFolder } from '../folder/folder.js';
import { runAsync } from '../folder/folder-reading.js';
import { readForeignEngine } from '../folder/foreign-engine.js';
import type { ForeignEngine } from '../format/foreign-engine.js';

/**
 * Whose database a folder is, if not LevelDB's: that of RocksDB, Pebble or Badger, or one that Minecraft's Marketplace encrypted.
 *
 * The bytes of files decide, not their names: the header of encrypted files, the version in an OPTIONS file, tags of the MANIFEST and
 * types of log records that LevelDB does not have, or magic numbers of tables. A folder of LevelDB's with a file of another engine's name
 * in it remains one of LevelDB's, and so does one with another engine's table that its MANIFEST does not list.
 *
 * `Database.open`, `Database.repair` and `Database.destroy` refuse such a folder with an `UnsupportedError` `BLOOM_UNSUPPORTED_FORMAT`.
 *
 * @param folder one that can be listed.
 * @returns undefined for a folder of LevelDB's, and for one without such evidence.
 * @throws TypeError when the folder cannot be listed; else what the folder throws, never for the bytes of its files.
 * @example
 * ```ts
 * const engine = await foreignEngine(new NodeFolder('path/to/database'));
 * if (engine !== undefined) console.log(`it ${engine.text}`);
 * ```
 */
export async function foreignEngine(folder: Folder, options?: SignalOptions): Promise<ForeignEngine | undefined> {
  mustBeFolder(folder, ['open', 'list']);
  const signal = signalOf('foreignEngine', options);
  const closing = new ClosingFiles();
  try {
    return await runAsync(folder, readForeignEngine({ name: folder.name, canList: true }, closing), signal);
  } finally {
    await closing.settled();
  }
}
