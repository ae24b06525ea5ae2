// Stored blocks are read into memory that is used again for the next one: what is returned and cached must not lie in it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bytes } from '@bloom/bytes';
import { seeded } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { BlockCache, type Codec, CorruptionError, MemorySource, snappyCodec, type Source, SyncTable, type SyncSource, Table } from '@bloom/sstable';
import { FileSource, SyncFileSource } from '@bloom/sstable/node';
import { afterAll, describe, expect, test } from 'vitest';
import { buildTable } from '../build-table.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { sameBytes } from '../entries.js';

const root = mkdtempSync(join(tmpdir(), 'bloom-stored-scratch-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const random = seeded(2607);
const entries = Array.from({ length: 3000 }, (_, i): [Uint8Array, Uint8Array] => {
  const key = new TextEncoder().encode(`key ${String(i * 3).padStart(6, '0')}`);
  const value = random.bytes(1 + random.below(i % 50 === 0 ? 3000 : 60));
  // Half of it repeats, so that Snappy is used.
  value.copyWithin(value.length >> 1, 0);
  return [key, value];
});
const keyOf = (i: number): Uint8Array => entries[i]![0];

/** What a source does with the memory that it is given. */
const sources: Record<string, (bytes: Uint8Array, path: string) => Promise<Source> | Source> = {
  'a file': (_, path) => FileSource.open(path),
  'a source that returns another view of the memory': (bytes) => atOnce(bytes, (part, into) => (into?.set(part), into?.subarray(0) ?? part.slice())),
  'a source that does without the memory': (bytes) => atOnce(bytes, (part) => part.slice()),
  'a source that returns views of its own memory': (bytes) => atOnce(bytes, (part) => part),
};

function atOnce(bytes: Uint8Array, answer: (part: Uint8Array, into: Bytes | undefined) => Uint8Array): Source {
  let reads = 0;
  return {
    byteLength: bytes.length,
    read: (offset, length) => Promise.resolve(bytes.slice(offset, offset + length)),
    readAtOnce: (offset, length, into) => (reads++ % 5 === 4 ? undefined : answer(bytes.subarray(offset, offset + length), into)),
  };
}

const syncSources: Record<string, (bytes: Uint8Array, path: string) => SyncSource> = {
  'a file': (_, path) => SyncFileSource.open(path),
  memory: (bytes) => new MemorySource(bytes),
};

const caches: Record<string, () => BlockCache | null> = {
  'no cache': () => null,
  'a cache of some blocks': () => new BlockCache(30_000),
  'a cache of all blocks': () => new BlockCache(2 ** 24),
};

const layouts = (['none', 'snappy'] as const).flatMap((compression) => [300, 4096, 100_000].map((blockSize) => ({ compression, blockSize })));

function stored({ compression, blockSize }: (typeof layouts)[number]): { bytes: Uint8Array; path: string } {
  const bytes = buildTable(entries, { compression, blockSize, filterPolicy: new BloomFilterPolicy() });
  const path = join(root, `${compression}-${blockSize}`);
  writeFileSync(path, bytes);
  return { bytes, path };
}

/** Values that were returned, and what they were. */
class Kept {
  readonly #all: [Uint8Array, Uint8Array][] = [];

  keep(found: Uint8Array | undefined, expected: Uint8Array | undefined): void {
    expect(sameBytes(found, expected)).toBe(true);
    if (found !== undefined) this.#all.push([found, expected!]);
  }

  mustBeUnchanged(): void {
    expect(this.#all.length).toBeGreaterThan(100);
    expect(this.#all.every(([found, expected]) => sameBytes(found, expected))).toBe(true);
  }
}

/** Random calls: the number of the call, and that of an entry. */
function* calls(seed: number): Generator<[number, number]> {
  const picks = seeded(seed);
  for (let n = 0; n < 120; n++) yield [picks.below(6), picks.below(entries.length - 20)];
}

describe.each(layouts)('blocks of $blockSize bytes, compression $compression', (layout) => {
  const { bytes, path } = stored(layout);

  for (const [sourceName, open] of Object.entries(sources)) {
    test.each(Object.entries(caches))(`random calls on ${sourceName} with %s give the entries, which never change`, async (_, cache) => {
      const table = await Table.open(await open(bytes, path), { cache: cache(), filterPolicies: [new BloomFilterPolicy()] });
      const kept = new Kept();
      for (const [call, i] of calls(layout.blockSize)) {
        if (call < 3) kept.keep(await table.get(keyOf(i)), entries[i]![1]);
        else if (call === 3) {
          const wanted = [i, i + 7, 5, i + 1];
          const values = await table.getMany(wanted.map(keyOf));
          for (const [n, value] of values.entries()) kept.keep(value, entries[wanted[n]!]![1]);
        } else if (call === 4) {
          let n = i;
          for await (const [key, value] of table.entries({ gte: keyOf(i), limit: 12 })) {
            kept.keep(key, keyOf(n));
            kept.keep(value, entries[n++]![1]);
            // Between two steps of a walk, another block takes the memory.
            kept.keep(await table.get(keyOf((n * 31) % 3000)), entries[(n * 31) % 3000]![1]);
          }
        } else expect(await table.has(Uint8Array.of(...keyOf(i), 1))).toBe(false);
      }
      kept.mustBeUnchanged();
      await table.close();
    });
  }

  for (const [sourceName, open] of Object.entries(syncSources)) {
    test.each(Object.entries(caches))(`the same without promises on ${sourceName} with %s`, (_, cache) => {
      const table = SyncTable.open(open(bytes, path), { cache: cache(), filterPolicies: [new BloomFilterPolicy()] });
      const kept = new Kept();
      for (const [call, i] of calls(layout.blockSize + 1)) {
        if (call < 4) kept.keep(table.get(keyOf(i)), entries[i]![1]);
        else {
          let n = i;
          for (const [key, value] of table.entries({ gte: keyOf(i), limit: 12, reverse: false })) {
            kept.keep(key, keyOf(n));
            kept.keep(value, entries[n++]![1]);
            kept.keep(table.get(keyOf((n * 31) % 3000)), entries[(n * 31) % 3000]![1]);
          }
        }
      }
      kept.mustBeUnchanged();
      table.close();
    });
  }

  test('a block that is damaged is refused, and the next one is read', async () => {
    const damaged = bytes.slice();
    damaged[20]! ^= 4;
    const damagedPath = `${path}-damaged`;
    writeFileSync(damagedPath, damaged);
    const sync = SyncTable.open(SyncFileSource.open(damagedPath), { cache: null });
    const table = await Table.open(await FileSource.open(damagedPath), { cache: null });
    const last = entries.length - 1;
    for (let round = 0; round < 3; round++) {
      const errors = [caught(() => sync.get(keyOf(0))), await rejection(table.get(keyOf(0)))];
      for (const error of errors) expect(error).toMatchObject({ code: 'BLOOM_BAD_CHECKSUM', offset: 0, structure: 'data block' });
      expect(errors[0]).toBeInstanceOf(CorruptionError);
      expect(sync.get(keyOf(last))).toEqual(entries[last]![1]);
      expect(await table.get(keyOf(last))).toEqual(entries[last]![1]);
    }
    sync.close();
    await table.close();
  });
});

test('a codec that looks up another key while it decodes a block gets that key, and the block its own bytes', async () => {
  const { bytes, path } = stored({ compression: 'snappy', blockSize: 300 });
  let lookUp: (() => unknown) | undefined;
  const codec: Codec = {
    ...snappyCodec,
    decompress(contents, maxBytes) {
      const before = contents.slice();
      const inner = lookUp;
      lookUp = undefined;
      inner?.();
      expect(contents).toEqual(before);
      return snappyCodec.decompress(contents, maxBytes);
    },
  };
  const sync = SyncTable.open(SyncFileSource.open(path), { cache: null, codecs: [codec] });
  const table = await Table.open(atOnce(bytes, (part, into) => (into?.set(part), into ?? part.slice())), { cache: null, codecs: [codec] });
  const inner: unknown[] = [];
  for (let i = 0; i < 100; i++) {
    lookUp = () => inner.push(sync.get(keyOf(2999 - i)));
    expect(sync.get(keyOf(i))).toEqual(entries[i]![1]);
    lookUp = () => inner.push(table.get(keyOf(2999 - i)));
    expect(await table.get(keyOf(i))).toEqual(entries[i]![1]);
  }
  expect(await Promise.all(inner)).toEqual(Array.from({ length: 200 }, (_, n) => entries[2999 - (n >> 1)]![1]));
  sync.close();
  await table.close();
});
