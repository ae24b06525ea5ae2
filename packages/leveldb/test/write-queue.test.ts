import { turns } from '@bloom/fixtures/event-loop';
import { describe, expect, test } from 'vitest';
import { WriteBatch } from '../src/format/write-batch.js';
import { type RecordTarget, WriteQueue } from '../src/write/write-queue.js';

function targetOf(append: (batch: WriteBatch) => Promise<void> | undefined): RecordTarget {
  return { lastSequence: 0n, hasRoom: true, hasNumbers: () => true, makeRoom: () => Promise.resolve(), append, skip: () => undefined };
}

function putOf(byte: number): WriteBatch {
  return new WriteBatch().put(Uint8Array.of(byte), Uint8Array.of(byte));
}

describe('the queue of writes', () => {
  for (const takes of ['at once', 'later'] as const) {
    for (let hops = 0; hops <= 12; hops++) {
      test(`writes a batch that comes ${hops} microtasks after the start of an append that ends ${takes}`, async () => {
        const appended: number[] = [];
        const settled: number[] = [];
        const push = (byte: number): void => void queue.push(putOf(byte), false).then(() => settled.push(byte));
        const queue = new WriteQueue(
          targetOf((batch) => {
            appended.push(batch.count);
            if (appended.length === 1) {
              let after = Promise.resolve();
              for (let i = 0; i < hops; i++) after = after.then(() => undefined);
              void after.then(() => push(2));
            }
            return takes === 'later' ? Promise.resolve() : undefined;
          }),
        );
        push(1);
        await turns();
        expect(settled).toEqual([1, 2]);
        expect(appended).toEqual([1, 1]);
      });
    }
  }

  for (const takes of ['at once', 'later'] as const) {
    test(`lets the event loop turn while a caller writes one batch after another to a target that takes them ${takes}`, async () => {
      const queue = new WriteQueue(targetOf(() => (takes === 'later' ? Promise.resolve() : undefined)));
      let turned = Infinity;
      setImmediate(() => (turned = performance.now()));
      for (const end = performance.now() + 100; performance.now() < end; ) await queue.push(putOf(1), false);
      expect(turned).toBeLessThan(performance.now());
    });
  }

  test('writes the batches of concurrent callers as one record', async () => {
    const appended: number[] = [];
    const queue = new WriteQueue(targetOf((batch) => void appended.push(batch.count)));
    await Promise.all([1, 2, 3].map((byte) => queue.push(putOf(byte), false)));
    expect(appended).toEqual([3]);
  });
});
