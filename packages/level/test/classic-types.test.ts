import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type * as bloom from '../src/node.js';

const NAMES = /^export (?:class|interface|type) (\w+)/gm;

test('every type name of classic-level is exported by both entry points', async () => {
  const classic = await readFile(join(dirname(createRequire(import.meta.url).resolve('classic-level')), 'index.d.ts'), 'utf8');
  const names = [...classic.matchAll(NAMES)].map(([, name]) => name!).filter((name) => name !== 'ClassicLevel');
  expect(names.length).toBeGreaterThan(15);
  for (const entry of ['index', 'node']) {
    const source = await readFile(join(import.meta.dirname, `../src/${entry}.ts`), 'utf8');
    const exported = [...source.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list]) => list!.split(',').map((name) => name.trim()));
    expect(exported).toEqual(expect.arrayContaining(names));
  }
});

test('options can be set one after another, as those of classic-level', () => {
  const open: bloom.OpenOptions = {};
  open.passive = true;
  open.createIfMissing = true;
  open.errorIfExists = false;
  open.compression = false;
  open.cacheSize = 2 ** 20;
  open.writeBufferSize = 2 ** 20;
  open.maxFileSize = 2 ** 20;
  open.blockSize = 4096;
  open.blockRestartInterval = 16;
  open.maxOpenFiles = 100;
  open.multithreading = true;
  const database: bloom.DatabaseOptions<string, string> = {};
  database.keyEncoding = 'utf8';
  database.cacheSize = 2 ** 20;
  database.multithreading = true;
  const iterator: bloom.IteratorOptions<string, string> & bloom.KeyIteratorOptions<string> & bloom.AdditionalIteratorOptions = {};
  iterator.gt = 'a';
  iterator.highWaterMarkBytes = 5;
  iterator.fillCache = false;
  const reads: bloom.GetOptions<string, string> & bloom.GetManyOptions<string, string> & bloom.HasOptions<string> & bloom.HasManyOptions<string> = {};
  reads.fillCache = false;
  const writes: bloom.PutOptions<string, string> & bloom.DelOptions<string> & bloom.BatchOptions<string, string> & bloom.ChainedBatchWriteOptions = {};
  writes.sync = true;
  const ends: bloom.StartEndOptions<string> = {};
  ends.keyEncoding = 'utf8';
  // The compiler checks it.
  expect([open.cacheSize, database.cacheSize, iterator.fillCache, reads.fillCache, writes.sync, ends.keyEncoding]).toHaveLength(6);
});
