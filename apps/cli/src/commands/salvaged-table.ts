import type { TableBuilderOptions } from '@bloom/sstable';
import { writeTable } from '@bloom/sstable/node';
import { deliverSignals, interruptible } from '../interruption.js';
import { writingFailure } from '../outputs/writable-output.js';

type Entries = AsyncGenerator<readonly [Uint8Array, Uint8Array], void, undefined>;

/** The table to which the saved entries of an input are written. */
export interface SalvagedTable {
  /** The table that the user named. */
  readonly output: string;
  /** The file that is written: the output, or a part of it. */
  readonly path: string;
  /** Called when the file has been written. A signal ends the program only after it. */
  readonly onWritten?: () => Promise<void>;
}

/** Thrown to end the writing of a table that would have no entries: no file is created. */
export class NothingSaved extends Error {
  override readonly name = 'NothingSaved';
}

/** Writes the entries, completely or not at all. @throws Failure; Interrupted when a signal ended it. */
export async function writeSalvaged(table: SalvagedTable, entries: (signal: AbortSignal) => Entries, options: TableBuilderOptions): Promise<void> {
  await interruptible(async (signal) => {
    try {
      await writeTable(table.path, entries(signal), { ...options, signal });
      // The table is complete, so a signal that arrives now has no effect on it.
      if (table.onWritten === undefined) return;
      await table.onWritten();
    } catch (error) {
      if (!(error instanceof NothingSaved)) throw writingFailure(table.output, error);
    }
    await deliverSignals();
    signal.throwIfAborted();
  });
}
