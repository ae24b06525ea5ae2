import type { StoredVersion, SyncDatabaseReader } from '@bloom/leveldb';
import type { ByteBuffer } from './byte-buffer.js';
import { mustNotInsist } from './folder-argument.js';
import { type GetOptions, print, valueEncoder } from './found-values.js';
import { noteDropped, withFolder } from './opened-folder.js';
import { encodeStoredVersion } from './stored-version.js';

/** Prints what a database's folder has for each key. */
export async function getFromFolder(path: string, keys: readonly Uint8Array[], texts: readonly string[], options: GetOptions): Promise<void> {
  mustNotInsist(path, options);
  await withFolder(path, options, async (database) => {
    noteDropped(path, database.describe().dropped);
    if (options.allVersions) await print(versionsOf(database), versionsEncoder(options), keys, texts);
    else await print((key) => database.get(key), valueEncoder(options), keys, texts);
  });
}

function versionsOf(database: SyncDatabaseReader): (key: Uint8Array) => StoredVersion[] | undefined {
  return (key) => {
    const versions = database.versions(key);
    return versions.length === 0 ? undefined : versions;
  };
}

function versionsEncoder({ hex }: GetOptions): (versions: readonly StoredVersion[], out: ByteBuffer) => void {
  return (versions, out) => {
    for (const version of versions) encodeStoredVersion(version, 'tsv', hex === true, out);
  };
}
