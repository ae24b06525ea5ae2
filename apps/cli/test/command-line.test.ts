import { mkdtempSync, readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from './bloom.js';
import { Scratch } from './bloom-process.js';

const scratch = new Scratch();

describe('--help', () => {
  test('groups the commands by job', async () => {
    const help = await bloomPrints(['--help'], scratch.path);
    expect([...help.matchAll(/^[A-Z][a-z ]+:$/gm)].map(([heading]) => heading)).toEqual(['Options:', 'Look:', 'Write:', 'Rescue:', 'Publish:', 'Tune:', 'Set up:', 'Exit codes:', 'Examples:']);
  });

  test('leaves out rare options, and --help-all lists them', async () => {
    const help = await bloomPrints(['get', '--help'], scratch.path);
    const all = await bloomPrints(['get', '--help-all'], scratch.path);
    const optionsOf = (text: string): string[] => [...text.matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(([, option]) => option!);
    const rare = optionsOf(all).filter((option) => !optionsOf(help).includes(option));
    expect(rare).toContain('--codec');
    expect(help).toContain(`--help-all lists ${rare.length} more options`);
    expect(all).not.toContain('--help-all lists');
  });

  test.each([
    [['help', 'get'], ['get', '--help-all']],
    [['help', 'bulk', 'part'], ['bulk', 'part', '--help-all']],
    [['help', 'part'], ['bulk', 'part', '--help-all']],
    [['compression', '--help'], ['advise', 'compression', '--help']],
    [['filter', 'compare', '--help'], ['advise', 'filters', '--help']],
    [['size', '--help'], ['count', '--help']],
  ])('of bloom %s is that of bloom %s', async (given, expected) => {
    expect(await bloomPrints(given, scratch.path)).toBe(await bloomPrints(expected, scratch.path));
  });

  test('states the bits per key that parts have by default', async () => {
    const part = async (folder: string, ...options: string[]): Promise<unknown> => {
      const { stdout } = await bloom(['bulk', 'part', '-', '--sequence', '1', '-o', folder, ...options], scratch.path, 'a\t1\nb\t2\n');
      return JSON.parse(stdout.toString());
    };
    const help = await bloomPrints(['bulk', 'part', '--help'], scratch.path);
    const stated = /bits of filter per key \(default: (?<bits>\d+)\)/.exec(help)!.groups!.bits!;
    expect(await part('stated', '--bits-per-key', stated)).toEqual(await part('default'));
    expect(await part('other', '--bits-per-key', '10')).not.toEqual(await part('default'));
  });

  test.each(['get', 'scan', 'count', 'find', 'stat', 'verify', 'diff', 'convert', 'advise compression'])('of bloom %s says how a bucket is read', async (command) => {
    const help = await bloomPrints([...command.split(' '), '--help'], scratch.path);
    expect(help.replaceAll(/\s+/g, ' ')).toMatch(/Arguments: .*s3:\/\/BUCKET\/PREFIX.*Options:.*AWS_ACCESS_KEY_ID.*AWS_ENDPOINT_URL/);
    expect(help.split('\n').filter((text) => text.length > 80)).toEqual([]);
  });

  test('does not say of a failure that nothing was done, because entries before it may have been written', async () => {
    const { code } = await bloom(['load', 'folder', '-', '--batch-size', '1'], scratch.path, 'a\t1\nwrong\n');
    expect(code).toBe(2);
    expect(await bloomPrints(['scan', 'folder'], scratch.path)).toBe('a\t1\n');
    expect(await bloomPrints(['--help'], scratch.path)).not.toContain('nothing was done');
  });

  test('is an argument after --', async () => {
    await build('letters.ldb', [], scratch.path, '--help-all\t1\n');
    expect(await bloomPrints(['get', 'letters.ldb', '--', '--help-all'], scratch.path)).toBe('1\n');
  });
});

test.each([
  ['destroy', '--yes', ''],
  ['put', '', 'b', '2'],
  ['load', '', '-'],
  ['delete', '', 'a'],
  ['compact', ''],
  ['repair', ''],
  ['refilter', ''],
])('%s refuses an empty name of the folder, which is not the current folder', async (...args) => {
  const folder = mkdtempSync(scratch.at('database-'));
  await bloomPrints(['put', '.', 'a', '1'], folder);
  const before = readdirSync(folder).sort();
  expect(await bloom(args, folder, 'b\t2\n')).toMatchObject({ code: 2, stderr: `bloom: the name of the ${args[0] === 'refilter' ? 'input' : 'folder'} is empty\n` });
  expect(readdirSync(folder).sort()).toEqual(before);
  expect(await bloomPrints(['scan', '.'], folder)).toBe('a\t1\n');
});

describe('colours', () => {
  const coloured = (env: Record<string, string>): Promise<boolean> =>
    bloom(['get', 'absent.ldb', 'a'], scratch.path, '', { FORCE_COLOR: '', NO_COLOR: '', ...env }).then(({ stderr }) => stderr !== 'bloom: absent.ldb: no such file or folder\n');

  test('are for terminals, unless FORCE_COLOR is set', async () => {
    expect(await coloured({})).toBe(false);
    expect(await coloured({ FORCE_COLOR: '1' })).toBe(true);
    expect(await coloured({ FORCE_COLOR: '0' })).toBe(false);
    const { stdout } = await bloom(['--help'], scratch.path, '', { FORCE_COLOR: '1' });
    expect(stdout.toString()).toContain('\x1b[1mLook:\x1b[22m');
  });
});
