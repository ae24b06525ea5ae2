import type { StoredVersion, SyncDatabaseReader } from '@bloom/leveldb';
import type { ByteBuffer } from './byte-buffer.js';
import { explanationLines } from './explanation.js';
import { mustNotInsist } from './folder-argument.js';
import { type GetOptions, print, valueEncoder } from './found-values.js';
import { noteDropped, withFolder } from './opened-folder.js';
import { note } from './output.js';
import { encodeVersion } from './version.js';

/** Prints what a database's folder has for each key. */
export async function getFromFolder(path: string, keys: readonly Uint8Array[], texts: readonly string[], options: GetOptions): Promise<void> {
  mustNotInsist(path, options);
  await withFolder(path, options, async (database) => {
    noteDropped(path, database.describe().dropped);
    if (options.allVersions) await print(versionsOf(database), versionsEncoder(options), keys, texts);
    else await print(options.explain ? explained(database) : (key) => database.get(key), valueEncoder(options), keys, texts);
  });
}

/** Looks keys up, and prints to standard error how. */
function explained(database: SyncDatabaseReader): (key: Uint8Array) => Uint8Array | undefined {
  return (key) => {
    const explanation = database.explain(key);
    for (const line of explanationLines(explanation)) note(line);
    const { outcome } = explanation;
    // The same lookup again, for the error that it throws.
    if (outcome.kind === 'failed') return database.get(key);
    return outcome.kind === 'value' ? outcome.value : undefined;
  };
}

function versionsOf(database: SyncDatabaseReader): (key: Uint8Array) => StoredVersion[] | undefined {
  return (key) => {
    const versions = database.versions(key);
    return versions.length === 0 ? undefined : versions;
  };
}

function versionsEncoder({ hex }: GetOptions): (versions: readonly StoredVersion[], out: ByteBuffer) => void {
  return (versions, out) => {
    for (const version of versions) encodeVersion(version, 'tsv', hex === true, out);
  };
}
