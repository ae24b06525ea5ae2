import { linkSync, readdirSync, symlinkSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const tsv = 'a\t1\nb\t2\n';

beforeAll(async () => {
  await build('good.ldb', [], scratch.path, tsv);
  const damaged = scratch.read('good.ldb');
  damaged[3]! ^= 1;
  scratch.write('damaged.ldb', damaged);
  scratch.write('good.tsv', tsv);
  for (const name of ['damaged.ldb', 'good.tsv']) {
    linkSync(scratch.at(name), scratch.at(`hard-${name}`));
    symlinkSync(name, scratch.at(`soft-${name}`));
    symlinkSync(`soft-${name}`, scratch.at(`softer-${name}`));
  }
});

describe('a command that would overwrite its own input is refused before anything is written:', () => {
  const names = (name: string): string[] => [name, `./${name}`, `hard-${name}`, `soft-${name}`, `softer-${name}`];

  test.each(names('damaged.ldb'))('salvage damaged.ldb -o %s', async (output) => {
    const before = scratch.read('damaged.ldb');
    const { code, stdout, stderr } = await bloom(['salvage', 'damaged.ldb', '-o', output], scratch.path);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 2,
      stdout: '',
      stderr: `bloom: ${output}: is also the input: choose another file\n`,
    });
    expect(scratch.read('damaged.ldb').equals(before)).toBe(true);
  });

  test.each(names('good.tsv'))('build good.tsv -o %s', async (output) => {
    const { code, stderr } = await bloom(['build', 'good.tsv', '-o', output], scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `bloom: ${output}: is also the input: choose another file\n` });
    expect(scratch.read('good.tsv').toString()).toBe(tsv);
  });

  test.each([
    ['bloom build - -o good.tsv < good.tsv', 'good.tsv: is also the input: choose another file'],
    ['bloom build - --sort -o hard-good.tsv < good.tsv', 'hard-good.tsv: is also the input: choose another file'],
    ['bloom scan good.ldb >> good.ldb', 'good.ldb: is also the file that standard output goes to, which would overwrite it'],
    ['bloom diff good.ldb damaged.ldb >> good.ldb', 'good.ldb: is also the file that standard output goes to, which would overwrite it'],
    ['bloom merge good.ldb -o new.ldb --json >> good.ldb', 'good.ldb: is also the file that standard output goes to, which would overwrite it'],
    ['bloom bulk split -n 2 good.ldb >> good.ldb', 'good.ldb: is also the file that standard output goes to, which would overwrite it'],
    ['bloom layout good.ldb 1<> good.ldb', 'good.ldb: is also the file that standard output goes to, which would overwrite it'],
  ])('%s', async (line, problem) => {
    const before = [scratch.read('good.ldb'), scratch.read('good.tsv')];
    expect(await shell(line, scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${problem}\n` });
    expect([scratch.read('good.ldb'), scratch.read('good.tsv')]).toEqual(before);
  });

  test.each([
    ['good.list', tsv, ['build', 'good.list'], 'good.list: is also the input: choose another file'],
    ['good.list', 'copy.ldb\n', ['merge', '--files', 'good.list'], 'good.list: is also the input: choose another file'],
    ['good-000001.ldb', undefined, ['convert', 'good-000001.ldb'], 'good-000001.ldb: could be overwritten by one of the numbered tables good-….ldb: choose another output'],
  ])('%s, with --max-table-size', async (name, content, args, problem) => {
    scratch.write('copy.ldb', scratch.read('good.ldb'));
    scratch.write(name, content ?? scratch.read('good.ldb'));
    const before = scratch.read(name);
    expect(await bloom([...args, '-o', 'good.ldb', '--max-table-size', '64K'], scratch.path)).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) as unknown });
    expect(scratch.read(name)).toEqual(before);
  });

  test.each([
    ['bloom convert - -o good.log < good.log', 'good.log: is also the input: choose another file'],
    ['bloom convert good.list -o good.ldb --max-table-size 64K', 'good.list: is also the input: choose another file'],
    ['bloom convert - -o good.ldb --max-table-size 64K < good.list', 'good.list: is also the input: choose another file'],
    ['bloom convert good-000001.log -o good.log --max-table-size 64K', 'good-000001.log: could be overwritten by one of the numbered tables good-….log: choose another output'],
    ['bloom convert - -o good.log --max-table-size 64K < good-000001.log', 'standard input: could be overwritten by one of the numbered tables good-….log: choose another output'],
    ['bloom convert latest.ldb -o good.ldb --max-table-size 64K', 'latest.ldb: could be overwritten by one of the numbered tables good-….ldb: choose another output'],
    ['bloom build - -o good.tsv --max-table-size 64K < good-000003.tsv', 'standard input: could be overwritten by one of the numbered tables good-….tsv: choose another output'],
    ['bloom merge --files names -o names', 'names: is also the input: choose another file'],
    ['bloom merge --files - -o names < names', 'names: is also the input: choose another file'],
  ])('%s, which is not obvious from the names', async (line, problem) => {
    const folder = new Scratch();
    const table = scratch.read('good.ldb');
    folder.write('good.ldb', table);
    folder.write('good-000002.ldb', table);
    symlinkSync('good-000002.ldb', folder.at('latest.ldb'));
    folder.write('names', 'good-000002.ldb\n');
    folder.write('good-000003.tsv', tsv);
    await bloomPrints(['put', 'database', 'a', '1'], folder.path);
    const log = readdirSync(folder.at('database')).find((name) => name.endsWith('.log'))!;
    for (const name of ['good.log', 'good.list', 'good-000001.log']) folder.write(name, folder.read(`database/${log}`));
    const contents = (): unknown[] => readdirSync(folder.path).map((name) => [name, name === 'database' ? '' : folder.read(name).toString('latin1')]);
    const before = contents();
    expect(await shell(line, folder.path)).toMatchObject({ code: 2, stderr: `bloom: ${problem}\n` });
    expect(contents()).toEqual(before);
  });

  test('convert of a folder with --max-table-size does not replace a folder with the list', async () => {
    const folder = new Scratch();
    await bloomPrints(['put', 'all.list', 'a', '1'], folder.path);
    expect(await bloom(['convert', 'all.list', '-o', 'all.ldb', '--max-table-size', '64K'], folder.path)).toMatchObject({ code: 2, stderr: 'bloom: all.list: is a folder\n' });
  });

  test('convert of a folder to one of its own files', async () => {
    await bloomPrints(['put', 'db', 'a', '1'], scratch.path);
    const log = readdirSync(scratch.at('db')).find((name) => name.endsWith('.log'))!;
    expect(await bloom(['convert', 'db', '-o', `db/${log}`], scratch.path)).toMatchObject({ code: 2, stderr: `bloom: db/${log}: is a file of a database, which would be damaged: choose a file elsewhere\n` });
    expect(await bloomPrints(['get', 'db', 'a'], scratch.path)).toBe('1\n');
  });
});

test('salvage writes nothing if it saves nothing, and says so', async () => {
  scratch.write('old.ldb', 'what was there before');
  const { code, stdout, stderr } = await bloom(['salvage', 'damaged.ldb', '-o', 'old.ldb'], scratch.path);
  expect(code).toBe(1);
  expect(stdout.toString()).toMatch(/^[0-9]+ bytes at offset 0: checksum mismatch: stored [^\n]*\n$/);
  expect(stderr).toBe('bloom: damaged.ldb: nothing can be saved; old.ldb was not written\n');
  expect(scratch.read('old.ldb').toString()).toBe('what was there before');
  expect(readdirSync(scratch.path).filter((name) => name.includes('.tmp'))).toEqual([]);
});

test('file names may start with a dash', async () => {
  scratch.write('-in.tsv', tsv);
  const built = await bloom(['build', '-q', '-o', '-out.ldb', '--', '-in.tsv'], scratch.path);
  expect(built).toMatchObject({ code: 0, stderr: '' });
  expect(await bloom(['get', '--', '-out.ldb', 'b'], scratch.path)).toMatchObject({ code: 0, stdout: Buffer.from('2\n') });
  expect((await bloom(['build', 'good.tsv', '-q', '-o', './-'], scratch.path)).code).toBe(0);
  expect((await bloom(['stat', './-'], scratch.path)).code).toBe(0);
});
