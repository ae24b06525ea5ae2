// Folders and tables of RocksDB, Pebble, Badger and Minecraft's Marketplace: bloom names the engine, and changes nothing.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foreignFolders } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { bloom } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();

/** The hash of all names and files of a folder. */
function hashOf(path: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(path).sort()) hash.update(`${name}\0`).update(readFileSync(join(path, name)));
  return hash.digest('hex');
}

const WRITING: readonly (readonly string[])[] = [
  ['repair', 'FOLDER'],
  ['destroy', '--yes', 'FOLDER'],
  // Nobody is asked before it is refused: without a terminal, that would be another error.
  ['destroy', 'FOLDER'],
  ['put', 'FOLDER', 'key', 'value'],
  ['delete', 'FOLDER', 'key01'],
  ['load', 'FOLDER', '-'],
  ['compact', 'FOLDER'],
  ['copy', 'FOLDER', 'COPY'],
];
const READING: readonly (readonly string[])[] = [
  ['stat', 'FOLDER'],
  ['scan', 'FOLDER'],
  ['scan', '--damage', 'skip', 'FOLDER'],
  ['get', 'FOLDER', 'key01'],
  ['verify', 'FOLDER'],
  ['salvage', 'FOLDER', '-o', 'SAVED'],
];

describe.each(foreignFolders())('$name', ({ name, path, engines, entries }) => {
  const words = engines[0] === "Minecraft's Marketplace" ? "is encrypted by Minecraft's Marketplace" : `is a ${engines[0]!} database, not a LevelDB database`;

  test('every command that writes is refused with the name of the engine and without advice to repair, and no byte changes', async () => {
    const folder = join(scratch.path, name);
    cpSync(path, folder, { recursive: true });
    const before = hashOf(folder);
    for (const args of WRITING) {
      const { code, stderr } = await bloom(args.map((arg) => (arg === 'FOLDER' ? name : arg === 'COPY' ? `${name}-copy` : arg)), scratch.path, 'key\tvalue\n');
      // Badger's has neither CURRENT nor a numbered MANIFEST, so there is nothing that destroy would delete.
      const expected = name.startsWith('badger') && args[0] === 'destroy' ? 'there is no database' : words;
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringContaining(expected) as string });
      expect(stderr).not.toMatch(/bloom (repair|salvage)/);
      expect(hashOf(folder)).toBe(before);
    }
    expect(existsSync(join(scratch.path, `${name}-copy`))).toBe(false);
  });

  test('reading it fails with the name of the engine, unless it has nothing that LevelDB lacks', async () => {
    for (const args of READING) {
      const { code, stderr, stdout } = await bloom(args.map((arg) => (arg === 'FOLDER' ? path : arg === 'SAVED' ? `${name}.ldb` : arg)), scratch.path);
      if (entries !== undefined) {
        expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.not.stringContaining(engines[0]!) as string });
        continue;
      }
      expect({ args, code, stderr, stdout: stdout.toString() }).toEqual({ args, code: 2, stderr: expect.stringContaining(words) as string, stdout: '' });
      expect(stderr).not.toMatch(/bloom (repair|salvage)/);
    }
  });
});

const pathOf = (folder: string, file: string): string => join(foreignFolders().find(({ name }) => name === folder)!.path, file);

test.each([
  [pathOf('rocksdb-9.8-closed', '000009.sst'), "this is a RocksDB table (block-based format 1 or later), not a LevelDB table: open it with RocksDB's sst_dump"],
  [pathOf('rocksdb-9.8-plain', '000009.sst'), 'this is a RocksDB plain table'],
  [pathOf('pebble-2.1-closed', '000008.sst'), 'this is a Pebble table, not a LevelDB table: open it with the command pebble sstable'],
  [pathOf('minecraft-marketplace', '000005.ldb'), "it is encrypted by Minecraft's Marketplace"],
])('stat, scan and layout of the table %s name the engine', async (table, words) => {
  for (const command of ['stat', 'scan', 'layout']) {
    const { code, stderr } = await bloom([command, table], scratch.path);
    expect({ command, code, stderr }).toEqual({ command, code: 2, stderr: expect.stringContaining(words) as string });
    expect(stderr).not.toMatch(/bloom (repair|salvage|layout)/);
  }
});
