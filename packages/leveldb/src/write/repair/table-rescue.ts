/**
 * Saves the contents of one table in a repair: all entries if it is sound, otherwise those that can be found.
 *
 * Source: LevelDB, db/repair.cc, `Repairer::ScanTable` and `RepairTable`.
 */
import { UnsupportedError } from '@bloom/bytes';
import { numberOf } from '@bloom/bytes/internal';
import type { Source } from '@bloom/sstable';
import { salvagedEntries, type SalvageReport, verifyTable } from '@bloom/sstable/inspect';
import { FOOTER_LENGTH } from '@bloom/sstable/internal';
import type { SortedTable } from '../../compact/sorted-tables.js';
import type { FolderFile } from '../../folder/folder.js';
import { runAsync } from '../../folder/folder-reading.js';
import type { WritableFolder } from '../../folder/writable-folder.js';
import { databaseKeyOf } from '../../format/database-key.js';
import { SequenceRange } from '../../format/sequence-range.js';
import { Pacer } from '../../folder/pacer.js';
import { ENTRIES_PER_LOOK } from '../../table/table-file.js';
import type { Settings } from '../database-options.js';
import type { LostPlaces } from './repair-report.js';
import type { RepairedTables } from './repaired-tables.js';

const NO_KEY = new Uint8Array(0);

/**
 * Whether every block, filter and key of a table is valid and in the database's order.
 *
 * @throws UnsupportedError when it has blocks of a codec that was not given: they are not damaged.
 */
export async function isSound(name: string, source: Source, { opening }: Settings): Promise<boolean> {
  const { comparator, filterPolicies, codecs, maxBlockBytes } = opening;
  const { findings } = await verifyTable(source, { comparator, filterPolicies, codecs, maxBlockBytes });
  for (const { code, structure, offset, problem } of findings) {
    if (code === 'BLOOM_UNSUPPORTED_CODEC') throw new UnsupportedError(code, { structure, offset, file: name }, problem);
  }
  return findings.length === 0;
}

/** The first and the last key of a sound table, the number of its entries, and their sequences; undefined if a key is not an internal key. */
export async function scanTable(folder: WritableFolder, number: bigint, size: number, tables: RepairedTables): Promise<SortedTable | undefined> {
  let smallest: Uint8Array = NO_KEY;
  let largest: Uint8Array = NO_KEY;
  let entries = 0;
  const sequences = new SequenceRange();
  const pacer = new Pacer(ENTRIES_PER_LOOK);
  const cursor = tables.entriesOf([{ number, size, smallest, largest }]);
  try {
    for (let settled = cursor.seekToFirst(); ; settled = cursor.next()) {
      if (!settled) await runAsync(folder, cursor.settle());
      if (!cursor.valid) break;
      if (pacer.isDue()) await pacer.pause();
      const { keyBytes, keyStart, keyEnd } = cursor.entry;
      largest = keyBytes.slice(keyStart, keyEnd);
      if (databaseKeyOf(largest) === undefined) return undefined;
      sequences.add(largest, largest.length);
      if (entries++ === 0) smallest = largest;
    }
  } finally {
    cursor.close();
  }
  const { bounds } = sequences;
  tables.sawSequence(bounds.newest);
  return { file: { number, size, smallest, largest }, entries, ...bounds };
}

/**
 * Adds the readable entries of a damaged table to `tables`, and the unreadable and missing parts to `lost`.
 *
 * @param listedSize the number of bytes that the MANIFEST gives, if it lists the table.
 */
export async function salvageTable(
  name: string,
  file: FolderFile,
  listedSize: number | undefined,
  { opening }: Settings,
  tables: RepairedTables,
  lost: LostPlaces,
): Promise<void> {
  const { codecs, maxBlockBytes } = opening;
  const saved = salvagedEntries(file, { comparator: null, codecs, maxBlockBytes });
  let report: SalvageReport;
  let badKeys = 0;
  for (;;) {
    const step = await saved.next();
    if (step.done === true) {
      report = step.value;
      break;
    }
    const [bytes, value] = step.value;
    const key = databaseKeyOf(bytes);
    if (key === undefined) badKeys++;
    else await tables.add(key, value);
  }
  for (const { offset, byteLength, code, problem: reason } of report.lost) lost.add({ file: name, offset, byteLength, reason, code });
  lost.more += report.moreLost;
  const { byteLength } = file;
  // A file that ends between two blocks has no damaged block. A footer contains no entries, and LevelDB in Java gives whole tables sizes that are
  // 4 bytes too large. Without a size, the missing part is unknown: the table of a killed writer ends early too, and loses nothing.
  if (listedSize !== undefined && byteLength < listedSize - FOOTER_LENGTH && report.findings.some(({ code }) => code === 'BLOOM_NOT_A_TABLE')) {
    const reason = `the file ends here, but the MANIFEST says that it has ${numberOf(listedSize, 'byte')}`;
    lost.add({ file: name, offset: byteLength, byteLength: listedSize - byteLength, reason, code: 'BLOOM_TRUNCATED' });
  }
  const { entries } = report;
  if (entries === 0 && report.lost.length === 0 && byteLength > 0) {
    lost.add({ file: name, offset: 0, byteLength, reason: 'no entries can be found', code: 'BLOOM_NOT_A_TABLE' });
  }
  if (badKeys > 0) lost.add({ file: name, offset: 0, reason: `keys that are not internal keys: ${badKeys}`, code: 'BLOOM_BAD_INTERNAL_KEY' });
}
