import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { entriesSha256, type GoldenDatabase, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { SyncDatabaseReader } from '@bloom/leveldb';
import { idbComparator } from '@bloom/leveldb/idb-comparator';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { MemorySource, SyncTable } from '@bloom/sstable';
import { Command } from 'commander';
import { describe, expect, test, vi } from 'vitest';
import { addScan } from '../../src/commands/scan.js';
import { bloom, bloomPrints, build } from '../bloom.js';
import { REVERSE_MODULE, Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const golden = goldenDatabases();
const all = [...golden, ...realDatabases()];
const isKnown = ({ comparator }: { comparator?: string }): boolean => comparator?.startsWith('test.') !== true;

function database(name: string): (typeof all)[number] {
  return all.find((row) => row.name === name)!;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The names and contents of a folder's files. */
function contentsOf(path: string): string[] {
  return readdirSync(path).map((name) => `${name} ${sha256(readFileSync(join(path, name)))}`);
}

/** The output of `scan`, run in this process. */
async function scanned(args: readonly string[]): Promise<Buffer> {
  const program = new Command().exitOverride();
  addScan(program);
  const pieces: Uint8Array[] = [];
  const take = vi.spyOn(process.stdout, 'write').mockImplementation((piece: unknown, done: unknown) => {
    pieces.push(Buffer.from(piece as Uint8Array));
    (done as () => void)();
    return true;
  });
  const hush = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    await program.parseAsync(['scan', ...args], { from: 'user' });
  } finally {
    take.mockRestore();
    hush.mockRestore();
  }
  return Buffer.concat(pieces);
}

describe('scan of a folder in kv prints the entries that LevelDB returns', () => {
  test.each(all.filter((row) => row.open === 'OK' && isKnown(row)))('$name', async (row) => {
    const { verified = row } = row as GoldenDatabase;
    expect(sha256(await scanned([row.path, '-f', 'kv', '--damage', 'skip']))).toBe(verified.entriesSha256);
  });
});

describe("a database's folder", () => {
  test.each(['level0-overlap', 'reuse-logs', 'bedrock-provider/mctestdb', 'dfindexeddb/chrome/linux_109_64/file__0.indexeddb.leveldb'])(
    'scan prints the visible entries of %s, and nothing else',
    async (name) => {
      const { path, entriesSha256: expected } = database(name);
      const { code, stdout, stderr } = await bloom(['scan', path, '-f', 'kv'], scratch.path);
      expect({ code, stderr, hash: sha256(stdout) }).toEqual({ code: 0, stderr: '', hash: expected });
    },
  );

  test('get prints the newest values, and does not find deleted keys', async () => {
    const { path } = database('log-batches');
    const { code, stdout, stderr } = await bloom(['get', path, 'pear', 'apple', 'twice'], scratch.path);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 1, stdout: 'blue\n2\n', stderr: 'bloom: apple: not found\n' });
  });

  test('get --all-versions also prints deleted and overwritten versions, and the files that store them', async () => {
    const { path } = database('golang-leveldb/db-stage-4');
    const printed = await bloomPrints(['get', '--all-versions', path, 'foo'], scratch.path);
    const lines = printed.trimEnd().split('\n').map((line) => line.split('\t'));
    expect(lines.length).toBeGreaterThan(2);
    const sequences = lines.map(([, sequence]) => Number(sequence));
    expect(sequences).toEqual([...sequences].sort((a, b) => b - a));
    for (const [key, , kind, file] of lines) {
      expect(key).toBe('foo');
      expect(['value', 'deletion']).toContain(kind);
      expect(file).toMatch(/^\d+\.(log|ldb)$/);
    }
  });

  test('scan --all-versions prints every stored entry between the bounds', async () => {
    const { path } = database('log-batches');
    const whole = await bloomPrints(['scan', '--all-versions', '--hex', path], scratch.path);
    expect(whole.trimEnd().split('\n')).toHaveLength(20);
    expect(await bloomPrints(['scan', '--all-versions', path, '--gte', 'twice', '--lte', 'twice'], scratch.path)).toBe(
      'twice\t9\tvalue\t000003.log\t1\ntwice\t10\tvalue\t000003.log\t2\n',
    );
  });

  test('scan accepts bounds, --reverse and --limit, as for tables', async () => {
    const { path } = database('log-torn');
    const printed = await bloomPrints(['scan', path, '-f', 'words', '--gte', 'w0010', '--lt', 'w0020', '--reverse', '--limit', '2'], scratch.path);
    expect(printed).toMatch(/^w0019\S*\nw0018\S*\n$/);
  });

  test('damage is a failure that names the file and suggests --damage skip, which skips and reports it', async () => {
    const { path, entriesSha256: expected } = database('log-damaged');
    const strict = await bloom(['scan', path, '-f', 'kv'], scratch.path);
    expect({ code: strict.code, length: strict.stdout.length }).toEqual({ code: 2, length: 0 });
    expect(strict.stderr).toMatch(/^bloom: \S*000003\.log: log record at offset \d+: checksum mismatch [^\n]*; --damage skip reads the rest\n$/);
    const skipped = await bloom(['scan', path, '-f', 'kv', '--damage', 'skip'], scratch.path);
    expect({ code: skipped.code, hash: sha256(skipped.stdout) }).toEqual({ code: 0, hash: expected });
    expect(skipped.stderr).toMatch(/^bloom: \S*000003\.log: left out [\d,]+ bytes at offset \d+: checksum mismatch\n/);
  });

  test('damage that is skipped is reported once', async () => {
    const { path } = database('log-damaged');
    for (const args of [['diff', '--damage', 'skip', path, database('log-batches').path, '--json'], ['convert', '--damage', 'skip', path, '-o', scratch.at('skipped.ldb')]]) {
      expect((await bloom(args, scratch.path)).stderr.match(/left out 17329 bytes/g)).toHaveLength(1);
    }
  });

  test('an unknown comparator is a failure that names a remedy', async () => {
    const { path } = database('reverse');
    const { code, stderr } = await bloom(['scan', path], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `bloom: ${join(path, 'MANIFEST-000002')}: its keys are sorted by the comparator "test.ReverseBytewiseComparator", which bloom ` +
        'does not know; pass the order with --comparator MODULE; without it, scan --all-versions prints what each file stores, and verify --any-order checks everything but the order\n',
    );
    const verified = await bloom(['verify', path], scratch.path);
    expect(verified.stdout.toString()).toMatch(/which bloom does not know, so the order cannot be checked: pass --comparator MODULE, or skip the check with --any-order \(BLOOM_UNKNOWN_COMPARATOR\)\n$/);
    const unmerged = await bloomPrints(['scan', '--all-versions', '--hex', path], scratch.path);
    expect(unmerged.trimEnd().split('\n')).toHaveLength(golden.find(({ name }) => name === 'reverse')!.internalEntries!);
  });

  test('convert names the damaged table of the folder, not its output', async () => {
    cpSync(database('levels').path, scratch.at('damaged-levels'), { recursive: true });
    const table = scratch.at('damaged-levels/000005.ldb');
    const bytes = readFileSync(table);
    bytes.fill(0xff, 30, 40);
    writeFileSync(table, bytes);
    const { code, stderr } = await bloom(['convert', 'damaged-levels', '-o', 'damaged.ldb'], scratch.path);
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^bloom: damaged-levels\/000005\.ldb: data block at offset 0: .*; --damage skip reads the rest\n$/) as string]);
  });

  test('stat prints levels, files, logs and what was left out', async () => {
    const row = golden.find(({ name }) => name === 'level0-overlap')!;
    const json = JSON.parse(await bloomPrints(['stat', '--json', row.path], scratch.path)) as {
      lastSequence: string;
      levels: { name: string; bytes: number }[][];
      logs: unknown[];
    };
    expect(json.lastSequence).toBe(String(row.lastSequence));
    expect(json.levels.map((files) => files.length)).toEqual(row.levels);
    expect(json.logs).toHaveLength(row.logs!.length);
    const text = await bloomPrints(['stat', row.path], scratch.path);
    for (const { number, size } of row.tables!) expect(text).toMatch(new RegExp(`^  0*${number}\\.ldb +${size} bytes, ".*" to ".*", no filter$`, 'm'));
    expect(await bloomPrints(['stat', database('log-damaged').path], scratch.path)).toMatch(/^damage +000003\.log: left out /m);
  });

  test('verify names the damaged files', async () => {
    const sound = await bloom(['verify', database('levels').path], scratch.path);
    expect({ code: sound.code, stdout: sound.stdout.length }).toEqual({ code: 0, stdout: 0 });
    expect(sound.stderr).toMatch(/nothing is wrong with \d+ tables and 1 log\n$/);
    const damaged = await bloom(['verify', database('table-damaged').path], scratch.path);
    expect(damaged.code).toBe(1);
    expect(damaged.stdout.toString()).toMatch(/^\d+\.ldb: data block at offset \d+: [^\n]* \(BLOOM_BAD_CHECKSUM\)\n$/);
    const missing = await bloom(['verify', database('missing-table').path], scratch.path);
    expect(missing.code).toBe(1);
    expect(missing.stdout.toString()).toMatch(/^000007\.ldb: [^\n]* \(BLOOM_MISSING_FILE\)$/m);
  });

  test('verify names a log that is missing, and finds nothing wrong', async () => {
    const { path } = database('js-ipfs-repo/datastore');
    const { code, stdout, stderr } = await bloom(['verify', path], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toMatch(/: the MANIFEST names 000006\.log, which is missing: LevelDB opens the database without the writes that were only in it\n.*: nothing is wrong with /);
    expect(JSON.parse(await bloomPrints(['verify', path, '--json'], scratch.path))).toMatchObject({ missingLog: '000006.log', findings: [] });
  });

  test('verify --any-order names that option as the reason for not checking the order', async () => {
    const { code, stderr } = await bloom(['verify', '--any-order', database('plain').path], scratch.path);
    expect(code).toBe(0);
    expect(stderr).toMatch(/: nothing is wrong with 3 tables and 1 log; not checked: key order \(--any-order\)\n$/);
  });

  test('layout prints the fields of logs and MANIFESTs, and the files of a folder', async () => {
    const { path } = database('log-batches');
    const log = await bloomPrints(['layout', join(path, '000003.log')], scratch.path);
    expect(log).toMatch(/^ +0 +4 {2}[0-9a-f]{8} +fragment 0: masked checksum$/m);
    expect(log).toMatch(/ record 0: sequence = 1$/m);
    expect(log).toMatch(/ operation 0: type = put with sequence 1$/m);
    const bytes = log.trimEnd().split('\n').reduce((sum, line) => sum + Number(/^ *\d+ +(\d+)/.exec(line)![1]), 0);
    expect(bytes).toBe(728);
    expect(await bloomPrints(['layout', '--blocks', join(path, '000003.log')], scratch.path)).not.toContain('record 0');
    const manifest = await bloomPrints(['layout', join(path, 'MANIFEST-000002')], scratch.path);
    expect(manifest).toMatch(/ record 0: comparator: name = leveldb\.BytewiseComparator$/m);
    expect(await bloomPrints(['layout', path], scratch.path)).toMatch(/^ +728 {2}000003\.log +log of write batches$/m);
  });

  test.each(['000003.log', 'copy-of-a-log'])('layout refuses a log of more than 2 GiB with the name %s', async (name) => {
    scratch.write(name, readFileSync(join(database('log-batches').path, '000003.log')));
    truncateSync(scratch.at(name), 2 ** 31 + 1);
    expect(await bloom(['layout', name], scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${name}: is longer than 2,147,483,648 bytes, the limit for a log\n` });
    rmSync(scratch.at(name));
  });

  test('salvage writes the visible entries to a table, reports what was lost, and does not change the folder', async () => {
    const { path, entriesSha256: expected } = database('log-damaged');
    const before = contentsOf(path);
    const { code, stdout, stderr } = await bloom(['salvage', path, '-o', 'log-damaged.ldb'], scratch.path);
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(/^000003\.log: left out 17329 bytes at offset 48207: /);
    expect(stderr).toBe('bloom: log-damaged.ldb: 51 entries\n');
    expect(entriesSha256([...SyncTable.open(new MemorySource(scratch.read('log-damaged.ldb')))])).toBe(expected);
    expect(contentsOf(path)).toEqual(before);
    const whole = await bloom(['salvage', database('levels').path, '-o', 'levels.ldb'], scratch.path);
    expect({ code: whole.code, stdout: whole.stdout.length }).toEqual({ code: 0, stdout: 0 });
  });

  test('salvage reads logs and tables one by one when the database cannot be opened', async () => {
    const { path } = database('current-no-newline');
    const { code, stdout } = await bloom(['salvage', path, '-o', 'no-current.ldb'], scratch.path);
    expect(code).toBe(1);
    expect(stdout.toString()).toMatch(/CURRENT: it does not end with a newline\n$/);
    const mended = scratch.at('mended');
    cpSync(path, mended, { recursive: true });
    scratch.write('mended/CURRENT', `${readFileSync(join(path, 'CURRENT'), 'utf8').trim()}\n`);
    const reader = SyncDatabaseReader.open(new SyncNodeFolder(mended));
    expect(entriesSha256([...SyncTable.open(new MemorySource(scratch.read('no-current.ldb')))])).toBe(entriesSha256([...reader.entries()]));
    reader.close();
  });

  test('salvage keeps the order of IndexedDB, even if a table is missing', async () => {
    const { path } = realDatabases().find(({ name, open }) => open !== 'OK' && name.includes('IndexedDB'))!;
    const { code, stdout } = await bloom(['salvage', path, '-o', 'indexeddb.ldb'], scratch.path);
    expect(code).toBe(1);
    expect(stdout.toString()).toContain('2 missing tables');
    const keys = [...SyncTable.open(new MemorySource(scratch.read('indexeddb.ldb')), { comparator: idbComparator, filterPolicies: [] }).keys()];
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.every((key, i) => i === 0 || idbComparator.compare(keys[i - 1]!, key) < 0)).toBe(true);
  });

  describe('without CURRENT', () => {
    /** A copy of a database, without its CURRENT. */
    function withoutCurrent(name: string, copy: string): string {
      cpSync(database(name).path, scratch.at(copy), { recursive: true });
      rmSync(scratch.at(`${copy}/CURRENT`));
      return copy;
    }

    test('is salvaged from its logs and tables, and scan suggests that', async () => {
      const folder = withoutCurrent('level0-overlap', 'lost-current');
      const problem = `${folder}: it has no CURRENT, so it cannot be opened as a database`;
      const { code, stdout } = await bloom(['salvage', folder, '-o', 'lost-current.ldb'], scratch.path);
      expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: `${problem}\n` });
      const saved = SyncTable.open(new MemorySource(scratch.read('lost-current.ldb')));
      const reader = SyncDatabaseReader.open(new SyncNodeFolder(database('level0-overlap').path));
      const visible = [...reader.entries()];
      reader.close();
      expect(visible.length).toBeGreaterThan(0);
      for (const [key, value] of visible) expect(saved.get(key)).toEqual(value);
      expect(await bloom(['scan', folder], scratch.path)).toMatchObject({
        code: 2,
        stderr: `bloom: ${problem}; bloom repair rebuilds the database from its logs and tables, and bloom salvage writes their entries to a table\n`,
      });
    });

    test('is salvaged in the order that the MANIFEST names', async () => {
      const { name } = realDatabases().find(({ comparator }) => comparator === idbComparator.name)!;
      const folder = withoutCurrent(name, 'lost-indexeddb');
      expect((await bloom(['salvage', folder, '-o', 'lost-indexeddb.ldb'], scratch.path)).code).toBe(1);
      const keys = [...SyncTable.open(new MemorySource(scratch.read('lost-indexeddb.ldb')), { comparator: idbComparator, filterPolicies: [] }).keys()];
      expect(keys.length).toBeGreaterThan(0);
      expect(keys.every((key, i) => i === 0 || idbComparator.compare(keys[i - 1]!, key) < 0)).toBe(true);
      expect(keys.every((key, i) => i === 0 || Buffer.compare(keys[i - 1]!, key) < 0)).toBe(false);
    });

    test('is not salvaged if the MANIFEST names an unknown order', async () => {
      const folder = withoutCurrent('reverse', 'lost-reverse');
      const { code, stderr } = await bloom(['salvage', folder, '-o', 'lost-reverse.ldb'], scratch.path);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^bloom: lost-reverse: [^\n]*"test\.ReverseBytewiseComparator", which bloom does not know; pass --comparator MODULE; without it, scan --all-versions [^\n]*\n$/);
    });

    test('has a finding of verify that says that it is missing', async () => {
      const { code, stdout } = await bloom(['verify', withoutCurrent('plain', 'verified')], scratch.path);
      expect({ code, stdout: stdout.toString() }).toEqual({ code: 1, stdout: 'CURRENT: it is missing (BLOOM_NOT_A_DATABASE)\n' });
    });
  });

  test('a CURRENT that names a table is a failure that names salvage', async () => {
    const folder = scratch.at('current-names-table');
    cpSync(database('level0-overlap').path, folder, { recursive: true });
    const table = readdirSync(folder).find((name) => name.endsWith('.ldb'))!;
    scratch.write('current-names-table/CURRENT', `${table}\n`);
    for (const options of [[], ['--damage', 'skip']]) {
      const { code, stderr } = await bloom(['scan', folder, ...options], scratch.path);
      expect(code).toBe(2);
      expect(stderr).toMatch(/; bloom repair rebuilds the database from its logs and tables, and bloom salvage writes their entries to a table\n$/);
    }
  });

  test.each([
    ['missing-table', 'it lists 1 missing table, 000007.ldb'],
    ['current-no-newline', 'CURRENT: it does not end with a newline'],
  ])('damage of %s that --damage skip does not help with is a failure that names salvage', async (name, problem) => {
    for (const options of [[], ['--damage', 'skip']]) {
      const { code, stderr } = await bloom(['scan', database(name).path, ...options], scratch.path);
      expect(code).toBe(2);
      expect(stderr).toMatch(new RegExp(`^bloom: \\S*: ${problem}; bloom repair rebuilds the database from its logs and tables, and bloom salvage writes their entries to a table\\n$`));
    }
  });

  test('scan --all-versions --hex prints any entry as JSON', async () => {
    const printed = await bloomPrints(['scan', '--all-versions', '--hex', '-f', 'jsonl', database('log-batches').path, '--gte', '7477696365', '--lte', '7477696365'], scratch.path);
    expect(printed.split('\n')[0]).toBe('{"keyHex":"7477696365","sequence":"9","type":"value","file":"000003.log","valueHex":"31"}');
  });

  test('scan --all-versions prints versions whose keys are not UTF-8 as JSON', async () => {
    const folder = database('log-batches').path;
    const printed = await bloomPrints(['scan', '--all-versions', '-f', 'jsonl', folder], scratch.path);
    expect(printed).toMatch(/^\{"keyHex":"[0-9a-f]+","sequence":"\d+","type":"value","file":"000003\.log","value":"[^"]*"\}$/m);
  });

  test('salvage refuses to write into the folder', async () => {
    cpSync(database('log-batches').path, scratch.at('own'), { recursive: true });
    const { code, stderr } = await bloom(['salvage', 'own', '-o', 'own/000099.ldb'], scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: own/000099.ldb: is inside own, which must not change: choose a file elsewhere\n' });
    expect(readdirSync(scratch.at('own'))).not.toContain('000099.ldb');
  });

  test('every command that reads it says that it ignores a --comparator of another name', async () => {
    scratch.write('reverse.mjs', REVERSE_MODULE);
    cpSync(database('log-batches').path, scratch.at('bytewise'), { recursive: true });
    cpSync(scratch.at('bytewise'), scratch.at('headless'), { recursive: true });
    rmSync(scratch.at('headless/CURRENT'));
    for (const args of [['scan', 'bytewise'], ['verify', 'bytewise'], ['salvage', 'bytewise', '-o', 'out.ldb'], ['salvage', 'headless', '-o', 'out.ldb']]) {
      const { stderr } = await bloom([...args, '--comparator', './reverse.mjs'], scratch.path);
      expect(stderr.split('\n')).toContain(`bloom: ${args[1]!}: its comparator is leveldb.BytewiseComparator, so --comparator (test.ReverseBytewiseComparator) is ignored`);
    }
  });

  test('reading a file next to its tables that is not named like one of them gives no warning', async () => {
    cpSync(database('log-batches').path, scratch.at('with-guests'), { recursive: true });
    await build('with-guests/words.ldb', [], scratch.path, 'a\t1\n');
    const folder = scratch.at('with-guests');
    for (const command of [['get', 'words.ldb', 'a'], ['scan', 'words.ldb'], ['count', 'words.ldb']]) expect(await bloom(command, folder)).toMatchObject({ code: 0, stderr: '' });
    for (const command of [['get', '-', 'a'], ['scan', '-'], ['count', '-']]) expect(await bloom(command, folder, scratch.read('with-guests/words.ldb'))).toMatchObject({ code: 0, stderr: '' });
  });

  test('reading one of its tables warns that newer versions may be in other files', async () => {
    const { path } = database('golang-leveldb/db-stage-3');
    const { code, stdout, stderr } = await bloom(['get', '--internal', join(path, '000005.sst'), 'foo'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: 'four\n' });
    expect(stderr).toMatch(/^bloom: [^\n]*: is one file of the database in [^\n]*: newer versions of its keys may be in other files; [^\n]*\n$/);
  });
});
