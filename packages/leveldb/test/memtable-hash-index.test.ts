import { bloomHash } from '@bloom/hash';
import { describe, expect, test } from 'vitest';
import { MemtableHashIndex } from '../src/memtable/memtable-hash-index.js';
import { collidingKeys } from './colliding-keys.js';

const encoder = new TextEncoder();

/** Keys of which many differ in few bits. */
const KEYS: Record<string, (n: number) => Uint8Array> = {
  'of text': (n) => encoder.encode(`the key with the number ${n}`),
  'of decimal numbers': (n) => encoder.encode(String(n).padStart(16, '0')),
  'of big-endian numbers': (n) => Uint8Array.of(0, 0, 0, 0, n >>> 24, n >>> 16, n >>> 8, n),
  'of little-endian numbers': (n) => Uint8Array.of(n, n >>> 8, n >>> 16, n >>> 24),
  'of numbers and zeros': (n) => Uint8Array.of(n >>> 8, n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
};

/** An index, and the key of each node in it. */
class Indexed {
  readonly index: MemtableHashIndex;
  readonly #keys: Uint8Array[] = [];

  constructor(count: number) {
    this.index = MemtableHashIndex.create(count)!;
  }

  /** The node of a key; 0 for none. */
  find(key: Uint8Array): number {
    const around = Uint8Array.of(9, ...key, 9);
    let node = this.index.first(around, 1, 1 + key.length);
    while (node !== 0 && Buffer.compare(this.#keys[node]!, key) !== 0) node = this.index.next();
    return node;
  }

  /** @returns whether there was room. */
  put(key: Uint8Array, node: number): boolean {
    this.#keys[node] = key;
    if (this.index.isFull && !this.index.grow()) return false;
    this.find(key);
    return this.index.put(node);
  }
}

describe('the index of a memtable', () => {
  for (const [kind, keyOf] of Object.entries(KEYS)) {
    test.each([0, 1, 16, 17, 1000, 50_000])(`made for %i keys ${kind} finds each, also beyond that count, and no absent key`, (count) => {
      const indexed = new Indexed(count);
      const added = Math.max(100, Math.ceil(count * 1.3));
      for (let n = 1; n <= added; n++) if (!indexed.put(keyOf(n), n)) expect.fail(`no room for key ${n}`);
      for (let n = 1; n <= added; n++) if (indexed.find(keyOf(n)) !== n) expect.fail(`key ${n}`);
      for (let n = added + 1; n <= Math.min(2 * added, 65_535); n++) if (indexed.find(keyOf(n)) !== 0) expect.fail(`key ${n}`);
    });
  }

  test('has the node that was put last for a user key', () => {
    const indexed = new Indexed(4);
    const key = encoder.encode('again');
    for (let node = 1; node <= 10_000; node++) {
      if (!indexed.put(key, node) || indexed.find(key) !== node) expect.fail(`node ${node}`);
    }
  });

  test('is not full of many nodes that were put for one user key', () => {
    const { index } = new Indexed(4);
    const key = encoder.encode('again');
    for (let node = 1; node <= 1000; node++) {
      index.first(key, 0, key.length);
      index.put(node);
    }
    expect(index.isFull).toBe(false);
  });

  test('gives at most one wrong node in a hundred searches for absent keys', () => {
    const indexed = new Indexed(20_000);
    for (let n = 1; n <= 20_000; n++) indexed.put(KEYS['of text']!(n), n);
    let candidates = 0;
    for (let n = 100_000; n < 120_000; n++) {
      const key = KEYS['of text']!(n);
      for (let node = indexed.index.first(key, 0, key.length); node !== 0; node = indexed.index.next()) candidates++;
    }
    expect(candidates).toBeLessThan(200);
  });

  test('is not made where there is no memory for it', () => {
    expect(MemtableHashIndex.create(2 ** 40)).toBeUndefined();
  });

  test('has room for 16 user keys, and for 1.5 to 3 times as many as it was made for', () => {
    for (const count of [0, 1, 5, 6, 100, 1000, 1365, 1366]) {
      const indexed = new Indexed(count);
      let added = 0;
      while (!indexed.index.isFull) indexed.put(KEYS['of text']!(++added), added);
      expect(added).toBeGreaterThanOrEqual(Math.max(16, 1.5 * count));
      expect(added).toBeLessThanOrEqual(Math.max(16, 3 * count));
    }
  });

  test('has room for eight user keys with the same hash, and still finds them when there is none for a ninth', () => {
    const keys = collidingKeys(9);
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(9);
    expect(new Set(keys.map(bloomHash)).size).toBe(1);
    const indexed = new Indexed(1000);
    expect(keys.map((key, i) => indexed.put(key, i + 1))).toEqual(keys.map((_, i) => i < 8));
    expect(keys.map((key) => indexed.find(key))).toEqual(keys.map((_, i) => (i < 8 ? i + 1 : 0)));
  });

  test('has room for 128 user keys whose hashes lead to the same slot, and still finds them when there is none for another', () => {
    const indexed = new Indexed(1000);
    // For 1,000 keys there are 4,096 slots: the twelve high bits of the product choose one.
    const place = (key: Uint8Array): number => Math.imul(bloomHash(key) >>> 2, 0x9e3779b1) >>> 20;
    const keys: Uint8Array[] = [];
    for (let n = 0; keys.length < 129; n++) if (place(KEYS['of text']!(n)) === 7) keys.push(KEYS['of text']!(n));
    expect(keys.map((key, i) => indexed.put(key, i + 1))).toEqual(keys.map((_, i) => i < 128));
    expect(keys.map((key) => indexed.find(key))).toEqual(keys.map((_, i) => (i < 128 ? i + 1 : 0)));
  });
});
