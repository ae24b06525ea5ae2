import type { SignalOptions } from '@bloom/sstable';
import { signalOf } from '@bloom/sstable/internal';
import { runClosing } from '../folder/closing-files.js';
import { type Folder, mustBeFolder } from '../folder/folder.js';
import { readForeignEngine } from '../folder/detect-foreign-engine.js';
import type { ForeignEngine } from '../format/engine-evidence.js';

/**
 * The engine that wrote a folder's database, if it is not LevelDB: RocksDB, Pebble, Badger or Riak, or Minecraft's Marketplace, which encrypts
 * databases.
 *
 * Riak's is known by the folders of its tables, `sst_0` to `sst_6`. Otherwise the bytes of files decide, not their names: the header of encrypted files, the version in an OPTIONS file, tags of the MANIFEST and
 * types of log records that LevelDB does not have, or magic numbers of tables. A LevelDB folder stays one if it contains a file that is
 * named like another engine's, or another engine's table that its MANIFEST does not list.
 *
 * `Database.open`, `Database.repair` and `Database.destroy` refuse such a folder with an `UnsupportedError` `BLOOM_UNSUPPORTED_FORMAT`.
 *
 * @param folder a folder that can be listed.
 * @returns undefined for a LevelDB folder, and for one without such evidence.
 * @throws TypeError when the folder cannot be listed. Errors of the folder are passed on; damaged files cause none.
 * @example
 * ```ts
 * const engine = await foreignEngine(new NodeFolder('path/to/database'));
 * if (engine !== undefined) console.log(`it ${engine.text}`);
 * ```
 */
export async function foreignEngine(folder: Folder, options?: SignalOptions): Promise<ForeignEngine | undefined> {
  mustBeFolder(folder, ['open', 'list']);
  const signal = signalOf('foreignEngine', options);
  return runClosing(folder, (closing) => readForeignEngine({ name: folder.name, canList: true }, closing), signal);
}
