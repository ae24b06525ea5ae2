import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { entriesSha256, folderFiles, type KeyValue, seeded } from '@bloom/fixtures';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { DatabaseReader, MemoryFolder, type ReaderOptions, SyncDatabaseReader } from '@bloom/leveldb';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { describe, expect, test } from 'vitest';
import { collect } from '../collect.js';
import { reverseComparator } from '../reverse-comparator.js';

// The real LevelDB 1.23 writes random databases and stops at any point. We read them first, then LevelDB does.
const native = nativeDatabase();

if (native === undefined) {
  const reason = nativeUnavailableReason()?.split('\n')[0] ?? '';
  test.skip(`cannot compare with LevelDB itself: ${reason}`, () => {});
}

// tooling/long-tests has a longer run.
const count = Number(process.env.BLOOM_DATABASES ?? 6);
const seeds = Array.from({ length: count }, (_, i) => i + 1);
const ends = ['close', 'stop', 'kill'] as const;
const options: ReaderOptions = { comparators: [reverseComparator] };

function filesOf(path: string): Map<string, string> {
  return new Map([...folderFiles(path)].map(([name, bytes]) => [name, Buffer.from(bytes).toString('latin1')]));
}

/** Some keys of `entries`, and as many absent ones. */
function someKeys(entries: readonly KeyValue[], seed: number): Uint8Array[] {
  const random = seeded(seed);
  const present = entries.map(([key]) => key);
  const near = present.map((key) => Uint8Array.of(...key, random.below(256)));
  return random.shuffle([...present, ...near, random.bytes(5), new Uint8Array(0), new TextEncoder().encode('key5')]).slice(0, 400);
}

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

function lookedUp(entries: readonly KeyValue[], keys: readonly Uint8Array[]): (string | undefined)[] {
  const values = new Map(entries.map(([key, value]) => [hexOf(key), hexOf(value)]));
  return keys.map((key) => values.get(hexOf(key)));
}

describe.runIf(native !== undefined).each(seeds)('the random database of seed %i', (seed) => {
  test('gives the same entries in both directions and the same gets as LevelDB, for current reads and snapshots', async () => {
    const leveldb = native!;
    const end = ends[seed % ends.length]!;
    const folder = mkdtempSync(join(tmpdir(), 'bloom-database-'));
    const path = join(folder, 'database');
    try {
      const snapshots = leveldb.writeRandom(path, seed, end);
      const before = filesOf(path);

      const database = SyncDatabaseReader.open(new SyncNodeFolder(path), options);
      const { comparator } = database.describe();
      const entries = [...database.entries()];
      const backwards = [...database.entries({ reverse: true })].reverse();
      expect(entriesSha256(backwards)).toBe(entriesSha256(entries));

      const promised = await DatabaseReader.open(new NodeFolder(path), { ...options, maxOpenFiles: 11 + (seed % 4), cache: null });
      expect(entriesSha256(await collect(promised.entries()))).toBe(entriesSha256(entries));
      expect(entriesSha256((await collect(promised.entries({ reverse: true }))).reverse())).toBe(entriesSha256(entries));

      for (const { sequence, entries: held } of snapshots) {
        expect(entriesSha256(database.entries({ sequence }))).toBe(entriesSha256(held));
        expect(entriesSha256([...database.entries({ sequence, reverse: true })].reverse())).toBe(entriesSha256(held));
        expect(entriesSha256(await collect(promised.entries({ sequence })))).toBe(entriesSha256(held));
        const keys = someKeys([...held, ...entries], seed);
        expect(keys.map((key) => database.get(key, { sequence })).map((value) => value && hexOf(value))).toEqual(lookedUp(held, keys));
      }
      const keys = someKeys(entries, seed);
      const got = keys.map((key) => database.get(key));
      expect(got.map((value) => value && hexOf(value))).toEqual(lookedUp(entries, keys));
      expect((await promised.getMany(keys)).map((value) => value && hexOf(value))).toEqual(lookedUp(entries, keys));
      for (const key of keys.slice(0, 30)) {
        const [newest] = database.versions(key);
        expect(newest?.kind === 'value' ? hexOf(newest.value) : undefined).toBe(lookedUp(entries, [key])[0]);
      }
      database.close();
      await promised.close();
      // Reading changes nothing.
      expect(filesOf(path)).toEqual(before);

      const copy = join(folder, 'copy');
      cpSync(path, copy, { recursive: true });
      const settings = { comparator: comparator === reverseComparator.name ? 'reverse' : 'bytewise', paranoid: true } as const;
      const theirs = leveldb.dump(copy, settings);
      expect(theirs.status).toBe('OK');
      expect(entriesSha256(theirs.entries)).toBe(entriesSha256(entries));
      expect(leveldb.get(copy, keys, settings).map((value) => value && hexOf(value))).toEqual(lookedUp(entries, keys));
      // LevelDB recovered the copy. We read the result.
      const again = SyncDatabaseReader.open(new MemoryFolder(folderFiles(copy)), options);
      expect(entriesSha256(again.entries())).toBe(entriesSha256(entries));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
