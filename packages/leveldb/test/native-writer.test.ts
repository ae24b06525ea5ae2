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
import { randomScript } from './random-script.js';
import { Script } from './script.js';

// The real LevelDB 1.23 runs the same scripts. tooling/long-tests has a run of more.
const native = nativeDatabase();

if (native === undefined) {
  const reason = nativeUnavailableReason()?.split('\n')[0] ?? '';
  test.skip(`the real LevelDB is missing, so nothing is compared with it: ${reason}`, () => {});
}

const seeds = Array.from({ length: Number(process.env.BLOOM_SCRIPTS ?? 4) }, (_, i) => i + 1);

/** Every file but those for people and the lock, as what can be compared at a glance. */
function digestOf(files: Iterable<readonly [string, Uint8Array]>): string[] {
  return [...files]
    .filter(([name]) => !name.startsWith('LO'))
    .map(([name, bytes]) => `${name} ${bytes.length} ${createHash('sha256').update(bytes).digest('hex')}`)
    .sort();
}

describe.runIf(native !== undefined).each(seeds)('the random script of seed %i', (seed) => {
  test('leaves the same files as LevelDB does: names, bytes and levels', async () => {
    const lines = randomScript(seed);
    const path = mkdtempSync(join(tmpdir(), 'bloom-writer-'));
    try {
      const bitsPerKey = seed % 3 === 0 ? undefined : 10;
      native!.script(path, lines, { writeBufferSize: 65_536, maxFileSize: 2 ** 20, ...(bitsPerKey !== undefined && { bitsPerKey }) });
      const folder = new WritableMemoryFolder();
      const script = new Script(folder, {
        compression: 'none',
        filterPolicy: bitsPerKey === undefined ? null : new BloomFilterPolicy(bitsPerKey),
        writeBufferSize: 65_536,
        maxFileSize: 2 ** 20,
      });
      for (const line of lines) {
        const [operation, ...tokens] = line.split(' ');
        await script.run(operation!, ...tokens);
      }
      // The MANIFEST, which lists the levels, is among them.
      expect(digestOf(folder.files())).toEqual(digestOf(folderFiles(path)));
      await script.database.close();
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });
});
