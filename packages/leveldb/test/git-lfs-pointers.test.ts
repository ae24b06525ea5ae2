import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rejection } from '@bloom/fixtures/caught';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { expect, onTestFinished, test } from 'vitest';

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'4d'.repeat(32)}\nsize 12345\n`;

test.each([
  ['CURRENT', /^CURRENT$/, 'BLOOM_BAD_CURRENT'],
  ['a MANIFEST', /^MANIFEST/, 'BLOOM_BAD_LOG'],
  ['a log', /\.log$/, 'BLOOM_BAD_LOG'],
  ['a table', /\.ldb$/, 'BLOOM_TRUNCATED'],
])('a Git LFS pointer in place of %s is reported as one', async (_, pattern, code) => {
  const path = mkdtempSync(join(tmpdir(), 'bloom-pointers-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  const folder = new WritableNodeFolder(path);
  const database = await Database.open(folder, { reuseLogs: false, compression: 'none' });
  await database.put('a', new Uint8Array(2000));
  await database.flush();
  await database.put('b', '2');
  await database.close();
  writeFileSync(join(path, readdirSync(path).find((name) => pattern.test(name))!), POINTER);
  const expected = { code, message: expect.stringContaining('a Git LFS pointer, not the file itself: run git lfs pull') as string };
  expect(await rejection(DatabaseReader.open(folder))).toMatchObject(expected);
  const { findings } = await verifyDatabase(folder);
  expect(findings).toContainEqual(expect.objectContaining({ code, problem: expect.stringContaining('run git lfs pull') as string }));
  // A database that is opened for writing reads its tables later.
  expect(await rejection(Database.open(folder).then((opened) => opened.get('a').finally(() => opened.close())))).toMatchObject(expected);
});
