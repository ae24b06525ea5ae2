import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { deflateCodec } from '@bloom/codecs';
import type { DatabaseOptions } from '@bloom/leveldb';
import { type StoredCompression, storedCompression } from '@bloom/leveldb/inspect';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { note } from '../outputs/output.js';
import { compressionOf, type TableOptions } from '../outputs/table-options.js';
import type { Plugins } from '../plugins/plugin-options.js';

/** The compressions of blocks that Minecraft writes. It reads these, and blocks that are not compressed. */
const MINECRAFTS = ['zlib', 'deflate'];

/**
 * How new tables of a folder are compressed: as --compression says; undefined for what its tables have. In a world of Minecraft's whose
 * tables do not tell, as where there is only a log, it is raw deflate.
 */
export async function writtenCompression(path: string, options: Pick<TableOptions, 'compression'>, plugins: Plugins): Promise<DatabaseOptions['compression']> {
  if (options.compression === undefined) {
    return isWorld(path) && !MINECRAFTS.includes((await compressionIn(path))?.name ?? '') ? deflateCodec : undefined;
  }
  const compression = compressionOf(options, plugins);
  const { type, name } = typeof compression === 'object' ? compression : { type: compression === 'none' ? 0 : 1, name: compression };
  if (![0, 2, 4].includes(type) && (isWorld(path) || MINECRAFTS.includes((await compressionIn(path))?.name ?? ''))) {
    note(`${path}: Minecraft cannot read tables that are compressed with ${name}: omit --compression to compress as Minecraft does`);
  }
  return compression;
}

/** Whether a folder is that of a world's database, which is beside the world's level.dat. */
function isWorld(path: string): boolean {
  const whole = resolve(path);
  return basename(whole) === 'db' && existsSync(join(dirname(whole), 'level.dat'));
}

async function compressionIn(path: string): Promise<StoredCompression | undefined> {
  try {
    return await storedCompression(new SyncNodeFolder(path));
  } catch {
    // Opening the database will report what is wrong, and there may be none yet.
    return undefined;
  }
}
