import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { folderFiles } from '@bloom/fixtures';
import { WritableMemoryFolder } from '@bloom/leveldb';
import { nativeDatabase, nativeUnavailableReason } from '@bloom/native';
import { BloomFilterPolicy } from '@bloom/policy';
import { describe, expect, test } from 'vitest';
import { randomScript } from '../random-script.js';
import { Script } from '../script.js';

// The real LevelDB 1.23 runs the same scripts. tooling/long-tests has a longer run.
const native = nativeDatabase();

if (native === undefined) {
  const reason = nativeUnavailableReason()?.split('\n')[0] ?? '';
  test.skip(`cannot compare with LevelDB itself: ${reason}`, () => {});
}

const seeds = Array.from({ length: Number(process.env.BLOOM_SCRIPTS ?? 4) }, (_, i) => i + 1);

/** The name, size and hash of every file except LOCK and LOG. */
function digestOf(files: Iterable<readonly [string, Uint8Array]>): string[] {
  return [...files]
    .filter(([name]) => !name.startsWith('LO'))
    .map(([name, bytes]) => `${name} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`)
    .sort();
}

/** Runs a script with LevelDB and with Database. @returns the files that each leaves, and the properties that each returned. */
async function runBoth(lines: readonly string[], options: { bitsPerKey?: number; writeBufferSize: number; maxFileSize: number }) {
  const { bitsPerKey, writeBufferSize, maxFileSize } = options;
  const path = mkdtempSync(join(tmpdir(), 'bloom-writer-'));
  try {
    const properties = native!.script(path, lines, options);
    const folder = new WritableMemoryFolder();
    const filterPolicy = bitsPerKey === undefined ? null : new BloomFilterPolicy(bitsPerKey);
    const script = new Script(folder, { compression: 'none', filterPolicy, writeBufferSize, maxFileSize });
    for (const line of lines) {
      const [operation, ...tokens] = line.split(' ');
      await script.run(operation!, ...tokens);
    }
    // On a busy machine, a compaction that a scan makes due may be over before the scan is, which keeps the merged tables until later.
    await script.database.close();
    return { theirs: { files: digestOf(folderFiles(path)), properties }, ours: { files: digestOf(folder.files()), properties: script.properties } };
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
}

describe.runIf(native !== undefined).each(seeds)('the random script of seed %i', (seed) => {
  test('leaves the same files as LevelDB, byte for byte', async () => {
    const bitsPerKey = seed % 3 === 0 ? undefined : 10;
    const { ours, theirs } = await runBoth(randomScript(seed), { writeBufferSize: 65_536, maxFileSize: 2 ** 20, ...(bitsPerKey !== undefined && { bitsPerKey }) });
    // Levels are compared too, because the MANIFEST lists them.
    expect(ours.files).toEqual(theirs.files);
  });
});

describe.runIf(native !== undefined)('compared with LevelDB', () => {
  const large = { writeBufferSize: 4 * 2 ** 20, maxFileSize: 2 * 2 ** 20 };
  /** Writes two tables of the same 60 keys at different levels. */
  const layers = ['open', ...[1, 2].flatMap((layer) => [...Array.from({ length: 60 }, (_, i) => `put key${i} rep:10000:4${layer}`), 'flush'])];

  test.each(['scan', 'scan-back'])('a table that every %s reads is compacted after the same number of scans', async (scan) => {
    // The sequence in the MANIFEST's edit shows after which scan.
    const lines = [...layers, ...Array.from({ length: 130 }, (_, i) => [scan, `put count ${i}`]).flat(), 'property leveldb.num-files-at-level1'];
    const { ours, theirs } = await runBoth(lines, large);
    expect(theirs.properties).toEqual(['0']);
    expect(ours.properties).toEqual(theirs.properties);
    // On a busy machine the compaction may end before LevelDB's scan, which then leaves the tables that were merged.
    const left = theirs.files.filter((file) => !ours.files.includes(file));
    expect(left.filter((file) => !file.includes('.ldb '))).toEqual([]);
    expect([0, 2]).toContain(left.length);
    expect(theirs.files).toEqual(expect.arrayContaining(ours.files));
  });

  test('properties have the same text', async () => {
    const names = ['stats', 'sstables', 'num-files-at-level0', 'num-files-at-level2', 'num-files-at-level6', 'num-files-at-level7', 'num-files-at-level', 'num-files-at-level1x', 'nothing'];
    const ask = names.map((name) => `property leveldb.${name}`);
    // Before anything is read, blocks take no memory.
    const lines = ['open', 'property leveldb.approximate-memory-usage', 'put hex:00ff7f27 1', 'property leveldb.approximate-memory-usage', ...ask, 'flush', ...ask];
    lines.push(...layers.slice(1), 'del key7', 'flush', ...ask, 'put key a', 'compact', ...ask, 'close', 'open', ...ask, 'property stats');
    const { ours, theirs } = await runBoth(lines, large);
    expect(theirs.properties.length).toBeGreaterThan(20);
    expect(ours.properties).toEqual(theirs.properties);
  });
});
