// The program of a MergingThread. Its first call opens the tables, and each call merges a batch.
import { answerCalls } from './answered-calls.js';
import { buffersOf, packed } from './formats/entry-batch.js';
import type { MergeOrder } from './inputs/merge-order.js';
import { MergedTables } from './inputs/merged-tables.js';

let opening: Promise<MergedTables> | undefined;

answerCalls(async (order: MergeOrder) => {
  opening ??= MergedTables.open(order);
  const batch = (await opening).nextAtOnce();
  return batch === undefined ? { value: undefined } : { value: packed(batch), transferred: buffersOf(batch) };
});
