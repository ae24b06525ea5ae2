import { realFiles } from '@bloom/fixtures';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bloom } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const files = realFiles();

describe('tables that other programs wrote', () => {
  const tables = files.filter((file) => file.isTable);

  test.each(tables)('scan prints the recorded entries of $file', async ({ path, entriesSha256, entries }) => {
    const { code, stdout, stderr } = await bloom(['scan', path, '-f', 'kv'], scratch.path);
    const folder = dirname(path);
    const warning = `bloom: ${path}: is one file of the database in ${folder}: newer versions of its keys may be in other files; pass the folder to read all of them\n`;
    expect({ code, stderr }).toEqual({ code: 0, stderr: existsSync(join(folder, 'CURRENT')) ? warning : '' });
    expect(createHash('sha256').update(stdout).digest('hex')).toBe(entriesSha256);
    expect(entries).toBeGreaterThanOrEqual(0);
  });
});

describe('a file that is neither a table nor part of a database', () => {
  // One file of each kind: one for each other magic number.
  const kinds = new Map(files.filter(({ isTable, path }) => !isTable && !/\d+\.log$|MANIFEST-\d+$|CURRENT$/.test(path)).map((file) => [file.magic, file]));

  test.each([...kinds.values()])('$file is refused', async ({ path }) => {
    const { code, stdout, stderr } = await bloom(['get', path, 'key'], scratch.path);
    expect(code).toBe(2);
    expect(stdout.length).toBe(0);
    expect(stderr.startsWith(`bloom: ${path}: `)).toBe(true);
    expect(stderr).toMatch(/^[^\n]*not a LevelDB table[^\n]*\n$/);
  });
});
