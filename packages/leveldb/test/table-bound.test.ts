import { MemorySink, TableBuilder } from '@bloom/sstable';
import { compareInternalBytes } from '@bloom/sstable/internal';
import { describe, expect, test } from 'vitest';
import { Memtable } from '../src/memtable/memtable.js';
import { MemtableFull } from '../src/memtable/memtable-full.js';
import { TableBound } from '../src/memtable/table-bound.js';
import { caught } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('a memtable', () => {
  test('reports that there is no memory for an entry, and stays unchanged', () => {
    const memtable = new Memtable(compareInternalBytes);
    const bytes = utf8('key');
    memtable.add(1n, 1, bytes, 0, 3, 0, 3);
    // The host has no array of that length: nothing is copied before it is made.
    const far = { length: 2 ** 33 } as Uint8Array;
    expect(caught(() => memtable.add(2n, 1, far, 0, 3, 3, 2 ** 33))).toBeInstanceOf(MemtableFull);
    memtable.add(3n, 1, bytes, 0, 3, 0, 3);
    expect(memtable.count).toBe(2);
  });

  test('bounds the index of its table from above, and closely where keys are alike', () => {
    for (const [keyLength, valueLength, count] of [[8, 0, 5000], [16, 100, 3000], [900, 10, 500], [1500, 10, 500], [5000, 0, 200], [16, 20_000, 50]] as const) {
      for (const blockSize of [1024, 4096]) {
        const bound = new TableBound();
        const builder = new TableBuilder(new MemorySink(), { blockSize, compression: 'none', filterPolicy: null });
        for (let i = 0; i < count; i++) {
          const key = new Uint8Array(keyLength);
          new DataView(key.buffer).setUint32(0, i);
          builder.add(key, new Uint8Array(valueLength));
          bound.add(keyLength, valueLength);
        }
        const { indexBytes } = builder.finish();
        expect(bound.indexBytes(blockSize)).toBeGreaterThanOrEqual(indexBytes);
        if (keyLength < 1024) expect(bound.indexBytes(blockSize)).toBeLessThan(Math.min(keyLength + 64, 40 * (indexBytes / count)) * count + 8192);
      }
    }
  });

  test('bounds the index of keys of different lengths, also where the last ones are short', () => {
    for (const lengths of [[900, 8], [8, 900], [900, 1500, 8]]) {
      const bound = new TableBound();
      const builder = new TableBuilder(new MemorySink(), { blockSize: 1024, compression: 'none', filterPolicy: null });
      for (const [kind, length] of lengths.entries()) {
        for (let i = 0; i < 300; i++) {
          const key = new Uint8Array(length);
          new DataView(key.buffer).setUint32(0, kind * 2 ** 16 + i);
          builder.add(key, new Uint8Array(4));
          bound.add(length, 4);
        }
      }
      expect(bound.indexBytes(1024)).toBeGreaterThanOrEqual(builder.finish().indexBytes);
    }
  });
});
