// What the site's page "Compared with others" says of classic-level, tried with the package, and the versions that it names.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseReader } from '@bloom/leveldb';
import { NodeFolder } from '@bloom/leveldb/node';
import { ClassicLevel } from 'classic-level';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../../..');
const bytes = { keyEncoding: 'view', valueEncoding: 'view' } as const;
const key = new TextEncoder().encode('hello');
const value = new TextEncoder().encode('world');

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bloom-beside-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

test('the versions in the table are those that are installed', () => {
  const header = /^\| \| Bloom \|.*$/m.exec(readFileSync(join(root, 'apps/site/pages/guide/compare.md'), 'utf8'))![0];
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8');
  const named = [...header.matchAll(/(?<name>[a-z]+-[a-z]+) (?<version>\d+\.\d+\.\d+)/g)].map(({ groups }) => `${groups!.name}@${groups!.version}`);
  expect(named).toHaveLength(3);
  for (const one of named) expect(lockfile, one).toContain(`\n  ${one}:\n`);
});

test('a folder that classic-level writes to is refused by a second one, and read by a DatabaseReader', async () => {
  const writer = new ClassicLevel<Uint8Array, Uint8Array>(folder, bytes);
  await writer.put(key, value);
  const second = new ClassicLevel<Uint8Array, Uint8Array>(folder, bytes);
  await expect(second.open()).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } });
  const reader = await DatabaseReader.open(new NodeFolder(folder));
  expect(await reader.get(key)).toEqual(value);
  await reader.close();
  await writer.close();
});

test('classic-level gives a damaged value, a DatabaseReader an error with a code', async () => {
  const written = new ClassicLevel<Uint8Array, Uint8Array>(folder, { ...bytes, compression: false });
  await written.put(key, value);
  await written.compactRange(new Uint8Array([0]), new Uint8Array([255]));
  await written.close();
  const table = join(folder, readdirSync(folder).find((name) => name.endsWith('.ldb'))!);
  const contents = readFileSync(table);
  contents[contents.indexOf('world')] = 'W'.charCodeAt(0);
  writeFileSync(table, contents);

  const classic = new ClassicLevel<Uint8Array, Uint8Array>(folder, bytes);
  expect(new TextDecoder().decode(await classic.get(key))).toBe('World');
  await classic.close();
  const reader = await DatabaseReader.open(new NodeFolder(folder));
  await expect(reader.get(key)).rejects.toMatchObject({ code: 'BLOOM_BAD_CHECKSUM' });
  await reader.close();
});
