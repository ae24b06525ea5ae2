/**
 * The table that a memtable becomes.
 *
 * Source: LevelDB, db/builder.cc, `BuildTable`.
 */
import type { TableBuilderOptions } from '@bloom/sstable';
import { compareInternalBytes } from '@bloom/sstable/internal';
import { Pacer } from '../folder/pacer.js';
import type { MemtableArrays, WrittenTable } from '../folder/table-thread.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import type { KeyOrder } from '../format/version.js';
import { Memtable } from '../memtable/memtable.js';
import { MemtableEntries } from '../memtable/memtable-cursor.js';
import { ENTRIES_PER_LOOK, TableFile, writeTable } from '../table/table-file.js';
import { BLOCK_FULL, blockShapeOf, DONE, KEYS_FULL, MergeKernel, NEEDS_TABLE } from './merge-kernel.js';

/** A smaller memtable is written before a kernel would have been compiled. */
const MIN_BYTES = 2 ** 14;
/** The number of blocks written between two checks of the clock. */
const BLOCKS_PER_LOOK = 8;

type Folder = Pick<WritableFolder, 'create'>;

/** Writes a memtable, which must not be empty, as a table. Of several entries with one internal key, the one added last is written. */
export async function writeFlushedTable(arrays: MemtableArrays, order: KeyOrder, folder: Folder, number: bigint, building: TableBuilderOptions): Promise<WrittenTable> {
  if (order.compareInternalKeys === compareInternalBytes && arrays.arena.length >= MIN_BYTES) {
    const written = await flushInKernel(arrays, folder, number, building);
    if (written !== undefined) return written;
  }
  return flushByEntries(arrays, order, folder, number, building);
}

/** Writes one entry at a time: works for every order of keys. */
export function flushByEntries(arrays: MemtableArrays, order: KeyOrder, folder: Folder, number: bigint, building: TableBuilderOptions): Promise<WrittenTable> {
  const entries = new MemtableEntries(Memtable.of(arrays, order.compareInternalKeys));
  return writeTable(entries, folder, number, building, new Pacer(ENTRIES_PER_LOOK));
}

/**
 * Writes the table with the kernel.
 *
 * @returns undefined when the kernel cannot write it. The file may already exist then.
 */
export async function flushInKernel(arrays: MemtableArrays, folder: Folder, number: bigint, building: TableBuilderOptions): Promise<WrittenTable | undefined> {
  const shape = blockShapeOf(building);
  const kernel = shape && (await MergeKernel.take());
  if (kernel === undefined) return undefined;
  let table: TableFile | undefined;
  try {
    if (!kernel.startWalk(arrays, shape!)) return undefined;
    const pacer = new Pacer(BLOCKS_PER_LOOK);
    for (;;) {
      switch (kernel.walk()) {
        case DONE: {
          kernel.passBlock(table!);
          const written = await table!.finish();
          table = undefined;
          return written;
        }
        case BLOCK_FULL:
          kernel.passBlock(table!);
          if (table!.isFull) await table!.drain();
          if (pacer.isDue()) await pacer.pause();
          break;
        case NEEDS_TABLE:
          table = await TableFile.create(folder, number, building);
          kernel.hasTable = true;
          break;
        case KEYS_FULL:
          kernel.passKeys(table!);
          break;
        default:
          return undefined;
      }
    }
  } finally {
    kernel.giveBack();
    await table?.abandon();
  }
}
