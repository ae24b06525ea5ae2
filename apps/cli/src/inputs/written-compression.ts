import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { deflateCodec } from '@bloom/codecs';
import type { DatabaseOptions } from '@bloom/leveldb';
import { type StoredCompression, storedCompression } from '@bloom/leveldb/inspect';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { note } from '../outputs/output.js';
import { compressionOf, type TableOptions } from '../outputs/table-options.js';
import type { Plugins } from '../plugins/plugin-options.js';

/** The compressions that Minecraft writes. It reads these and uncompressed blocks. */
const MINECRAFTS = ['zlib', 'deflate'];

/**
 * The compression of new tables in a folder: that of --compression, or undefined to keep that of the existing tables. In a Minecraft
 * world without compressed tables, for example with only a log, it is raw deflate.
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

/** Whether a folder is the database of a Minecraft world, whose parent folder has a level.dat. */
function isWorld(path: string): boolean {
  const whole = resolve(path);
  return basename(whole) === 'db' && existsSync(join(dirname(whole), 'level.dat'));
}

async function compressionIn(path: string): Promise<StoredCompression | undefined> {
  try {
    return await storedCompression(new SyncNodeFolder(path));
  } catch {
    // Opening the database reports problems, and there may be no database yet.
    return undefined;
  }
}
