import { realTables } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints, patient, Scratch } from './bloom-process.js';

const scratch = new Scratch();
const { path } = realTables().find(({ file }) => file.endsWith('db-stage-3/000005.sst'))!;

describe("a database's table", patient, () => {
  test('is shown by user key, sequence, type and value', async () => {
    expect(await bloomPrints(['scan', '--internal', path], scratch.path)).toBe(
      'bar\t5\tdeletion\t\nbar\t2\tvalue\ttwo\nbaz\t3\tvalue\tthree\nfoo\t4\tvalue\tfour\nfoo\t1\tvalue\tone\n',
    );
    expect(await bloomPrints(['scan', '--internal', '-f', 'jsonl', '--gt', 'bar', '--limit', '1', path], scratch.path)).toBe(
      '{"key":"baz","sequence":"3","type":"value","value":"three"}\n',
    );
    expect(await bloomPrints(['scan', '--internal', '--hex', '--lte', '626172', '--reverse', path], scratch.path)).toBe(
      '626172\t2\tvalue\t74776f\n626172\t5\tdeletion\t\n',
    );
  });

  test('gives the newest version of a key, and a deleted one is absent', async () => {
    expect(await bloomPrints(['get', '--internal', path, 'foo'], scratch.path)).toBe('four\n');
    expect(await bloom(['get', '--internal', path, 'bar'], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: bar: not found\n' });
  });

  test('kv has no room for versions, and says so', async () => {
    const { code, stderr } = await bloom(['scan', '--internal', '-f', 'kv', path], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/kv has no room for sequence and type/);
  });

  test('is in order as such, and out of order as a table of plain keys', async () => {
    expect((await bloom(['verify', '--internal', path], scratch.path)).code).toBe(0);
    expect((await bloom(['verify', path], scratch.path)).stdout.toString()).toContain('BLOOM_OUT_OF_ORDER');
  });

  test('of plain keys is no table of a database', async () => {
    const plain = realTables().find(({ keyKind }) => keyKind === 'raw')!;
    const { code, stderr } = await bloom(['scan', '--internal', plain.path], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/too short for a database's|kv|TAB/);
  });
});
