import type { TableBuilderOptions } from '@bloom/sstable';
import type { BatchSource } from '../inputs/batch-source.js';
import { interruptible, unlessAborted } from '../interruption.js';
import { OutputTables, type WrittenTable } from './output-tables.js';

/** Callbacks of writing entries. */
export interface WritingCalls {
  /** Called with the number of entries written so far. */
  readonly onEntries?: (entries: number) => void;
  /** Returns the error to throw instead of the error of entry `i` of the last batch. */
  readonly failureOf?: (error: unknown, i: number) => unknown;
}

/** Writes all entries of a source. @throws errors of the source and the output, and the reason of the signal. */
export async function writeEntries(source: BatchSource, out: OutputTables, signal: AbortSignal, { onEntries, failureOf }: WritingCalls = {}): Promise<void> {
  for (;;) {
    const batch = await unlessAborted(source.next(), signal);
    if (batch === undefined) return;
    const { bytes, ends, length } = batch;
    let i = 0;
    let start = 0;
    while (i < length) {
      try {
        for (; i < length && !out.isDrainDue; i++) {
          const keyEnd = ends[2 * i]!;
          const end = ends[2 * i + 1]!;
          out.addRange(bytes, start, keyEnd, bytes, keyEnd, end);
          start = end;
        }
      } catch (error) {
        throw failureOf?.(error, i) ?? error;
      }
      if (out.isDrainDue) {
        await out.drain();
        signal.throwIfAborted();
      }
    }
    onEntries?.(out.entries);
  }
}

/** Writes all entries of a source to a new table, or to numbered ones, which get their names when all are complete. */
export function writeTables(source: BatchSource, output: string, options: TableBuilderOptions, maxTableSize?: number, calls?: WritingCalls): Promise<readonly WrittenTable[]> {
  return interruptible(async (signal) => {
    const out = await OutputTables.create(output, options, maxTableSize);
    try {
      await writeEntries(source, out, signal, calls);
      return await out.finish(signal);
    } finally {
      await out.abandon();
    }
  });
}
