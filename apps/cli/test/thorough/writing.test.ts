import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();

test('tables are merged, the newest first, converted and compared', async () => {
  await build('old.ldb', [], scratch.path, 'a\t1\nb\t2\nc\t3\n');
  await build('new.ldb', [], scratch.path, 'b\tB\nz\t9\n');
  await bloomPrints(['merge', 'new.ldb', 'old.ldb', '-q', '-o', 'merged.ldb'], scratch.path);
  const merged = 'a\t1\nb\tB\nc\t3\nz\t9\n';
  expect(await bloomPrints(['scan', 'merged.ldb'], scratch.path)).toBe(merged);
  await bloomPrints(['convert', 'merged.ldb', '-q', '-o', 'zlib.ldb', '--compression', 'zlib', '--policy', 'ribbon', '--filter-range', '1MiB'], scratch.path);
  expect(await bloomPrints(['scan', 'zlib.ldb'], scratch.path)).toBe(merged);
  expect(await bloom(['diff', 'merged.ldb', 'zlib.ldb', '-q'], scratch.path)).toMatchObject({ code: 0, stderr: '' });
  const { code, stdout, stderr } = await bloom(['diff', 'old.ldb', 'merged.ldb'], scratch.path);
  expect({ code, stdout: stdout.toString(), stderr }).toEqual({
    code: 1,
    stdout: '-\tb\t2\n+\tb\tB\n+\tz\t9\n',
    stderr: 'bloom: 0 only in old.ldb, 1 only in merged.ldb, 1 with different values\n',
  });
});

test('a database is made, written, copied, compacted and deleted', async () => {
  scratch.write('more.tsv', 'z\t9\na\t1\nz\t10\n');
  await bloomPrints(['put', 'db', 'France', 'Paris'], scratch.path);
  await bloomPrints(['load', 'db', 'more.tsv', '-q'], scratch.path);
  expect(await bloom(['delete', 'db', 'a', 'absent', 'a'], scratch.path)).toMatchObject({ code: 0, stderr: 'bloom: db: 1 key deleted\n' });
  await bloomPrints(['copy', 'db', 'copy', '-q'], scratch.path);
  await bloomPrints(['compact', 'db', '-q'], scratch.path);
  for (const folder of ['db', 'copy']) expect(await bloomPrints(['scan', folder], scratch.path)).toBe('France\tParis\nz\t10\n');
  expect(await bloom(['destroy', 'db'], scratch.path)).toMatchObject({ code: 2 });
  expect(await bloom(['destroy', '--yes', 'db'], scratch.path)).toMatchObject({ code: 0 });
  expect(readdirSync(scratch.path)).not.toContain('db');
});

test('destroy counts only the files that it deletes', async () => {
  await bloomPrints(['put', 'counted', 'a', '1'], scratch.path);
  for (const name of ['5.ldb', 'MANIFEST-7', 'notes.txt']) scratch.write(`counted/${name}`, 'not of the database');
  const before = readdirSync(scratch.at('counted'));
  const { stderr } = await bloom(['destroy', '--yes', 'counted'], scratch.path);
  const after = readdirSync(scratch.at('counted'));
  expect(after.sort()).toEqual(['5.ldb', 'MANIFEST-7', 'notes.txt']);
  expect(stderr).toMatch(new RegExp(`^bloom: counted: deleted, ${before.length - after.length} files, `));
});
