import { BulkError, partName, type PublishedReport, readPublication, type Store, type StoredObject, verifyPublished } from '@bloom/bulk';
import { BloomFilterPolicy } from '@bloom/policy';
import type { Folder } from '@bloom/leveldb';
import { counted } from '@bloom/report';
import { CorruptionError } from '@bloom/sstable';
import type { InputOptions } from '../inputs/opened-input.js';
import { type DatabaseLocation, withDatabaseFolder } from '../inputs/opened-folder.js';
import { bucketStore, storeFailure } from '../inputs/store-argument.js';
import { printVerified, uncheckedText } from '../outputs/verification-report.js';
import { knownCodecs, knownPolicies } from '../plugins/known-plugins.js';
import { loadPlugins, type Plugins } from '../plugins/plugin-options.js';

/** What to check, and how to print it. */
export interface HowToVerify {
  /** Whether not to check the order. */
  readonly anyOrder: boolean;
  readonly asJson: boolean;
}

/** Verifies the database published in a bucket. */
export async function verifyBucket(address: string, options: InputOptions, how: HowToVerify): Promise<void> {
  await report(address, bucketStore(address, options.tracing), await loadPlugins(options), how);
}

/**
 * Verifies a folder or a URL with a published database. In addition to the checks of any database, it compares the bytes of each part
 * with its name.
 *
 * @returns false when it is another database.
 */
export async function verifyPublishedFolder(location: DatabaseLocation, options: InputOptions, how: HowToVerify): Promise<boolean> {
  return withDatabaseFolder(location, { ...options, damage: 'strict' }, async (path, folder, plugins) => {
    const store = storeOfFolder(folder);
    try {
      if ((await readPublication(store)) === undefined) return false;
    } catch (error) {
      // Damage is reported as for any database.
      if (error instanceof BulkError || error instanceof CorruptionError) return false;
      throw error;
    }
    await report(path, store, plugins, how);
    return true;
  });
}

async function report(path: string, store: Store, plugins: Plugins, { anyOrder, asJson }: HowToVerify): Promise<void> {
  const { comparator } = plugins;
  let found: PublishedReport;
  try {
    found = await verifyPublished(store, { comparator: anyOrder ? null : comparator, codecs: knownCodecs(plugins), filterPolicies: knownPolicies(plugins, [new BloomFilterPolicy()], comparator) });
  } catch (error) {
    throw storeFailure(error);
  }
  const { findings, unchecked, ...figures } = found;
  const seen = `${figures.manifest}, ${counted(figures.parts, 'part')} with ${counted(figures.entries, 'entry')}`;
  const lines = findings.map(({ file, problem, code }) => `${file}: ${problem} (${code})`);
  await printVerified({ path, seen, lines, more: 0, unchecked: uncheckedText(unchecked, anyOrder), figures: { ...figures, findings, unchecked } }, asJson);
}

/** A store that reads from a folder. It lists the published files. */
function storeOfFolder(folder: Folder): Store {
  const store: Pick<Store, 'name' | 'get' | 'list'> = {
    name: folder.name ?? 'the folder',
    async get(name, signal) {
      const file = await folder.open(name, signal);
      if (file === undefined) return undefined;
      try {
        if (file.byteLength === 0) return { bytes: new Uint8Array(0), etag: '' };
        return { bytes: new Uint8Array(await file.read(0, file.byteLength, signal)), etag: '' };
      } finally {
        await file.close?.();
      }
    },
    async *list(signal): AsyncGenerator<StoredObject, void, undefined> {
      const publication = await readPublication(store as Store, signal);
      for (const { number } of publication?.levels.flat() ?? []) {
        const name = partName(number);
        const file = await folder.open(name, signal);
        if (file === undefined) continue;
        const { byteLength } = file;
        await file.close?.();
        yield { name, byteLength, modifiedMs: 0 };
      }
    },
  };
  return store as Store;
}
