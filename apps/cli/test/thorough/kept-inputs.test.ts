import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dataPath } from '@bloom/fixtures';
import { bloom, bloomPrints } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const tsv = Array.from({ length: 2000 }, (_, i) => `key${String(i).padStart(6, '0')}\t${'value'.repeat(20)}\n`).join('');
scratch.write('words.tsv', tsv);

describe('with --max-table-size, no input is replaced', () => {
  test('by the list of tables', async () => {
    scratch.write('words.list', tsv);
    const built = await bloom(['build', 'words.list', '-o', 'words.ldb', '--max-table-size', '64KiB'], scratch.path);
    expect(built).toMatchObject({ code: 2, stderr: 'bloom: words.list: is also the input: choose another file\n' });
    expect(scratch.read('words.list').toString()).toBe(tsv);
  });

  test('by the list of a merge, which names the tables to merge', async () => {
    await bloomPrints(['build', 'words.tsv', '-q', '-o', 'one.ldb'], scratch.path);
    scratch.write('all.list', 'one.ldb\n');
    const merged = await bloom(['merge', '--files', 'all.list', '-o', 'all.ldb', '--max-table-size', '64KiB'], scratch.path);
    expect(merged).toMatchObject({ code: 2, stderr: 'bloom: all.list: is also the input: choose another file\n' });
    expect(scratch.read('all.list').toString()).toBe('one.ldb\n');
  });

  test('and no table gets its name unless the list can have its own', async () => {
    mkdirSync(join(scratch.path, 'taken.list'));
    const before = readdirSync(scratch.path).sort();
    expect(await bloom(['build', 'words.tsv', '-o', 'taken.ldb', '--max-table-size', '64KiB'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: taken.list: is a folder\n' });
    expect(readdirSync(scratch.path).sort()).toEqual(before);
  });
});

test('a database is not converted into one of its own files', async () => {
  await bloomPrints(['load', 'db', 'words.tsv', '-q'], scratch.path);
  const table = readdirSync(join(scratch.path, 'db')).find((name) => name.endsWith('.ldb') || name.endsWith('.log'))!;
  const converted = await bloom(['convert', 'db', '-o', join('db', table)], scratch.path);
  expect(converted).toMatchObject({ code: 2, stderr: `bloom: db/${table}: is inside db, which must not change: choose a file elsewhere\n` });
  expect(await bloomPrints(['get', 'db', 'key000007'], scratch.path)).toContain('value');
});

describe('parts of bulk', () => {
  test('are recognized as tables of a database, although their keys have one sequence', async () => {
    scratch.write('few.tsv', 'a\t1\nb\t2\nc\t3\n');
    await bloomPrints(['bulk', 'part', 'few.tsv', '--sequence', '5', '-q', '-o', 'parts'], scratch.path);
    const [part] = readdirSync(join(scratch.path, 'parts')).filter((name) => name.endsWith('.ldb'));
    expect((await bloom(['get', join('parts', part!), 'b'], scratch.path)).stdout.toString()).toBe('2\n');
    expect(await bloomPrints(['bulk', 'part', join('parts', part!), '--sequence', '6', '-q', '-o', 'again'], scratch.path)).toContain('"first":"61"');
  });

  test('of levels take neither --deletions nor --drop-deletions', async () => {
    for (const option of [['--deletions', 'few.tsv'], ['--drop-deletions']]) {
      expect(await bloom(['bulk', 'part', '--levels', '4,5', 'parts', ...option, '--sequence', '7', '-o', 'p7'], scratch.path)).toMatchObject({ code: 2, stderr: expect.stringContaining(`bloom: ${option[0]} is for`) as unknown });
    }
  });
});

test('a merge takes an empty table anywhere among tables of a database', async () => {
  scratch.write('none.tsv', '');
  await bloomPrints(['build', 'none.tsv', '-q', '-o', 'empty.ldb'], scratch.path);
  const [part] = readdirSync(join(scratch.path, 'parts')).filter((name) => name.endsWith('.ldb'));
  for (const [i, inputs] of [['empty.ldb', join('parts', part!)], [join('parts', part!), 'empty.ldb']].entries()) {
    await bloomPrints(['merge', ...inputs, '-q', '-o', `merged${i}.ldb`], scratch.path);
    expect((await bloom(['get', `merged${i}.ldb`, 'c'], scratch.path)).stdout.toString()).toBe('3\n');
  }
});

test.each([
  [['explore', 'https://u:secret@127.0.0.1:9/db/?token=t'], 'https://127.0.0.1:9/db/: is not a folder or a file: explore reads those of this machine'],
  [['bulk', 'part', 'https://u:secret@127.0.0.1:9/a.ldb?token=t', 'few.tsv', '--sequence', '1', '-o', 'p'], 'https://127.0.0.1:9/a.ldb is a table and few.tsv is not: pass only tables, or only entries'],
])('%j prints no secret of a URL', async (args, message) => {
  expect(await bloom(args, scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${message}\n` });
});

test('a percent sign in a URL may stand for itself', async () => {
  const { code, stderr } = await bloom(['scan', 'http://127.0.0.1:9/100%.ldb'], scratch.path);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^bloom: http:\/\/127\.0\.0\.1:9\/100%\.ldb: /);
});

describe('keys in the order of IndexedDB', () => {
  test('keep their order and get filters for it in convert, and stat and filter test read them', async () => {
    await bloomPrints(['convert', dataPath('web-storage/page.indexeddb.leveldb'), '-q', '-o', 'idb.ldb'], scratch.path);
    expect(await bloomPrints(['stat', '--comparator', 'idb_cmp1', 'idb.ldb'], scratch.path)).toContain('leveldb.BuiltinBloomFilter2, used');
    expect((await bloom(['filter', 'test', 'idb.ldb', '--comparator', 'idb_cmp1'], scratch.path)).code).toBe(0);
    expect((await bloom(['salvage', 'idb.ldb', '--comparator', 'idb_cmp1', '-o', 'saved.ldb'], scratch.path)).code).toBe(0);
  });
});

test('salvage makes filters of the first --policy', async () => {
  expect((await bloom(['salvage', 'one.ldb', '--policy', 'ribbon', '-o', 'ribbon.ldb'], scratch.path)).code).toBe(0);
  expect(await bloomPrints(['stat', '--json', 'ribbon.ldb'], scratch.path)).toContain('bloom.RibbonFilter');
});

test('filter size leaves the blocked policy out where it has no such number of bits', async () => {
  const { code, stdout } = await bloom(['filter', 'size', '1000', '--bits-per-key', '65'], scratch.path);
  expect(code).toBe(0);
  expect(stdout.toString()).toContain('blocked: has at most 64 bits per key');
});
