// Mojang's LevelDB reads what is written here. It is in the Python package amulet-leveldb; to run these tests:
//
//     python3 -m venv VENV && VENV/bin/pip install amulet-leveldb==1.0.7
//     MOJANG_PYTHON=VENV/bin/python npx vitest run --project 'packages/leveldb (thorough)' mojang-leveldb
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, deflateSync, inflateRawSync, inflateSync } from 'node:zlib';
import { realDatabases } from '@bloom/fixtures';
import { Database, type DatabaseOptions } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import type { Codec } from '@bloom/sstable';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collect } from '../collect.js';

const python = process.env.MOJANG_PYTHON ?? 'python3';
const isThere = spawnSync(python, ['-c', 'from leveldb import LevelDB; LevelDB.iterate']).status === 0;
const why = isThere ? '' : ' (skipped: no Python with amulet-leveldb, see MOJANG_PYTHON in this file)';

const deflate: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => new Uint8Array(deflateRawSync(contents)),
  decompress: (compressed, maxOutputLength) => new Uint8Array(inflateRawSync(compressed, { maxOutputLength })),
};
const zlib: Codec = {
  type: 2,
  name: 'zlib',
  compress: (contents) => new Uint8Array(deflateSync(contents)),
  decompress: (compressed, maxOutputLength) => new Uint8Array(inflateSync(compressed, { maxOutputLength })),
};
const codecs = [zlib, deflate];

let root = '';
beforeAll(() => void (root = mkdtempSync(join(tmpdir(), 'bloom-mojang-'))));
afterAll(() => rmSync(root, { recursive: true }));

/** Puts entries with Mojang's LevelDB, and gives all that it then has, in hexadecimal. */
function mojang(path: string, puts: readonly (readonly [string, string])[] = []): [string, string][] {
  const program = `
import json, sys
from leveldb import LevelDB
database = LevelDB(sys.argv[1])
for key, value in json.load(sys.stdin):
    database.put(bytes.fromhex(key), bytes.fromhex(value))
json.dump([[key.hex(), value.hex()] for key, value in database.iterate()], sys.stdout)
database.close()`;
  const { status, stdout, stderr } = spawnSync(python, ['-c', program, path], { input: JSON.stringify(puts), encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as [string, string][];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

async function written<T>(path: string, options: DatabaseOptions, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await Database.open(new WritableNodeFolder(path), options);
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function entriesOf(path: string): Promise<[string, string][]> {
  const entries = await written(path, { codecs }, (database) => collect(database.entries()));
  return entries.map(([key, value]) => [hex(key), hex(value)]);
}

function copyOfWorld(name: string): string {
  const path = join(root, name);
  cpSync(realDatabases().find((one) => one.name.includes('mctestdb'))!.path, path, { recursive: true });
  return path;
}

async function addEntries(database: Database, prefix: string): Promise<void> {
  for (let i = 0; i < 2000; i++) await database.put(Buffer.from(`${prefix}${i % 1500}`), Buffer.from(`value ${i} `.repeat(10)));
  for (let i = 0; i < 1500; i += 7) await database.delete(Buffer.from(`${prefix}${i}`));
}

describe.skipIf(!isThere)(`Mojang's LevelDB${why}`, () => {
  test('reads a world after writes, compactions and repairs here, in turns with its own writes', async () => {
    const path = copyOfWorld('turns');
    for (const turn of ['a', 'b', 'c']) {
      await written(path, { codecs }, (database) => addEntries(database, turn));
      await written(path, { codecs }, (database) => (turn === 'b' ? Promise.resolve() : database.compactRange()));
      const expected = await entriesOf(path);
      expect(expected.length).toBeGreaterThan(294 + 1000);
      expect(mojang(path)).toEqual(expected);
      const theirs = Array.from({ length: 500 }, (_, i): [string, string] => [hex(Buffer.from(`${turn}their${i}`)), hex(Buffer.from(`their value ${i} `.repeat(20)))]);
      const both = mojang(path, theirs);
      expect(both).toHaveLength(expected.length + 500);
      rmSync(join(path, 'CURRENT'));
      await Database.repair(new WritableNodeFolder(path), { codecs });
      expect(mojang(path)).toEqual(both);
      expect(await entriesOf(path)).toEqual(both);
    }
  });

  test.each([['deflate', deflate], ['zlib', zlib], ['none', 'none']] as const)('reads a new database of %s', async (name, compression) => {
    const path = join(root, `new-${name}`);
    await written(path, { codecs, compression }, (database) => addEntries(database, 'k'));
    await written(path, { codecs, compression }, (database) => database.compactRange());
    const found = mojang(path);
    expect(found.length).toBeGreaterThan(1000);
    expect(found).toEqual(await entriesOf(path));
  });

  test('does not read a world in which tables were compressed with Snappy', async () => {
    const path = copyOfWorld('snappy');
    await written(path, { codecs, compression: 'snappy' }, (database) => addEntries(database, 'k'));
    await written(path, { codecs, compression: 'snappy' }, (database) => database.compactRange());
    expect(await entriesOf(path)).not.toHaveLength(0);
    let found: number;
    try {
      found = mojang(path).length;
    } catch {
      found = 0;
    }
    expect(found).toBe(0);
  });
});
