// The program of a DecodingThread.
import { workerData } from 'node:worker_threads';
import { answerCalls } from './answered-calls.js';
import { decoderOf } from './formats/decoders.js';
import { InputError } from './formats/entry.js';
import { buffersOf, EntryBatch, packed } from './formats/entry-batch.js';
import { decoded } from './inputs/decoded-piece.js';
import type { DecodingOrder, PieceAnswer, PieceOrder } from './inputs/decoding-thread.js';

const { form, state } = workerData as DecodingOrder;
const decoder = decoderOf(form, state);
/** The number of entries in the last piece, which the next one is expected to have too. */
let expected = 1024;

answerCalls(({ bytes, spare }: PieceOrder) => {
  const { batch, error } = decoded(decoder, bytes, batchFor(bytes?.length ?? 0, spare));
  expected = Math.max(16, Math.ceil(batch.length * 1.1));
  const value: PieceAnswer = {
    batch: packed(batch),
    bytes,
    error: error instanceof InputError ? { place: error.place, problem: error.problem } : undefined,
  };
  return { value, transferred: [...buffersOf(batch), ...(bytes === undefined ? [] : [bytes.buffer])] };
});

function batchFor(byteLength: number, spare: PieceOrder['spare']): EntryBatch {
  if (spare === undefined) return new EntryBatch(byteLength + 1024, expected);
  const batch = EntryBatch.of(spare);
  batch.clear();
  return batch;
}
