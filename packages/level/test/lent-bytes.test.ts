// A caller may change or use its buffers again as soon as a call has returned, also while the call's promise is pending.
import { BloomLevel } from '@bloom/level';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { describe, expect, test, vi } from 'vitest';
import type { Request } from '../src/worker/level-messages.js';
import { PendingCalls } from '../src/worker/pending-calls.js';
import { WorkerStore } from '../src/worker/worker-store.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Calls that are sent as a worker receives them, and never answered. */
class SentCalls extends PendingCalls {
  readonly sent: Request[] = [];

  protected override send(requests: readonly Request[]): void {
    this.sent.push(...structuredClone(requests));
  }

  override getNow(): never {
    throw new Error('not called');
  }

  override propertyNow(): never {
    throw new Error('not called');
  }
}

describe('a worker receives the bytes as they were when the level was called, with', () => {
  test.each<[string, (store: WorkerStore, a: Uint8Array, b: Uint8Array) => unknown, unknown[]]>([
    ['put', (store, a, b) => store.put(a, b, false), ['put', utf8('a'), utf8('b'), false]],
    ['delete', (store, a) => store.delete(a, false), ['delete', utf8('a'), false]],
    ['get', (store, a) => store.get(a, 'view', undefined), ['get', utf8('a'), 'view', undefined]],
    ['has', (store, a) => store.has(a, undefined), ['has', utf8('a'), undefined]],
    ['getMany', (store, a, b) => store.getMany([a, b], 'view', undefined), ['getMany', [utf8('a'), utf8('b')], 'view', undefined]],
    ['hasMany', (store, a, b) => store.hasMany([a, b], undefined), ['hasMany', [utf8('a'), utf8('b')], undefined]],
    [
      'a batch',
      (store, a, b) => {
        const batch = store.batch();
        batch.put(a, b);
        batch.delete(b);
        return batch.write(false);
      },
      ['write', [utf8('a'), utf8('b'), utf8('b'), undefined], false],
    ],
  ])('%s', async (_, call, expected) => {
    const calls = new SentCalls();
    const [a, b] = [utf8('a'), utf8('b')];
    void call(new WorkerStore(calls, { formats: new Set(), make: (bytes) => bytes }), a, b);
    a.fill(0);
    b.fill(0);
    await Promise.resolve();
    expect(calls.sent.map(([, ...request]) => request)).toEqual([expected]);
  });
});

test.each(['approximateSize', 'compactRange'] as const)('%s of a level that is being opened uses the keys as they were when it was called', async (call) => {
  const calls = vi.spyOn(Database.prototype, call);
  const level = new BloomLevel<Uint8Array, Uint8Array>(new WritableMemoryFolder(), { keyEncoding: 'view', valueEncoding: 'view' });
  const [a, b] = [utf8('a'), utf8('b')];
  const calling = level[call](a, b);
  a.fill(0);
  b.fill(0);
  await calling;
  expect(calls.mock.calls).toEqual([[utf8('a'), utf8('b')]]);
  calls.mockRestore();
  await level.close();
});
