import { statSync } from 'node:fs';
import { goldenDatabases } from '@bloom/fixtures';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomLine, bloomPrints, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const lines = Array.from({ length: 5000 }, (_, i) => `user/${String(i).padStart(6, '0')}\tsome value with number ${(i * 7919) % 5000}\n`).join('');

beforeAll(async () => {
  await build('users.ldb', [], scratch.path, lines);
  await bloom(['load', 'folder', '-', '-q'], scratch.path, lines);
  await bloom(['load', 'folder', '-', '-q'], scratch.path, 'user/000001\tanother value\n');
  await bloom(['delete', 'folder', 'user/000002'], scratch.path);
});

interface Row {
  readonly compression: string;
  readonly blockSize: number;
  readonly bytes: number;
  readonly seconds: number;
}

async function rowsOf(...args: string[]): Promise<Row[]> {
  const { code, stdout } = await bloom(['compression', '--json', ...args], scratch.path);
  expect(code).toBe(0);
  return stdout
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

describe('compression', () => {
  test.each(['users.ldb', 'folder'])('says how large the tables are that convert writes of %s', async (input) => {
    const rows = await rowsOf(input, '--block-size', '1K', '--block-size', '32KiB');
    expect(rows.map(({ compression, blockSize }) => `${compression} ${blockSize}`)).toEqual(['none', 'snappy', 'zlib', 'deflate'].flatMap((name) => [`${name} 1024`, `${name} 32768`]));
    for (const { compression, blockSize, bytes } of rows) {
      await bloomPrints(['convert', input, '-o', 'new.ldb', '-q', '--no-filter', '--compression', compression, '--block-size', String(blockSize)], scratch.path);
      expect(bytes).toBe(statSync(scratch.at('new.ldb')).size);
    }
  });

  test('prints a row for each, with shares of the first', async () => {
    const printed = await bloomPrints(['compression', 'users.ldb', '-q'], scratch.path);
    const rows = printed.trimEnd().split('\n');
    expect(rows).toHaveLength(13);
    expect(rows[0]).toMatch(/^compression +block size +bytes +share +time$/);
    expect(rows[1]).toMatch(/^none +4 KiB +[\d,]+ +100\.0% +\d+\.\d\d s$/);
  });

  test('tries codecs of modules, and reads golden folders in their order', async () => {
    scratch.write('codec.mjs', `
      import { deflateRawSync, inflateRawSync } from 'node:zlib';
      export default { name: 'mine', type: 77, compress: (bytes) => deflateRawSync(bytes), decompress: (bytes) => inflateRawSync(bytes) };
    `);
    scratch.write('reverse.mjs', `
      export default { name: 'test.ReverseBytewiseComparator', compare: (a, b) => Buffer.compare(b, a), findShortestSeparator: (start) => start, findShortSuccessor: (key) => key };
    `);
    expect((await rowsOf('users.ldb', '--codec', './codec.mjs', '--block-size', '4K')).map(({ compression }) => compression)).toEqual(['none', 'snappy', 'mine', 'zlib', 'deflate']);
    const { path } = goldenDatabases().find(({ name }) => name === 'reverse')!;
    expect(await rowsOf(path, '--comparator', './reverse.mjs')).toHaveLength(12);
  });

  test.each([
    ['compression absent', 'absent: no such file or folder'],
    ['compression users.ldb --block-size 0', /^option '--block-size <bytes>' argument '0' is invalid/],
    ['compression reversed.ldb', /another order: pass --comparator/],
  ])('refuses: bloom %s', async (line, problem) => {
    await build('reversed.ldb', ['--comparator', './reverse.mjs'], scratch.path, lines.trimEnd().split('\n').reverse().join('\n'));
    const { code, stdout, stderr } = await bloomLine(line, scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    if (typeof problem === 'string') expect(stderr).toBe(`bloom: ${problem}\n`);
    else expect(stderr.slice('bloom: '.length)).toMatch(problem);
  });
});
