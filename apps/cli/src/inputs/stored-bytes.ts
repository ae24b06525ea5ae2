/**
 * Counts the bytes of files that the keys of a range take. Each data block is divided among its entries by their bytes in it. Other
 * blocks, such as filters and index, are divided in proportion, so the groups of all keys together have all bytes of the files.
 */
import { varintLength } from '@bloom/bytes';
import { numberOf } from '@bloom/bytes/internal';
import { FolderError, type Folder } from '@bloom/leveldb';
import { type Codec, CorruptionError, type Source, type TableOptions, UnsupportedError } from '@bloom/sstable';
import { decodeInternalKey, internalTableOptions } from '@bloom/sstable/database';
import { DataBlocks, newTableStats, type OpenTable, readOpenTable, readRange } from '@bloom/sstable/internal';
import { inspectBlock } from '@bloom/sstable/inspect';
import { placedProblem } from '../failure.js';
import { note } from '../outputs/output.js';
import { knownCodecs } from '../plugins/known-plugins.js';
import { type DatabaseFile, fileIn } from './opened-folder.js';
import type { TableFile } from './opened-table.js';
import { type Group, type GroupSums, type OrderedGroups, SEVERAL } from './prefix-groups.js';
import { openListed, storedIn } from './stored-files.js';

/** After a stored block: the type of its compression and its checksum. */
const BLOCK_TRAILER_BYTES = 5;
/** The number of entries of a block that are processed together. */
const ENTRIES_AT_ONCE = 256;
/** Bytes of the type of an operation in a log. */
const TYPE_BYTES = 1;

/** Divides the bytes of one file among groups. */
class FileShares {
  readonly #shares = new Map<Group | undefined, number>();

  /** @param share any measure that is the same for the whole file. @param group undefined for keys that are not selected. */
  add(group: Group | undefined, share: number): void {
    this.#shares.set(group, (this.#shares.get(group) ?? 0) + share);
  }

  /** Adds the bytes of the file, each once. */
  addTo(sums: GroupSums, byteLength: number): void {
    let total = 0;
    for (const share of this.#shares.values()) total += share;
    let position = 0;
    let given = 0;
    for (const [group, share] of this.#shares) {
      position += share;
      const upTo = Math.floor((position / total) * byteLength);
      if (group !== undefined) sums.add(group, upTo - given);
      given = upTo;
    }
  }
}

/** How to read a table. */
interface BlockReading {
  readonly codecs: readonly Codec[] | undefined;
  /** Whether its keys are internal keys. */
  readonly isInternal: boolean;
  /** A key at or before all keys of the table, if known. */
  readonly first?: Uint8Array;
}

/** Adds the bytes of a table. */
export async function addTableBytes({ source, opening, isInternal }: TableFile, groups: OrderedGroups, sums: GroupSums): Promise<void> {
  await addBlocks(source, { codecs: opening.codecs, isInternal }, groups, sums);
}

/** Adds the bytes of a database: of the tables and logs that it consists of. */
export async function addDatabaseBytes({ path, database, folder, plugins }: DatabaseFile, damage: 'strict' | 'skip', groups: OrderedGroups, sums: GroupSums): Promise<void> {
  const { levels, logs } = database.describe();
  const codecs = knownCodecs(plugins);
  for (const { name, byteLength, smallest, largest } of levels.flat()) {
    const group = groups.between(smallest.userKey, largest.userKey);
    if (group === undefined) continue;
    if (group !== SEVERAL) {
      sums.add(group, byteLength);
      continue;
    }
    try {
      await withTableOf(folder, name, (source) => addBlocks(source, { codecs, isInternal: true, first: smallest.userKey }, groups, sums));
    } catch (error) {
      if (damage === 'strict' || !(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
      note(`${fileIn(path, name)}: left out: ${placedProblem(error)}`);
    }
  }
  for (const { name, byteLength } of logs) {
    const shares = new FileShares();
    // Damage in a log was reported when it was opened.
    for await (const { key, value, kind } of storedIn(folder, [name], { damage })) {
      const valueBytes = kind === 'deletion' ? 0 : varintLength(value.length) + value.length;
      shares.add(groups.of(key), TYPE_BYTES + varintLength(key.length) + key.length + valueBytes);
    }
    shares.addTo(sums, byteLength);
  }
}

async function withTableOf(folder: Folder, name: string, work: (source: Source) => Promise<void>): Promise<void> {
  const file = await openListed(folder, name);
  if (file === undefined) throw new FolderError('BLOOM_FOLDER_CHANGED', `${name} is gone`, { file: name });
  try {
    await work(file);
  } finally {
    await file.close?.();
  }
}

/** Adds the bytes of the blocks of a table. Blocks whose keys are all in one group according to the index are not read. */
async function addBlocks(source: Source, { codecs, isInternal, first }: BlockReading, groups: OrderedGroups, sums: GroupSums): Promise<void> {
  const userKeyOf = (key: Uint8Array): Uint8Array | undefined => (isInternal ? decodeInternalKey(key)?.userKey : key);
  const plain: TableOptions = { codecs, filters: 'never', filterPolicies: [] };
  const table = await opened(source, isInternal ? internalTableOptions(plain) : plain);
  const { index, file } = table;
  const blocks = new DataBlocks(table, null, newTableStats(0));
  const shares = new FileShares();
  let before = first;
  for (let i = 0; i < index.length; i++) {
    const { offset, length } = blocks.rangeOf(i);
    const last = userKeyOf(index.separatorOf(i))!.slice();
    const group = groups.between(before, last);
    before = last;
    if (group !== SEVERAL) {
      shares.add(group, length);
      continue;
    }
    const block = await inspectBlock(source, 'data block', { offset, size: length - BLOCK_TRAILER_BYTES }, { codecs });
    const place = { structure: 'data block', offset, file } as const;
    // The usual decoder throws the error for a damaged block.
    if (block.problem !== undefined) blocks.decode(i, await readRange(source, { offset, length }));
    if (block.entryProblem !== undefined) throw new CorruptionError('BLOOM_BAD_BLOCK', place, block.entryProblem.problem);
    for (let from = 0; from < block.entryCount; from += ENTRIES_AT_ONCE) {
      // One more entry, whose start is the end of the last one.
      const entries = block.entries(from, from + ENTRIES_AT_ONCE + 1);
      for (let n = 0; n < Math.min(ENTRIES_AT_ONCE, entries.length); n++) {
        const { key, offset: start } = entries[n]!;
        const userKey = userKeyOf(key);
        if (userKey === undefined) throw new CorruptionError('BLOOM_BAD_INTERNAL_KEY', place, `a key of ${numberOf(key.length, 'byte')} is too short for an internal key`);
        shares.add(groups.of(userKey), (((entries[n + 1]?.offset ?? block.entriesEnd) - start) / block.entriesEnd) * length);
      }
    }
  }
  shares.addTo(sums, source.byteLength);
}

async function opened(source: Source, options: TableOptions): Promise<OpenTable> {
  const reading = readOpenTable(source, options);
  let step = reading.next();
  while (step.done !== true) step = reading.next(await readRange(source, step.value));
  return step.value;
}
