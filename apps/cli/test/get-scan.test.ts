import { goldenTables } from '@bloom/fixtures';
import { spawn } from 'node:child_process';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from './bloom.js';
import { program, Scratch } from './bloom-process.js';

const scratch = new Scratch();

beforeAll(async () => {
  await build('letters.ldb', ['--block-size', '16'], scratch.path, 'a\t1\nb\t2\nc\t3\nd\t4\ne\t5\n');
});

describe('get', () => {
  test('prints values in the order of the keys', async () => {
    expect(await bloomPrints(['get', 'letters.ldb', 'd', 'a', 'd'], scratch.path)).toBe('4\n1\n4\n');
  });

  test('prints the values of present keys, names the absent keys, and exits with 1', async () => {
    const { code, stdout, stderr } = await bloom(['get', 'letters.ldb', 'a', 'x', 'e', 'bb'], scratch.path);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({
      code: 1,
      stdout: '1\n5\n',
      stderr: 'bloom: x: not found\nbloom: bb: not found\n',
    });
  });

  test('shows an absent empty key as quotes', async () => {
    expect(await bloom(['get', 'letters.ldb', ''], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: "": not found\n' });
  });

  test('accepts a key that starts with a dash after --', async () => {
    const { code, stderr } = await bloom(['get', 'letters.ldb', '--', '-x'], scratch.path);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'bloom: -x: not found\n' });
  });
});

describe('scan', () => {
  test.each([
    [['--gte', 'b', '--lt', 'd'], 'b c'],
    [['--gte', 'bb', '--lte', 'd'], 'c d'],
    [['--reverse', '--limit', '2'], 'e d'],
    [['--limit', '0'], ''],
    [['--hex', '--gt', '64'], '65'],
  ] as const)('%j gives %j', async (args, keys) => {
    const printed = await bloomPrints(['scan', 'letters.ldb', '-f', 'words', ...args], scratch.path);
    expect(printed.trimEnd().split('\n').join(' ')).toBe(keys);
  });

  test('exits without an error when the reader of its output exits', async () => {
    const [big] = goldenTables().filter(({ name }) => name === 'big-values-bits10.ldb');
    const child = spawn(process.execPath, [program, 'scan', big!.path, '--hex'], { cwd: scratch.path });
    let stderr = '';
    child.stderr.on('data', (piece: Buffer) => (stderr += piece.toString()));
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
