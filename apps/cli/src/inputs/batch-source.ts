import type { EntryBatch } from '../formats/entry-batch.js';

/** A source of entries in batches. */
export interface BatchSource {
  /** The next batch, which is valid until the following one is requested; undefined at the end. */
  next(): Promise<EntryBatch | undefined>;
  /** Ends reading, at any time. */
  close(): void;
}

/** A source whose batches are made from those of another source. */
export function mapped(source: BatchSource, map: (batch: EntryBatch) => EntryBatch): BatchSource {
  return {
    async next() {
      const batch = await source.next();
      return batch && map(batch);
    },
    close: () => source.close(),
  };
}
