// A database of RocksDB or Pebble is not opened for writing, repaired or destroyed as a level.
import { createHash } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BloomLevel } from '@bloom/level';
import { foreignFolders } from '@bloom/fixtures';
import { expect, test } from 'vitest';

function hashOf(path: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(path).sort()) hash.update(`${name}\0`).update(readFileSync(join(path, name)));
  return hash.digest('hex');
}

test.each(foreignFolders().filter(({ name }) => /^(rocksdb|pebble|minecraft)/.test(name)))('$name is refused by open, repair and destroy, and stays as it is', async ({ path }) => {
  const folder = mkdtempSync(join(tmpdir(), 'foreign-level-'));
  try {
    cpSync(path, folder, { recursive: true });
    const before = hashOf(folder);
    const code = 'BLOOM_UNSUPPORTED_FORMAT';
    await expect(new BloomLevel(folder).open()).rejects.toMatchObject({ code: 'LEVEL_DATABASE_NOT_OPEN', cause: { code } });
    await expect(BloomLevel.repair(folder)).rejects.toMatchObject({ code });
    await expect(BloomLevel.destroy(folder)).rejects.toMatchObject({ code });
    expect(hashOf(folder)).toBe(before);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
