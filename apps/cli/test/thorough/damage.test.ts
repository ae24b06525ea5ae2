import { goldenTables } from '@bloom/fixtures';
import { MemorySink, TableBuilder } from '@bloom/sstable';
import { mkdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const golden = goldenTables().find(({ name }) => name === 'words-bits10.ldb')!;
const bytes = golden.bytes();
const whole = scratch.write('whole.ldb', bytes);

/** A table with a flipped bit in the second data block. */
const flipped = scratch.write('flipped.ldb', bytes.map((byte, i) => (i === 5000 ? byte ^ 1 : byte)));
/** A table without its end, which has the index and the footer. */
const cut = scratch.write('cut.ldb', bytes.subarray(0, 60_000));

describe('verify', () => {
  test('reports only that nothing is wrong with an intact table', async () => {
    const { code, stdout, stderr } = await bloom(['verify', whole], scratch.path);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 0, stdout: '', stderr: 'bloom: whole.ldb: nothing is wrong\n' });
  });

  test('prints the structure, offset and problem of each finding, and exits with 1', async () => {
    const { code, stdout } = await bloom(['verify', flipped], scratch.path);
    expect(stdout.toString()).toMatch(/^data block at offset [0-9]+: checksum mismatch: stored [0-9a-f]{8}, .*\(BLOOM_BAD_CHECKSUM\)\n$/);
    expect(code).toBe(1);
  });

  test('reports what it could not check, with and without findings', async () => {
    const filterPolicy = { name: 'example.Foreign', createFilter: () => new Uint8Array([1]), keyMayMatch: () => true };
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { filterPolicy });
    builder.add(Buffer.from('a'), Buffer.from('1'));
    builder.finish();
    const reason = 'filters (no filter policy of this name is known: example.Foreign)';
    expect(await bloom(['verify', scratch.write('foreign.ldb', sink.toBytes())], scratch.path)).toMatchObject({
      code: 0,
      stderr: `bloom: foreign.ldb: nothing is wrong; not checked: ${reason}\n`,
    });
    const { stderr } = await bloom(['verify', cut], scratch.path);
    expect(stderr).toMatch(/^bloom: cut\.ldb: 1 finding; not checked: metaindex \(the footer cannot be read\), index \(.*\)\n$/);
  });
});

describe('salvage', () => {
  test('saves every block except the damaged one', async () => {
    const { code, stdout, stderr } = await bloom(['salvage', flipped, '-o', 'saved.ldb'], scratch.path);
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(/^[0-9]{4} bytes at offset [0-9]+: checksum mismatch: stored/);
    expect(stderr).toMatch(/saved\.ldb: 5,[0-9]{3} entries from 14 blocks\n$/);
    expect((await bloom(['verify', 'saved.ldb'], scratch.path)).code).toBe(0);
  });

  test('says how many losses it does not list', async () => {
    await build('small-blocks.ldb', ['--block-size', '1', '--compression', 'none'], scratch.path, Array.from({ length: 10_100 }, (_, i) => `${String(i).padStart(5, '0')}\t${'v'.repeat(40)}\n`).join(''));
    const spoilt = scratch.read('small-blocks.ldb').toString('latin1').replaceAll(/(?<=\d)vvvv/g, 'wvvv');
    scratch.write('spoilt.ldb', Buffer.from(spoilt, 'latin1'));
    const { code, stdout } = await bloom(['salvage', 'spoilt.ldb', '-o', 'spoilt-saved.ldb'], scratch.path);
    expect(code).toBe(1);
    const lines = stdout.toString().split('\n').slice(0, -1);
    expect(lines.at(-1)).toMatch(/^and [\d,]+ more$/);
    const json = JSON.parse((await bloom(['salvage', 'spoilt.ldb', '-o', 'spoilt-saved.ldb', '--json'], scratch.path)).stdout.toString()) as { inputs: [{ lost: unknown[]; moreLost: number }] };
    expect(json.inputs[0].moreLost).toBeGreaterThan(0);
    expect(lines).toHaveLength(json.inputs[0].lost.length + 1);
  });

  test('saves everything from a table whose index and footer are missing', async () => {
    const { code, stderr } = await bloom(['salvage', cut, '-o', 'found.ldb'], scratch.path);
    expect(code).toBe(1);
    expect(stderr).toMatch(/6,000 entries from 15 blocks, 15 of them found without the index/);
    expect(await bloomPrints(['scan', 'found.ldb'], scratch.path)).toBe(await bloomPrints(['scan', whole], scratch.path));
  });

  test('leaves no file when the new table cannot be written', async () => {
    const { code, stderr } = await bloom(['salvage', flipped, '-o', 'missing/saved.ldb'], scratch.path);
    expect({ code, lines: stderr.split('\n').length }).toEqual({ code: 2, lines: 2 });
  });
});

describe('a failure of reading a damaged table names salvage:', () => {
  const flippedProblem = /: data block at offset \d+: checksum mismatch: stored [^\n]*; bloom verify lists all damage, and bloom salvage copies what can still be read\n$/;
  const cutProblem = /: not a LevelDB table: [^\n]*; if it is a part of a table, bloom salvage copies the readable entries\n$/;
  test.each([
    ['scan', flipped, flippedProblem],
    ['stat', flipped, flippedProblem],
    ['scan', cut, cutProblem],
    ['stat', cut, cutProblem],
    ['get', cut, cutProblem],
  ] as const)('%s %s', async (command, table, problem) => {
    const { code, stderr } = await bloom([command, table, ...(command === 'get' ? ['a'] : [])], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(problem);
  });
});

describe('layout', () => {
  test('shows every byte of the file exactly once, in order', async () => {
    const lines = (await bloomPrints(['layout', whole], scratch.path)).trimEnd().split('\n');
    let end = 0;
    const gaps = lines.filter((line) => {
      const [offset = '', length = ''] = line.trim().split(/ +/);
      const fits = Number(offset) === end;
      end = Number(offset) + Number(length);
      return !fits;
    });
    expect(gaps).toEqual([]);
    expect(end).toBe(bytes.length);
    expect(lines.at(-1)).toContain('57fb808b247547db');
  });

  test('shows a table with a damaged index as far as the footer leads', async () => {
    const table = scratch.write('no-index.ldb', bytes.map((byte, i) => (i === bytes.length - 120 ? byte ^ 1 : byte)));
    const printed = await bloomPrints(['layout', '--blocks', table], scratch.path);
    expect(printed).toMatch(/ bytes that nothing points to\n/);
    expect(printed).toMatch(/ footer\n$/);
  });

  test('shows CURRENT and an empty LOCK, which have no structure', async () => {
    mkdirSync(scratch.at('named'));
    const current = await bloomPrints(['layout', scratch.write('named/CURRENT', 'MANIFEST-000002\n')], scratch.path);
    expect(current).toMatch(/^ 0 +16 {2}4d414e4946455354… +bytes that nothing points to\n$/);
    expect(await bloomPrints(['layout', scratch.write('named/LOCK', '')], scratch.path)).toBe('');
  });

  test('with --blocks, prints one line per block', async () => {
    const lines = (await bloomPrints(['layout', '--blocks', whole], scratch.path)).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ {2,}/).at(-1)).slice(-4)).toEqual([
      'filter.leveldb.BuiltinBloomFilter2',
      'metaindex block',
      'index block',
      'footer',
    ]);
    expect(lines.length).toBe(15 + 4);
  });
});
