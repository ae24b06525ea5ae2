import { type Dropped, type StoredEntry, storedEntriesSync } from '@bloom/leveldb';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { bytewiseComparator, type KeyRange } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import { Failure } from './failure.js';
import { mustNotInsist } from './folder-argument.js';
import { formats } from './format.js';
import { noteDropped, withFolder, withFolderFailures } from './opened-folder.js';
import { hasBounds, inRange, print, type ScanOptions, VERSION_REMEDIES, withMark } from './printed-entries.js';
import { encodeVersion } from './version.js';

/** Prints the entries of a database's folder. */
export async function scanFolder(path: string, range: KeyRange, options: ScanOptions): Promise<void> {
  const { format } = options;
  const hex = options.hex === true;
  mustNotInsist(path, options);
  if (options.allVersions) return scanAllVersions(path, range, options);
  await withFolder(path, options, async (database) => {
    const encode = withMark(format, hex, hex ? formats[format].encodeHex : formats[format].encode);
    try {
      await print(path, format, database.entries(range), ([key, value], out) => encode(key, value, out));
    } finally {
      noteDropped(path, database.describe().dropped);
    }
  });
}

/** Prints what each file stores. Without bounds that needs neither MANIFEST nor comparator. */
async function scanAllVersions(path: string, range: KeyRange, options: ScanOptions): Promise<void> {
  const { format, damage = 'strict' } = options;
  if (range.reverse) throw new Failure(`${path}: --all-versions prints file by file: omit --reverse`);
  if (format === 'kv') throw new Failure(`${path}: kv cannot represent sequence, type and file: omit --all-versions, or try --format jsonl`);
  let compare = (a: Uint8Array, b: Uint8Array): number => bytewiseComparator.compare(a, b);
  const scanWith = async (): Promise<void> => {
    const dropped: Dropped[] = [];
    const onDropped = (drop: Dropped): unknown => dropped.push(drop);
    const stored = storedEntriesSync(new SyncNodeFolder(path), { codecs: allCodecs, damage, onDropped });
    try {
      const entries = inRange(stored, range, ({ key }) => key, compare);
      await print(path, format, entries, (entry: StoredEntry, out) => encodeVersion(entry, format, options.hex === true, out), VERSION_REMEDIES);
    } finally {
      noteDropped(path, dropped);
    }
  };
  if (!hasBounds(range)) return withFolderFailures(path, options, scanWith);
  await withFolder(path, { damage: 'skip' }, (database) => {
    // Bounds refer to the order of the database.
    compare = (a, b) => database.compare(a, b);
    return withFolderFailures(path, options, scanWith);
  });
}
