import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { goldenDatabases } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { bloom, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const pathOf = (name: string): string => goldenDatabases().find((row) => row.name === name)!.path;

describe('get --explain', () => {
  test('prints the value, and on standard error what the lookup searched and what it did not', async () => {
    const { code, stdout, stderr } = await bloom(['get', '--explain', pathOf('log-batches'), 'pear'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'blue\n' });
    expect(stderr).toMatch(/^bloom: "pear" at sequence [0-9,]+: a value, sequence [0-9,]+, in [0-9]{6}\.log\n(bloom: {3}.*\n)*bloom: {3}[0-9]{6}\.log +in memory, [0-9]+ (entry|entries): a value of 4 bytes, sequence [0-9,]+\n/);
  });

  test('names the table, the block and the filter of a key that is in a table, and exits with 1 for an absent one', async () => {
    const path = pathOf('levels');
    const key = (await bloom(['scan', path, '--limit', '1', '-f', 'words'], scratch.path)).stdout.toString().trimEnd();
    const found = await bloom(['get', '--explain', path, key], scratch.path);
    expect(found.code).toBe(0);
    expect(found.stderr).toMatch(/level [0-9], [0-9]{6}\.ldb +block 1 of [0-9,]+, .*(read at|in the cache).*: a value of/);
    const absent = await bloom(['get', '--explain', path, `${key}\u0001absent`], scratch.path);
    expect(absent.code).toBe(1);
    expect(absent.stdout.toString()).toBe('');
    expect(absent.stderr).toContain(': absent from every source\n');
    expect(absent.stderr).toContain(': not found\n');
  });

  test('explains a lookup that fails at damage, and then fails as without it', async () => {
    const damaged = scratch.at('damaged');
    cpSync(pathOf('levels'), damaged, { recursive: true });
    const key = (await bloom(['scan', damaged, '--limit', '1', '-f', 'words'], scratch.path)).stdout.toString().trimEnd();
    for (const name of readdirSync(damaged).filter((file) => file.endsWith('.ldb'))) {
      const bytes = readFileSync(join(damaged, name));
      bytes[10]! ^= 0x40;
      writeFileSync(join(damaged, name), bytes);
    }
    const { code, stdout, stderr } = await bloom(['get', '--explain', damaged, key], scratch.path);
    const without = await bloom(['get', damaged, key], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(': failed: data block at offset 0: ');
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(without.stderr.trimEnd());
  });

  test('is also for a table, and not with --all-versions', async () => {
    await build('plain.ldb', [], scratch.path, 'a\t1\n');
    expect(await bloom(['get', '--explain', 'plain.ldb', 'a'], scratch.path)).toMatchObject({
      code: 0,
      stderr: 'bloom: plain.ldb: "a": block 1 of 1, the filter says maybe, 13 bytes read at 0\n',
    });
    const both = await bloom(['get', '--explain', '--all-versions', pathOf('levels'), 'a'], scratch.path);
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('--all-versions');
  });

  test('is in the help', async () => {
    expect((await bloom(['help', 'get'], scratch.path)).stdout.toString()).toContain('--explain');
  });
});
