import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { readLog } from '@bloom/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Failure } from '../src/failure.js';
import { copyFolder } from '../src/inputs/copied-folder.js';

let scratch: string;
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'bloom-copied-'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

/** A signal that is never aborted, and calls `onLook` when it is looked at. */
function watchedSignal(onLook: (look: number) => void): AbortSignal {
  let looks = 0;
  return { throwIfAborted: () => onLook(looks++) } as AbortSignal;
}

/** A database, and its MANIFEST with a mebibyte of zeros behind it, as the Java port allocates it. */
async function someDatabase(): Promise<{ readonly path: string; readonly manifest: string; readonly bytes: Uint8Array }> {
  const path = join(scratch, 'db');
  const database = await Database.open(new WritableNodeFolder(path), { lock: 'none' });
  await database.put(Buffer.from('a'), Buffer.from('1'));
  await database.flush();
  await database.close();
  const manifest = join(path, readdirSync(path).find((name) => name.startsWith('MANIFEST'))!);
  const bytes = Buffer.concat([readFileSync(manifest), Buffer.alloc(2 ** 20)]);
  return { path, manifest, bytes };
}

async function keysOf(path: string): Promise<string[]> {
  const reader = await DatabaseReader.open(new NodeFolder(path));
  const keys: string[] = [];
  for await (const key of reader.keys()) keys.push(Buffer.from(key).toString());
  await reader.close();
  return keys;
}

test('a MANIFEST that is damaged only while it is written is read again', async () => {
  const { path, manifest, bytes } = await someDatabase();
  const torn = Uint8Array.from(bytes);
  torn[10]! ^= 1;
  writeFileSync(manifest, torn);
  await copyFolder(path, join(scratch, 'copy'), watchedSignal((look) => look === 1 && writeFileSync(manifest, bytes)));
  expect(await keysOf(join(scratch, 'copy'))).toEqual(['a']);
});

test.skipIf(process.platform === 'win32')('a copy of files that are read-only can be written by its owner', async () => {
  const { path } = await someDatabase();
  for (const name of readdirSync(path)) chmodSync(join(path, name), 0o444);
  await copyFolder(path, join(scratch, 'copy'), watchedSignal(() => undefined));
  for (const name of readdirSync(join(scratch, 'copy'))) expect([name, statSync(join(scratch, 'copy', name)).mode & 0o600]).toEqual([name, 0o600]);
});

test('a MANIFEST that stays damaged is a failure', async () => {
  const { path, manifest, bytes } = await someDatabase();
  bytes[10]! ^= 1;
  writeFileSync(manifest, bytes);
  await expect(copyFolder(path, join(scratch, 'copy'), watchedSignal(() => undefined))).rejects.toThrow('is damaged at offset 0; bloom repair makes a new one');
  expect(readdirSync(scratch)).toEqual(['db']);
});

test('a MANIFEST that gets another edit without becoming longer is noticed', async () => {
  const { path, manifest, bytes } = await someDatabase();
  // Without its last edit it lists no table.
  const before = Uint8Array.from(bytes);
  const { records } = readLog(bytes);
  before.fill(0, records.at(-1)!.offset);
  writeFileSync(manifest, before);
  await copyFolder(path, join(scratch, 'copy'), watchedSignal((look) => look === 1 && writeFileSync(manifest, bytes)));
  expect(readFileSync(manifest)).toEqual(Buffer.from(bytes));
  expect(await keysOf(join(scratch, 'copy'))).toEqual(['a']);
});

test('a failure of the copy names the copy', async () => {
  const { path } = await someDatabase();
  // The new folder becomes a file while the first table is copied to it.
  const replaced = (look: number): void => {
    const name = readdirSync(scratch).find((one) => one.endsWith('.tmp'));
    if (look !== 1 || name === undefined) return;
    rmSync(join(scratch, name), { recursive: true });
    writeFileSync(join(scratch, name), '');
  };
  await expect(copyFolder(path, join(scratch, 'copy'), watchedSignal(replaced))).rejects.toThrow(`${join(scratch, 'copy')}: part of the path is not a folder`);
});

test('a failure of the folder names its file', async () => {
  const { path } = await someDatabase();
  const table = join(path, readdirSync(path).find((name) => name.endsWith('.ldb'))!);
  rmSync(table);
  symlinkSync(table, table);
  await expect(copyFolder(path, join(scratch, 'copy'), watchedSignal(() => undefined))).rejects.toThrow(`${table}: too many symbolic links`);
});

test.runIf(process.platform !== 'win32').each([
  ['a folder', (path: string) => mkdirSync(path), 'is a folder'],
  ['a link to a missing file', (path: string) => symlinkSync('missing', path), 'no such file or folder'],
])('a table that is %s is named, and the copy is not tried again', async (_, make, problem) => {
  const { path } = await someDatabase();
  const table = join(path, readdirSync(path).find((name) => name.endsWith('.ldb'))!);
  rmSync(table);
  make(table);
  let looks = 0;
  await expect(copyFolder(path, join(scratch, 'copy'), watchedSignal((look) => (looks = look)))).rejects.toThrow(new Failure(`${table}: ${problem}`));
  expect(looks).toBeLessThan(5);
});

test('a file counts only under the name that LevelDB gives its number', async () => {
  const { path } = await someDatabase();
  const table = readdirSync(path).find((name) => name.endsWith('.ldb'))!;
  for (const name of [table.replace(/^0+/, ''), `0${table}`]) writeFileSync(join(path, name), 'not of the database');
  await copyFolder(path, join(scratch, 'copy'), watchedSignal(() => undefined));
  expect(readdirSync(join(scratch, 'copy'))).toContain(table);
  expect(await keysOf(join(scratch, 'copy'))).toEqual(['a']);
});

test('an empty name of the folder to copy is refused, because it would be the current folder', async () => {
  await expect(copyFolder('', join(scratch, 'copy'), new AbortController().signal)).rejects.toThrow('the name of the folder is empty');
  expect(readdirSync(scratch)).toEqual([]);
});
