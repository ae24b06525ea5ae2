import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { foreignFolders, realDatabases } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomLine, bloomPrints, build } from '../bloom.js';
import { outcome, program, REVERSE_MODULE, Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const numbered = (count: number): string => Array.from({ length: count }, (_, i) => `${String(2 * i).padStart(16, '0')}\tvalue ${i}\n`).join('');
/** A policy that takes so long that the command takes far longer than the test. */
const SLOW = `const cell = new Int32Array(new SharedArrayBuffer(4));
export class Slow {
  name = 'test.Slow';
  createFilter(keys, dst) { Atomics.wait(cell, 0, 0, 2); dst.extend(1); }
  keyMayMatch() { return true; }
}
export class Slower extends Slow {
  createFilter(keys, dst) { Atomics.wait(cell, 0, 0, 30); dst.extend(1); }
}`;
scratch.write('slow.mjs', SLOW);

/** The summary of a run with --json, which prints nothing else. */
async function summaryOf(args: readonly string[], input?: Uint8Array): Promise<Record<string, unknown>> {
  return JSON.parse(await bloomPrints(['refilter', ...args, '--json'], scratch.path, input)) as Record<string, unknown>;
}

/** The share of absent neighbours that pass. */
async function neighbourRate(table: string, ...options: string[]): Promise<number> {
  const { falsePositives } = JSON.parse(await bloomPrints(['stat', '--json', table, ...options], scratch.path)) as { falsePositives: { neighbours: { rate: number } } };
  return falsePositives.neighbours.rate;
}

function filesOf(folder: string): Map<string, Buffer> {
  return new Map(readdirSync(scratch.at(folder)).sort().map((name) => [name, scratch.read(`${folder}/${name}`)]));
}

const tablesOf = (folder: string): string[] => readdirSync(scratch.at(folder)).filter((name) => /\.(ldb|sst)$/.test(name)).sort();

async function filled(folder: string, ...options: string[]): Promise<string> {
  await bloomPrints(['load', folder, '-', '-q', '--compact', ...options], scratch.path, numbered(20_000));
  return folder;
}

describe('refilter of a table', () => {
  beforeAll(async () => {
    await build('plain.ldb', [], scratch.path, numbered(20_000));
    await filled('source');
    writeFileSync(scratch.at('internal.ldb'), readFileSync(scratch.at(`source/${tablesOf('source')[0]!}`)));
  });

  test('of plain keys makes the table that build makes with --policy fitted, whose neighbours pass far less often', async () => {
    await build('built.ldb', ['--policy', 'fitted'], scratch.path, numbered(20_000));
    const { code, stdout, stderr } = await bloom(['refilter', 'plain.ldb', '-o', 'fitted.ldb'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/^bloom: fitted\.ldb: 20,000 entries, [\d,]+ bytes, [\d,]+ filters of [\d,]+ bytes; \d+\.\d\d s\n$/);
    expect(scratch.read('fitted.ldb')).toEqual(scratch.read('built.ldb'));
    // Filters of some 180 keys, of which LevelDB's let 1.3% pass.
    expect(await neighbourRate('fitted.ldb')).toBeLessThan(0.3 * (await neighbourRate('plain.ldb')));
    expect(await bloom(['diff', 'plain.ldb', 'fitted.ldb', '-q'], scratch.path)).toMatchObject({ code: 0 });
    expect(await bloom(['verify', 'fitted.ldb'], scratch.path)).toMatchObject({ code: 0 });
  });

  test('of a database makes filters of user keys, and reports that it took the keys for a database’s, unless an option says so or it is quiet', async () => {
    const { code, stderr } = await bloom(['refilter', 'internal.ldb', '-o', 'refiltered.ldb'], scratch.path);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^bloom: internal\.ldb: its keys look like internal keys of a database [^\n]*\nbloom: refiltered\.ldb: 20,000 entries/);
    expect(await bloomPrints(['refilter', 'internal.ldb', '-o', 'quiet.ldb', '-q'], scratch.path)).toBe('');
    await summaryOf(['internal.ldb', '-o', 'told.ldb', '--internal']);
    for (const name of ['quiet.ldb', 'told.ldb']) expect(scratch.read(name)).toEqual(scratch.read('refiltered.ldb'));
    expect(await neighbourRate('refiltered.ldb', '--internal')).toBeLessThan(0.2 * (await neighbourRate('internal.ldb', '--internal')));
    expect(await bloomPrints(['get', 'refiltered.ldb', '0000000000000042', '--internal'], scratch.path)).toBe('value 21\n');
    expect(await bloom(['verify', 'refiltered.ldb', '--internal'], scratch.path)).toMatchObject({ code: 0 });
  });

  test('comes back byte for byte with --policy bloom', async () => {
    await summaryOf(['plain.ldb', '-o', 'there.ldb']);
    await summaryOf(['there.ldb', '-o', 'back.ldb', '--policy', 'bloom']);
    expect(scratch.read('back.ldb')).toEqual(scratch.read('plain.ldb'));
    await build('bare.ldb', ['--no-filter'], scratch.path, numbered(20_000));
    expect(await summaryOf(['there.ldb', '-o', 'none.ldb', '--no-filter'])).toMatchObject({ filters: 0, filterBytes: 0 });
    expect(scratch.read('none.ldb')).toEqual(scratch.read('bare.ldb'));
  });

  test('prints its figures with --json', async () => {
    const number = expect.any(Number) as unknown;
    const summary = await summaryOf(['plain.ldb', '-o', 'json.ldb', '--bits-per-key', '14', '--filter-range', '4096']);
    expect(summary).toEqual({ output: 'json.ldb', entries: 20_000, bytes: scratch.read('json.ldb').length, bytesBefore: scratch.read('plain.ldb').length, filters: number, filterBytes: number, seconds: number });
    await build('json-built.ldb', ['--policy', 'fitted:14', '--filter-range', '4096'], scratch.path, numbered(20_000));
    expect(scratch.read('json.ldb')).toEqual(scratch.read('json-built.ldb'));
  });

  describe('is read from', () => {
    let server: Server;
    beforeAll(async () => {
      server = createServer((_, response) => response.end(scratch.read('plain.ldb')));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => void server.close());

    test('standard input and a URL', async () => {
      await summaryOf(['plain.ldb', '-o', 'of-file.ldb']);
      await summaryOf(['-', '-o', 'of-input.ldb'], scratch.read('plain.ldb'));
      await summaryOf([`http://127.0.0.1:${(server.address() as AddressInfo).port}/plain.ldb`, '-o', 'of-url.ldb']);
      for (const name of ['of-input.ldb', 'of-url.ldb']) expect(scratch.read(name)).toEqual(scratch.read('of-file.ldb'));
    });
  });

  test.each([
    ['plain.ldb -o plain.ldb', 'plain.ldb: is also the input: choose another file'],
    ['./plain.ldb -o ../$(basename $PWD)/plain.ldb', /^\.\.\/[^\n]*plain\.ldb: is also the input: choose another file$/],
    ['- -o plain.ldb < plain.ldb', 'plain.ldb: is also the input: choose another file'],
    ['plain.ldb', 'plain.ldb: pass the table to write with --output'],
    ['absent', 'absent: no such file or folder'],
    ['absent -o x.ldb', 'absent: no such file or folder'],
    ['plain.ldb -o nowhere/x.ldb', 'nowhere/x.ldb: no such folder'],
    ['plain.ldb -o source', 'source: is a folder'],
    ['plain.ldb -o -', /^-: a table cannot be written to standard output/],
    ['source/CURRENT -o x.ldb', /source\/CURRENT: /],
    ['source/$(cd source && ls MANIFEST*) -o x.ldb', /: is not a table: pass a table, or a database's folder on this computer$/],
    ['plain.ldb -o x.ldb --internal', 'plain.ldb: its keys are plain keys, without sequence and type: omit --internal'],
    ['plain.ldb -o x.ldb --comparator ./case.mjs', /^plain\.ldb: the filters of leveldb\.BuiltinBloomFilter2 and the comparator test\.Case do not treat the same keys as equal: name another policy/],
    ['source -o x.ldb', 'source: is a folder, which is rewritten in place: omit --output, or copy it first with bloom copy'],
    ['source --internal', 'source: is a folder, whose keys are always user keys: omit --internal'],
    ['no-database', 'no-database: there is no database: bloom put and bloom load create one'],
    ['plain.ldb -o x.ldb --policy fitted:0.5', /^--policy fitted:0\.5: /],
  ])('is refused and changes nothing: bloom refilter %s', async (line, problem) => {
    mkdirSync(scratch.at('no-database'), { recursive: true });
    scratch.write('case.mjs', `export default { name: 'test.Case', keyEquivalence: 'test.Case', compare: (a, b) => Buffer.compare(a, b), findShortestSeparator: (start) => start, findShortSuccessor: (key) => key };`);
    const before = readdirSync(scratch.path).sort();
    const plain = scratch.read('plain.ldb');
    const source = filesOf('source');
    const { code, stderr } = await (/[<$]/.test(line) ? shell(`bloom refilter ${line}`, scratch.path) : bloomLine(`refilter ${line}`, scratch.path));
    expect(code).toBe(2);
    expect(stderr).toMatch(/^bloom: [^\n]*\n$/);
    if (typeof problem === 'string') expect(stderr).toBe(`bloom: ${problem}\n`);
    else expect(stderr.slice('bloom: '.length, -1)).toMatch(problem);
    expect(scratch.read('plain.ldb')).toEqual(plain);
    expect(filesOf('source')).toEqual(source);
    expect(readdirSync(scratch.path).sort()).toEqual(before);
    expect(readdirSync(scratch.at('no-database'))).toEqual([]);
  });

  test('that is damaged names block and offset, and leaves the old output and nothing else', async () => {
    const bytes = Buffer.from(scratch.read('plain.ldb'));
    bytes[10_000]! ^= 1;
    scratch.write('damaged.ldb', bytes);
    scratch.write('old.ldb', 'the old table');
    const before = readdirSync(scratch.path).sort();
    const { code, stderr } = await bloom(['refilter', 'damaged.ldb', '-o', 'old.ldb'], scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/^bloom: damaged\.ldb: data block at offset \d+: [^\n]*\n$/) as string });
    expect(scratch.read('old.ldb').toString()).toBe('the old table');
    expect(readdirSync(scratch.path).sort()).toEqual(before);
  });

  test.runIf(process.platform !== 'win32')('that a signal interrupts leaves the old output and nothing else', async () => {
    scratch.write('old.ldb', 'the old table');
    const before = readdirSync(scratch.path).sort();
    const child = spawn(process.execPath, [program, 'refilter', 'plain.ldb', '-o', 'old.ldb', '--policy', './slow.mjs#Slower'], { cwd: scratch.path });
    const closed = outcome(child);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    child.kill('SIGINT');
    expect(await closed).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });
    expect(scratch.read('old.ldb').toString()).toBe('the old table');
    expect(readdirSync(scratch.path).sort()).toEqual(before);
  });
});

describe('refilter of a folder', () => {
  test('changes the filters alone, and a second run keeps all', async () => {
    const folder = await filled('people');
    await bloomPrints(['put', folder, 'in the log', 'value'], scratch.path);
    const scanned = await bloomPrints(['scan', folder], scratch.path);
    const table = `${folder}/${tablesOf(folder)[0]!}`;
    const before = await neighbourRate(table, '--internal').catch(() => NaN);
    const { code, stderr } = await bloom(['refilter', folder], scratch.path);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^bloom: people: 1 table written, 0 kept, 20,000 entries, [\d,]+ bytes \(before: [\d,]+\); \d+\.\d\d s\n$/);
    expect(await bloomPrints(['scan', folder], scratch.path)).toBe(scanned);
    expect(await bloom(['verify', folder], scratch.path)).toMatchObject({ code: 0 });
    expect(await neighbourRate(`${folder}/${tablesOf(folder)[0]!}`, '--internal')).toBeLessThan(0.2 * before);
    const files = filesOf(folder);
    const number = expect.any(Number) as unknown;
    const { bytes, ...summary } = await summaryOf([folder]);
    expect(summary).toEqual({ folder, written: 0, kept: 1, unfiltered: 0, entries: 20_000, filterBytes: number, bytesBefore: bytes, seconds: number });
    expect(filesOf(folder)).toEqual(files);
    // Back to LevelDB's own.
    expect(await summaryOf([folder, '--policy', 'bloom'])).toMatchObject({ written: 1, kept: 0 });
    expect(await summaryOf([folder, '--bits-per-key', '12'])).toMatchObject({ written: 1 });
    expect(await summaryOf([folder, '--no-filter'])).toMatchObject({ written: 1, filterBytes: 0 });
    expect(await bloomPrints(['scan', folder], scratch.path)).toBe(scanned);
  });

  test('that another program has open is refused by its name, and nothing changes', async () => {
    const database = await Database.open(new WritableNodeFolder(scratch.at('locked')));
    await database.put(Buffer.from('a'), Buffer.from('b'));
    const before = filesOf('locked');
    const { code, stderr } = await bloom(['refilter', 'locked'], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^bloom: .*locked:? is already open for writing, [^\n]*\n$/);
    expect(filesOf('locked')).toEqual(before);
    await database.close();
  });

  test.each(foreignFolders().map(({ name, path }) => [name, path] as const))('of another engine, %s, is refused, and nothing changes', async (name, path) => {
    cpSync(path, scratch.at(name), { recursive: true });
    const before = filesOf(name);
    const { code, stderr } = await bloom(['refilter', name], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^bloom: [^\n]*\n$/);
    expect(stderr).not.toMatch(/bloom (repair|salvage|put)/);
    expect(stderr).toMatch(/ database, not a LevelDB database| is encrypted|RocksDB/);
    expect(filesOf(name)).toEqual(before);
  });

  test.each(realDatabases().map(({ name, path }) => [name, path] as const))('of other programs, %s, has the same entries afterwards, or is left as it is where it lacks tables', async (name, path) => {
    const folder = `real-${basename(name)}`;
    cpSync(path, scratch.at(folder), { recursive: true });
    const scan = async (): Promise<string> => (await bloom(['scan', folder, '--hex'], scratch.path)).stdout.toString();
    const before = await scan();
    const files = filesOf(folder);
    const { code, stderr } = await bloom(['refilter', folder, '--json'], scratch.path);
    if (name.startsWith('forensicsim')) {
      files.set('LOCK', Buffer.alloc(0));
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('2 missing tables, such as 000114.ldb; bloom repair rebuilds') as string });
      expect(filesOf(folder)).toEqual(files);
      return;
    }
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await scan()).toBe(before);
    expect(await bloom(['verify', folder], scratch.path)).toMatchObject({ code: 0 });
    expect(await summaryOf([folder])).toMatchObject({ written: 0 });
  });

  test('in the order of IndexedDB gets the requested policy, also when it is loaded and compacted', async () => {
    const { path } = realDatabases().find(({ comparator }) => comparator === 'idb_cmp1')!;
    cpSync(path, scratch.at('indexeddb'), { recursive: true });
    await bloom(['compact', 'indexeddb', '-q'], scratch.path);
    const filterBytes: unknown[] = [];
    for (const options of [['--policy', 'bloom:8'], ['--policy', 'bloom:16'], ['--bits-per-key', '24'], ['--no-filter']]) {
      filterBytes.push((await summaryOf(['indexeddb', ...options])).filterBytes);
    }
    expect(filterBytes).toEqual([...filterBytes].sort((a, b) => Number(a) - Number(b)).slice(1).concat(0));
    // The thread that compacts has the policy too.
    const { stdout } = await bloom(['scan', 'indexeddb', '-f', 'jsonl', '--hex', '--limit', '1'], scratch.path);
    const { keyHex, valueHex } = JSON.parse(stdout.toString()) as { keyHex: string; valueHex: string };
    for (const [options, same] of [[['--bits-per-key', '16'], 'bloom:16'], [['--policy', 'fitted'], 'fitted'], [['--policy', 'ribbon'], 'ribbon']] as const) {
      expect(await bloom(['put', 'indexeddb', keyHex, valueHex, '--hex', ...options], scratch.path)).toMatchObject({ code: 0, stderr: '' });
      expect(await bloom(['compact', 'indexeddb', '-q', ...options], scratch.path)).toMatchObject({ code: 0, stderr: '' });
      expect({ options, ...(await summaryOf(['indexeddb', '--policy', same])) }).toMatchObject({ options, written: 0 });
      expect(await bloomPrints(['get', 'indexeddb', keyHex, '--hex'], scratch.path)).toBe(`${valueHex}\n`);
      expect(await bloom(['verify', 'indexeddb'], scratch.path)).toMatchObject({ code: 0 });
    }
  });

  test("in the order of a module keeps that order, and one with equal keys needs a policy for them", async () => {
    scratch.write('reverse.mjs', REVERSE_MODULE);
    const order = ['--comparator', './reverse.mjs'];
    await filled('reversed', ...order);
    expect(await bloom(['refilter', 'reversed'], scratch.path)).toMatchObject({ code: 2, stderr: expect.stringContaining('pass it with --comparator') as string });
    expect(await summaryOf(['reversed', ...order])).toMatchObject({ written: 1 });
    expect(await bloomPrints(['count', 'reversed', ...order], scratch.path)).toBe('20000\n');

    scratch.write('same.mjs', `export const order = { name: 'test.Same', keyEquivalence: 'test.Same', compare: (a, b) => Buffer.compare(a, b), findShortestSeparator: (start) => start, findShortSuccessor: (key) => key };
      export class Policy { name = 'test.SamePolicy'; keyEquivalence = 'test.Same'; createFilter(keys, dst) { dst.extend(1); } keyMayMatch() { return true; } }`);
    const same = ['--comparator', './same.mjs#order'];
    await filled('same', ...same, '--policy', './same.mjs#Policy');
    const before = filesOf('same');
    expect(await bloom(['refilter', 'same', ...same], scratch.path)).toMatchObject({
      code: 2,
      stderr: 'bloom: same: the filters of leveldb.BuiltinBloomFilter2 and the comparator test.Same do not treat the same keys as equal: name another policy with --policy, or write no filters with --no-filter\n',
    });
    expect(filesOf('same')).toEqual(before);
    expect(await summaryOf(['same', ...same, '--policy', './same.mjs#Policy'])).toMatchObject({ written: 0, kept: 1 });
    expect(await summaryOf(['same', ...same, '--no-filter'])).toMatchObject({ written: 1 });
  });

  beforeAll(async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `${String(i * 2).padStart(16, '0')}\t${`${(i * 2_654_435_761) % 2 ** 32} `.repeat(12)}\n`).join('');
    await bloomPrints(['load', 'several', '-', '-q', '--compact', '--compression', 'none'], scratch.path, lines);
    expect(tablesOf('several').length).toBeGreaterThan(2);
  });

  /** A database of several tables. */
  function several(folder: string): string {
    cpSync(scratch.at('several'), scratch.at(folder), { recursive: true });
    return folder;
  }

  test('with a damaged table names its file and offset, and leaves a database with the same files besides the tables before it', async () => {
    const folder = several('broken');
    const tables = tablesOf(folder);
    const last = tables.at(-1)!;
    const bytes = scratch.read(`${folder}/${last}`);
    bytes[50_000]! ^= 1;
    scratch.write(`${folder}/${last}`, bytes);
    const { code, stderr } = await bloom(['refilter', folder], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(new RegExp(`^bloom: broken/${last}: data block at offset \\d+: [^\\n]*; bloom repair [^\\n]*\\n$`));
    expect(tablesOf(folder)).toHaveLength(tables.length);
    expect(scratch.read(`${folder}/${last}`)).toEqual(bytes);
    // It is as readable as before: the damaged block alone is left out.
    expect(await bloom(['get', folder, '0000000000000042'], scratch.path)).toMatchObject({ code: 0 });
  });

  test.runIf(process.platform !== 'win32').each(['SIGINT', 'SIGTERM'] as const)('that %s interrupts is sound, and has no unfinished table', async (signal) => {
    const folder = several(`interrupted-${signal}`);
    const before = tablesOf(folder);
    const scanned = await bloomPrints(['scan', folder, '--keys-only'], scratch.path);
    const child = spawn(process.execPath, [program, 'refilter', folder, '--policy', './slow.mjs#Slow'], { cwd: scratch.path });
    const closed = outcome(child);
    await expect.poll(() => tablesOf(folder).some((name) => !before.includes(name)) && !tablesOf(folder).includes(before[0]!), { timeout: 60_000 }).toBe(true);
    child.kill(signal);
    expect(await closed).toMatchObject({ code: null, signal, stderr: '' });
    expect(tablesOf(folder)).toHaveLength(before.length);
    expect(tablesOf(folder)).toContain(before.at(-1));
    expect(await bloom(['verify', folder, '--policy', './slow.mjs#Slow'], scratch.path)).toMatchObject({ code: 0 });
    expect(await bloomPrints(['scan', folder, '--keys-only'], scratch.path)).toBe(scanned);
    expect(await summaryOf([folder])).toMatchObject({ written: before.length });
  });

  const hasScript = (spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout as string | null)?.includes('util-linux') === true;
  if (!hasScript) test.skip('shows no progress: there is no script(1) of util-linux', () => {});

  test.runIf(hasScript)('and of a table shows its progress on a terminal, and none when it is quiet', async () => {
    const folder = several('shown');
    await bloomPrints(['convert', folder, '-q', '-o', 'shown.ldb', '--compression', 'none'], scratch.path);
    for (const [args, isDrawn] of [[`${folder} --filter-range 8192 --policy ./slow.mjs#Slow`, true], [`shown.ldb -o shown-2.ldb --filter-range 8192 --policy ./slow.mjs#Slow`, true], [`shown.ldb -o shown-3.ldb --filter-range 8192 --policy ./slow.mjs#Slow -q`, false]] as const) {
      scratch.write('shown.sh', `exec "${process.execPath}" "${program}" refilter ${args}\n`);
      await shell('TERM=xterm script -qefc "sh shown.sh" shown.txt > /dev/null < /dev/null', scratch.path);
      const shown = scratch.read('shown.txt').toString();
      expect({ args, isDrawn: /\[=+-*\] \d+% \| [\d.]+ MB\/s \| [^\n]* left/.test(shown) }).toEqual({ args, isDrawn });
    }
  });
});

test('part writes fitted filters with --policy fitted, of entries and of tables, which assemble and publish take and refilter keeps', async () => {
  scratch.write('numbers.tsv', numbered(20_000));
  await bloomPrints(['build', 'numbers.tsv', '-o', 'run.ldb', '-q'], scratch.path);
  for (const input of ['numbers.tsv', 'run.ldb']) {
    const [parts, published] = [`parts-of-${input}`, `published-${input}`];
    const { code } = await shell(`bloom part ${input} -q --sequence 1 --part-size 64K -o ${parts} --policy fitted > parts.jsonl && bloom assemble ${parts} parts.jsonl --previous ${published} | bloom publish - ${parts} ${published}`, scratch.path);
    expect(code).toBe(0);
    const tables = tablesOf(published);
    expect(tables.length).toBeGreaterThan(1);
    for (const name of tables) {
      await bloom(['refilter', `${published}/${name}`, '-q', '--internal', '-o', 'kept.ldb'], scratch.path);
      expect(scratch.read('kept.ldb')).toEqual(scratch.read(`${published}/${name}`));
    }
    expect(await bloom(['verify', published], scratch.path)).toMatchObject({ code: 0 });
    expect(await bloomPrints(['get', published, '0000000000000042'], scratch.path)).toBe('value 21\n');
  }
});
