import type { EntryBatch } from '../formats/entry-batch.js';

/** Entries in batches, from wherever they come. */
export interface BatchSource {
  /** The next batch, which is valid until the one after it is asked for; undefined at the end. */
  next(): Promise<EntryBatch | undefined>;
  /** Ends the reading, also in the middle. */
  close(): void;
}

/** A source of batches that are made of another source's. */
export function mapped(source: BatchSource, map: (batch: EntryBatch) => EntryBatch): BatchSource {
  return {
    async next() {
      const batch = await source.next();
      return batch && map(batch);
    },
    close: () => source.close(),
  };
}
