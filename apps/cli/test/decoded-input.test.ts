import { expect, test, vi } from 'vitest';
import { EntryBatch } from '../src/formats/entry-batch.js';
import { DecodedInput } from '../src/inputs/decoded-input.js';
import type { DecodedPiece } from '../src/inputs/decoded-piece.js';
import { DecodingThread } from '../src/inputs/decoding-thread.js';

const PIECE = Buffer.from('key\tvalue\n');

test('further pieces are read and handed to the thread while it decodes one, and come in order', async () => {
  const decoding: ((piece: DecodedPiece) => void)[] = [];
  const thread = {
    decode: () => new Promise<DecodedPiece>((resolve) => decoding.push(resolve)),
    spare: () => undefined,
    giveBack: () => undefined,
    close: () => undefined,
  };
  vi.spyOn(DecodingThread, 'start').mockReturnValue(thread as unknown as DecodingThread);
  let left = 20;
  const pieces = { next: () => Promise.resolve(left-- > 0 ? new Uint8Array(PIECE) : undefined), close: () => undefined };
  const input = new DecodedInput({ path: 'large.tsv', name: 'large.tsv', pieces, byteLength: 2 ** 30 }, { format: 'tsv', hex: false, versions: false }, () => undefined);
  const first = input.next();
  await vi.waitFor(() => expect(decoding.length).toBe(6));
  const batches = Array.from({ length: 6 }, () => new EntryBatch());
  // The last one is decoded first.
  for (const i of [5, 4, 3, 2, 1, 0]) decoding[i]!({ batch: batches[i]! });
  expect(await first).toBe(batches[0]);
  expect(await input.next()).toBe(batches[1]);
  input.close();
  vi.restoreAllMocks();
});
