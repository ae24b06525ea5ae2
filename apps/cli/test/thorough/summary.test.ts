import { cpSync, mkdirSync, readdirSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { goldenDatabases } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { bloom } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
scratch.write('in.tsv', 'a\t1\nb\t2\nc\t3\n');
scratch.write('twice.tsv', 'b\t2\na\t1\nb\t3\n');

/** The summary that a command prints with --json: one line on standard output, and nothing on standard error. */
async function summaryOf(args: readonly string[], expectedCode = 0): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await bloom([...args, '--json'], scratch.path);
  expect({ code, stderr }).toEqual({ code: expectedCode, stderr: '' });
  expect(stdout.toString()).toMatch(/^\{[^\n]*\}\n$/);
  return JSON.parse(stdout.toString()) as Record<string, unknown>;
}

const number = expect.any(Number) as unknown;

describe('--json prints the summary', () => {
  test('of build, merge and convert', async () => {
    const table = { entries: 3, bytes: number, dataBlocks: 1, filters: 1, filterBytes: number, seconds: number };
    expect(await summaryOf(['build', 'in.tsv', '-o', 'a.ldb'])).toEqual({ output: 'a.ldb', ...table, replaced: 0 });
    expect(await summaryOf(['build', 'twice.tsv', '--sort', '-o', 'b.ldb'])).toMatchObject({ entries: 2, replaced: 1 });
    expect(await summaryOf(['merge', 'a.ldb', 'b.ldb', '-o', 'm.ldb'])).toEqual({ inputs: ['a.ldb', 'b.ldb'], output: 'm.ldb', ...table });
    expect(await summaryOf(['convert', 'a.ldb', '-q', '-o', 'c.ldb', '--no-filter'])).toEqual({ input: 'a.ldb', output: 'c.ldb', ...table, filters: 0, filterBytes: 0 });
    const numbered = await summaryOf(['build', 'in.tsv', '-o', 'n.ldb', '--max-table-size', '1', '--block-size', '1']);
    expect(numbered).toMatchObject({ list: 'n.list', entries: 3, tables: [1, 2, 3].map((i) => ({ output: `n-00000${i}.ldb`, entries: 1 })) });
  });

  test('of load, put, delete, compact, copy and destroy', async () => {
    expect(await summaryOf(['load', 'db', 'in.tsv'])).toEqual({ folder: 'db', entries: 3, seconds: number });
    scratch.write('versions.jsonl', '{"key":"x","value":"1"}\n{"key":"x","type":"deletion"}\n');
    expect(await summaryOf(['load', 'versions-db', 'versions.jsonl', '-f', 'jsonl', '--versions'])).toEqual({ folder: 'versions-db', entries: 2, deletions: 1, seconds: number });
    expect(await summaryOf(['put', 'db', 'd', '12345'])).toEqual({ folder: 'db', keyHex: '64', valueBytes: 5 });
    expect(await summaryOf(['delete', 'db', 'a', 'z'])).toEqual({ folder: 'db', deleted: 1 });
    expect(await summaryOf(['delete', 'db', 'z'], 1)).toEqual({ folder: 'db', deleted: 0 });
    expect(await summaryOf(['compact', 'db'])).toEqual({ folder: 'db', before: { tables: number, bytes: number }, after: { tables: 1, bytes: number }, seconds: number });
    const copied = await summaryOf(['copy', 'db', 'db-copy']);
    expect(copied).toEqual({ folder: 'db', copy: 'db-copy', files: number, bytes: number });
    expect(await summaryOf(['destroy', '--yes', 'db-copy'])).toEqual({ folder: 'db-copy', deleted: true, files: copied.files, bytes: copied.bytes });
  });

  test('of repair and salvage, with what was lost', async () => {
    const golden = goldenDatabases().find(({ name }) => name === 'table-damaged')!;
    cpSync(golden.path, scratch.at('damaged'), { recursive: true });
    const table = readdirSync(golden.path).find((name) => name.endsWith('.ldb'))!;
    const lost = { offset: number, bytes: number, code: 'BLOOM_BAD_CHECKSUM', problem: expect.any(String) as unknown };

    const ofTable = { input: `damaged/${table}`, dataBlocks: number, foundBlocks: 0, outOfOrder: 0, findings: [], moreFindings: 0, lost: [lost], moreLost: 0, lostBytes: number };
    const one = await bloom(['salvage', `damaged/${table}`, '--internal', '-o', 'one.ldb', '--json'], scratch.path);
    expect(JSON.parse(one.stdout.toString())).toEqual({ output: 'one.ldb', entries: number, inputs: [{ ...ofTable, entries: number }] });
    expect(one.code).toBe(1);

    const folder = { input: 'damaged', entries: golden.verified!.entries, problem: null, lost: [{ file: table, offset: number, bytes: null, reason: expect.any(String) as unknown, code: 'BLOOM_BAD_CHECKSUM' }] };
    expect(await summaryOf(['salvage', 'damaged', '-o', 'two.ldb'], 1)).toEqual({ output: 'two.ldb', entries: folder.entries, inputs: [folder] });
    expect(await summaryOf(['build', 'in.tsv', '-o', 'a.ldb'])).toMatchObject({ entries: 3 });
    const both = await summaryOf(['salvage', 'damaged', 'a.ldb', '-o', 'both.ldb'], 1);
    expect(both).toMatchObject({ output: 'both.ldb', entries: folder.entries + 3, inputs: [folder, { input: 'a.ldb', entries: 3, lost: [] }] });

    scratch.write('nothing.ldb', 'no table');
    expect(await summaryOf(['salvage', 'nothing.ldb', '-o', 'none.ldb'], 1)).toMatchObject({ output: null, entries: 0, inputs: [{ input: 'nothing.ldb', entries: 0 }] });

    const { size } = statSync(join(golden.path, table));
    truncateSync(scratch.at(`damaged/${table}`), 100);
    expect(await summaryOf(['repair', 'damaged'], 1)).toEqual({
      folder: 'damaged',
      manifest: golden.manifest,
      guessed: [],
      kept: number,
      written: number,
      entries: number,
      setAside: expect.arrayContaining([{ file: table, as: table, reason: 'damaged' }]) as unknown,
      lost: [
        { file: table, offset: 0, bytes: 100, reason: expect.any(String) as unknown, code: 'BLOOM_BAD_CHECKSUM' },
        { file: table, offset: 100, bytes: size - 100, reason: `the file ends here, but the MANIFEST says that it has ${size} bytes`, code: 'BLOOM_TRUNCATED' },
      ],
      moreLost: 0,
    });
  });
});

test('diff --json counts what differs, and prints no entries', async () => {
  scratch.write('old.tsv', 'a\t1\nb\t2\nc\t3\n');
  scratch.write('new.tsv', 'b\t2\nc\t4\nd\t5\ne\t6\n');
  for (const name of ['old', 'new']) await summaryOf(['build', `${name}.tsv`, '-o', `${name}.ldb`]);
  expect(await summaryOf(['diff', 'old.ldb', 'new.ldb'], 1)).toEqual({ old: 'old.ldb', new: 'new.ldb', removed: 1, added: 2, changed: 1 });
  expect(await summaryOf(['diff', 'old.ldb', 'new.ldb', '--quiet'], 1)).toMatchObject({ removed: 1, added: 2, changed: 1 });
  expect(await summaryOf(['diff', 'old.ldb', 'old.ldb'])).toMatchObject({ removed: 0, added: 0, changed: 0 });
});

test('a command that fails prints no summary', async () => {
  mkdirSync(scratch.at('nothing'));
  for (const args of [['build', 'absent', '-o', 'x.ldb'], ['repair', 'nothing'], ['compact', 'absent'], ['salvage', 'nothing', '-o', 'x.ldb']]) {
    const { code, stdout, stderr } = await bloom([...args, '--json'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^bloom: [^\n]+\n$/);
  }
  expect(readdirSync(scratch.at('nothing'))).toEqual([]);
});
