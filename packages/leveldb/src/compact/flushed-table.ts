/**
 * The table that a memtable becomes.
 *
 * Source: LevelDB, db/builder.cc, `BuildTable`.
 */
import type { TableBuilderOptions } from '@bloom/sstable';
import { Pacer } from '../folder/pacer.js';
import type { MemtableArrays, WrittenTable } from '../folder/table-thread.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import type { KeyOrder } from '../format/version.js';
import { Memtable } from '../memtable/memtable.js';
import { MemtableEntries } from '../memtable/memtable-cursor.js';
import { ENTRIES_PER_LOOK, writeTable } from '../table/table-file.js';
import { kernelWork } from './load-kernel-work.js';

type Folder = Pick<WritableFolder, 'create'>;

/** Writes a memtable, which must not be empty, as a table. Of several entries with one internal key, the one added last is written. */
export async function writeFlushedTable(arrays: MemtableArrays, order: KeyOrder, folder: Folder, number: bigint, building: TableBuilderOptions): Promise<WrittenTable> {
  const inKernel = await kernelWork(order, arrays.arena.length);
  return (await inKernel?.flushInKernel(arrays, folder, number, building)) ?? flushByEntries(arrays, order, folder, number, building);
}

/** Writes one entry at a time: works for every order of keys. */
export function flushByEntries(arrays: MemtableArrays, order: KeyOrder, folder: Folder, number: bigint, building: TableBuilderOptions): Promise<WrittenTable> {
  const entries = new MemtableEntries(Memtable.of(arrays, order.compareInternalKeys));
  return writeTable(entries, folder, number, building, new Pacer(ENTRIES_PER_LOOK));
}
