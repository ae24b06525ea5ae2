import type { TableBuilderOptions } from '@bloom/sstable';
import { Pacer } from '../folder/pacer.js';
import type { MemtableArrays, WrittenTable } from '../folder/table-thread.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { TableFile } from '../table/table-file.js';
import { BLOCK_FULL, blockShapeOf, DONE, KEYS_FULL, MergeKernel, NEEDS_TABLE } from './merge-kernel.js';

/** The number of blocks written between two checks of the clock. */
const BLOCKS_PER_LOOK = 8;

/**
 * Writes a memtable, which is in bytewise order and must not be empty, as a table.
 *
 * @returns undefined when the kernel cannot write it. The file may already exist then.
 */
export async function flushInKernel(arrays: MemtableArrays, folder: Pick<WritableFolder, 'create'>, number: bigint, building: TableBuilderOptions): Promise<WrittenTable | undefined> {
  const shape = blockShapeOf(building);
  const kernel = shape && MergeKernel.take();
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
