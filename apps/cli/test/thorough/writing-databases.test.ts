import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type GoldenDatabase, goldenDatabases } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { describe, expect, test } from 'vitest';
import { bloom, bloomLine, bloomPrints } from '../bloom.js';
import { outcome, program, REVERSE_MODULE, Scratch , bloomProcess } from '../bloom-process.js';

const scratch = new Scratch();

/** The order of the golden folder `reverse`. */
const REVERSE = 'reverse.mjs';
scratch.write(REVERSE, REVERSE_MODULE);

const sound = goldenDatabases().filter(({ open }) => open === 'OK');

function optionsOf({ comparator }: GoldenDatabase): string[] {
  return comparator === undefined ? [] : ['--comparator', `./${REVERSE}`];
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

describe('a golden folder is written, and read back with the same entries,', () => {
  test.each(sound)('$name', async (row) => {
    const order = optionsOf(row);
    const name = `golden-${row.name}`;
    const { verified = row } = row;
    const { stdout: kv } = await bloom(['scan', row.path, '-f', 'kv', '--damage', 'skip', ...order], scratch.path);
    expect(sha256(kv)).toBe(verified.entriesSha256);

    // A new folder of its entries.
    const loaded = await bloom(['load', name, '-', '-f', 'kv', '--compact', '-q', ...order], scratch.path, kv);
    expect({ code: loaded.code, stderr: loaded.stderr }).toEqual({ code: 0, stderr: '' });
    expect(sha256((await bloom(['scan', name, '-f', 'kv', ...order], scratch.path)).stdout)).toBe(verified.entriesSha256);
    // A copy of that, and a table of the copy.
    await bloomPrints(['copy', name, `${name}-copy`, '-q'], scratch.path);
    await bloomPrints(['convert', `${name}-copy`, '-q', '-o', `${name}.ldb`, ...order], scratch.path);
    expect(await bloom(['diff', name, `${name}.ldb`, '-q', ...order], scratch.path)).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('copy', () => {
  test.each(sound)('of the golden folder $name has its entries', async (row) => {
    await bloomPrints(['copy', row.path, `copied-${row.name}`, '-q'], scratch.path);
    const { verified = row } = row;
    const { stdout } = await bloom(['scan', `copied-${row.name}`, '-f', 'kv', '--damage', 'skip', ...optionsOf(row)], scratch.path);
    expect(sha256(stdout)).toBe(verified.entriesSha256);
  });

  test('of a folder that is written has a prefix of the writes', async () => {
    const database = await Database.open(new WritableNodeFolder(scratch.at('live')), { writeBufferSize: 64 * 1024 });
    // A copy that is under way; an object, as it changes while others wait.
    const copy = { isUnderWay: true };
    let written = 0;
    const value = new Uint8Array(500);
    const writing = (async () => {
      // Enough for flushes and compactions while it is copied.
      while (copy.isUnderWay && written < 40_000) {
        await database.put(Buffer.from(String(written++).padStart(8, '0')), value);
        // The copy is made in this thread too.
        if (written % 8 === 0) await new Promise(setImmediate);
      }
    })();
    await expect.poll(() => written).toBeGreaterThan(1000);
    const before = written;
    const copying = await bloom(['copy', 'live', 'live-copy', '-q'], scratch.path);
    copy.isUnderWay = false;
    await writing;
    await database.close();
    expect({ code: copying.code, stderr: copying.stderr }).toEqual({ code: 0, stderr: '' });
    const keys = (await bloomPrints(['scan', 'live-copy', '-f', 'words'], scratch.path)).trimEnd().split('\n');
    expect(keys.length).toBeGreaterThanOrEqual(before);
    expect(keys.findIndex((key, i) => key !== String(i).padStart(8, '0'))).toBe(-1);
    expect(await bloom(['verify', 'live-copy'], scratch.path)).toMatchObject({ code: 0 });
  });

  test('refuses an existing target, and a folder that is not a database', async () => {
    mkdirSync(scratch.at('empty'), { recursive: true });
    expect(await bloom(['copy', 'empty', 'new'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: empty: it has no CURRENT, so it is not a database, or it is damaged\n' });
    expect(await bloom(['copy', sound[0]!.path, 'empty'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: empty: already exists: choose a new folder\n' });
    const missing = goldenDatabases().find(({ name }) => name === 'missing-table')!;
    const { code, stderr } = await bloom(['copy', missing.path, 'new'], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toContain('a table is missing');
    expect(readdirSync(scratch.path).filter((name) => name.includes('new'))).toEqual([]);
  });
});

describe('a folder that another program has open for writing', () => {
  test('is not written, and the message names the process that has it', async () => {
    const database = await Database.open(new WritableNodeFolder(scratch.at('locked')));
    for (const args of [['put', 'locked', 'a', 'b'], ['delete', 'locked', 'a'], ['compact', 'locked'], ['repair', 'locked'], ['destroy', '--yes', 'locked']]) {
      const { code, stderr } = await bloomProcess(args, scratch.path);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^bloom: .*locked:? is already open for writing, [^\n]*\n$/);
      if (process.platform === 'linux') expect(stderr).toContain(String(process.pid));
    }
    await database.close();
  });
});

const hasFlock = process.platform === 'linux' && spawnSync('flock', ['--version']).status === 0;
if (!hasFlock) test.skip('no flock command on the PATH (Debian: apt-get install util-linux), so no other program locks a folder by flock', () => {});

describe.runIf(hasFlock)('a folder that another program has locked by flock', () => {
  test('is not written, and the message names that program, and not one that only has LOCK open', async () => {
    await bloomPrints(['put', 'flocked', 'a', 'b'], scratch.path);
    const lock = join(scratch.at('flocked'), 'LOCK');
    const holder = spawn('flock', ['-n', lock, 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = new Promise((resolve) => holder.once('exit', resolve));
    await new Promise((resolve) => holder.stdout.once('data', resolve));
    const onlyOpen = openSync(lock, 'r');
    for (const args of [['put', 'flocked', 'a', 'c'], ['delete', 'flocked', 'a'], ['compact', 'flocked'], ['repair', 'flocked'], ['destroy', '--yes', 'flocked'], ['load', 'flocked', '-']]) {
      const { code, stderr } = await bloom(args, scratch.path, 'a\tc\n');
      expect(code).toBe(2);
      // The shell has the lock with the flock that started it.
      expect(stderr).toMatch(new RegExp(`^bloom: flocked: is already open for writing, by the process flock \\(${holder.pid}\\)( or sh \\(\\d+\\))?\\n$`));
    }
    closeSync(onlyOpen);
    expect((await bloom(['get', 'flocked', 'a'], scratch.path)).stdout.toString()).toBe('b\n');
    holder.stdin.end();
    await ended;
    expect(await bloom(['destroy', '--yes', 'flocked'], scratch.path)).toMatchObject({ code: 0 });
  });
});

describe('where a package that locks folders is missing', () => {
  const elsewhere = (name: string, packages: readonly string[]): string => {
    const folder = scratch.at(name);
    cpSync(dirname(program), join(folder, 'dist'), { recursive: true });
    mkdirSync(join(folder, 'node_modules'));
    for (const one of packages) symlinkSync(realpathSync(join(import.meta.dirname, '../../node_modules', one)), join(folder, 'node_modules', one));
    return join(folder, 'dist/bloom.cjs');
  };
  const run = (installed: string, args: readonly string[]): ReturnType<typeof outcome> =>
    outcome(spawn(process.execPath, [installed, ...args], { cwd: scratch.path, env: { ...process.env, NODE_PATH: '' } }));

  test('nothing is written, and the message has no option that the command does not have', async () => {
    const { code, stderr } = await run(elsewhere('lone', []), ['put', 'unlocked', 'a', 'b']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^bloom: unlocked: folders are locked with the package [^\n]*: install (?:one of them|it)\n$/);
  });

  test.runIf(process.platform === 'linux')('each command that writes says whom its lock does not keep out', async () => {
    const installed = elsewhere('partly', ['fs-native-extensions']);
    for (const args of [['put', 'limited', 'a', 'b'], ['compact', '-q', 'limited'], ['repair', 'limited'], ['destroy', '--yes', 'limited']]) {
      const { code, stderr } = await run(installed, args);
      expect(code).toBe(0);
      expect(stderr).toMatch(/^bloom: limited: programs that lock with flock, [^\n]* are not kept out: /);
      expect(stderr.match(/not kept out/g)).toHaveLength(1);
    }
  });
});

describe('wrong use is one line, and changes nothing', () => {
  test.each([
    ['put db a', 'no value given: pass it as an argument, or in a file with --value-from'],
    ['put db a b --value-from x', 'two values given: pass either a value or --value-from, not both'],
    ['put db a --value-from absent', 'absent: no such file or folder'],
    ['put db 6 00 --hex', '"6" is not hexadecimal: it must have two digits per byte'],
    ['delete none a', 'none: no such file or folder'],
    ['delete db', 'pass keys, or a range of keys with --prefix, --gte or --lt'],
    ['delete db a --lt b', 'pass either keys or a range of keys, not both'],
    ['compact none', 'none: no such file or folder'],
    ['repair none', 'none: no such file or folder'],
    ['compact no-database', 'no-database: there is no database: bloom put and bloom load create one'],
    ['compact only-log', 'only-log: it has no CURRENT: bloom repair rebuilds the database from its logs and tables'],
    ['destroy --yes none', 'none: no such file or folder'],
    ['load db absent.tsv', 'absent.tsv: no such file or folder'],
    ['load db x.tsv --comparator ./absent.mjs', /^\.\/absent\.mjs: /],
  ])('bloom %s', async (line, problem) => {
    scratch.write('x.tsv', 'a\t1\n');
    mkdirSync(scratch.at('no-database'), { recursive: true });
    mkdirSync(scratch.at('only-log'), { recursive: true });
    writeFileSync(scratch.at('only-log/000006.log'), '');
    const { code, stderr } = await bloomLine(line, scratch.path);
    expect(code).toBe(2);
    if (typeof problem === 'string') expect(stderr).toBe(`bloom: ${problem}\n`);
    else expect(stderr.slice('bloom: '.length)).toMatch(problem);
    expect(existsSync(scratch.at('db'))).toBe(false);
    expect(existsSync(scratch.at('none'))).toBe(false);
  });
});

describe('load', () => {
  test('writes the batches before a line that is wrong', async () => {
    scratch.write('half.tsv', 'a\t1\nb\t2\nc\n');
    expect(await bloom(['load', 'half', 'half.tsv', '--batch-size', '1'], scratch.path)).toMatchObject({
      code: 2,
      stderr: 'bloom: half.tsv: line 3: no TAB between key and value\n',
    });
    expect(await bloomPrints(['scan', 'half'], scratch.path)).toBe('a\t1\nb\t2\n');
  });

  test('deletes prefixes and other ranges again', async () => {
    scratch.write('prefixes.tsv', 'a/1\t1\na/2\t2\nb/1\t3\nb/2\t4\nc\t5\n');
    await bloomPrints(['load', 'prefixes', 'prefixes.tsv', '-q'], scratch.path);
    expect(await bloom(['delete', 'prefixes', '--prefix', 'a/', '--gt', 'a/1'], scratch.path)).toMatchObject({ code: 0, stderr: 'bloom: prefixes: 1 key deleted\n' });
    expect(await bloom(['delete', 'prefixes', '--hex', '--prefix', '622f'], scratch.path)).toMatchObject({ code: 0, stderr: 'bloom: prefixes: 2 keys deleted\n' });
    expect(await bloom(['delete', 'prefixes', '--prefix', 'd'], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: prefixes: 0 keys deleted\n' });
    expect(await bloomPrints(['scan', 'prefixes'], scratch.path)).toBe('a/1\t1\nc\t5\n');
  });

  test('deletes ranges again', async () => {
    scratch.write('range.tsv', 'a\t1\nb\t2\nc\t3\nd\t4\n');
    await bloomPrints(['load', 'range', 'range.tsv', '-q'], scratch.path);
    expect(await bloom(['delete', 'range', '--gte', 'b', '--lt', 'd'], scratch.path)).toMatchObject({ code: 0, stderr: 'bloom: range: 2 keys deleted\n' });
    expect(await bloom(['delete', 'range', 'b'], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: range: 0 keys deleted\n' });
    expect(await bloomPrints(['scan', 'range'], scratch.path)).toBe('a\t1\nd\t4\n');
  });
});

describe('a comparator, a policy and a codec of modules', () => {
  test('with another order than that of the folder is refused, by its name', async () => {
    await bloomPrints(['put', 'bytewise', 'a', '1'], scratch.path);
    await bloomPrints(['put', 'reversed', 'a', '1', '--comparator', `./${REVERSE}`], scratch.path);
    scratch.write('more.tsv', 'b\t2\n');
    const [bytewise, reverse] = ['"leveldb.BytewiseComparator"', '"test.ReverseBytewiseComparator"'];
    const expected = `bloom: bytewise: its keys are sorted by the comparator ${bytewise}, but --comparator is ${reverse}: omit --comparator\n`;
    for (const line of ['put bytewise b 2', 'delete bytewise a', 'compact bytewise', 'repair bytewise', 'load bytewise more.tsv']) {
      expect(await bloom([...line.split(' '), '--comparator', `./${REVERSE}`], scratch.path)).toMatchObject({ code: 2, stderr: expected });
    }
    expect(await bloom(['put', 'reversed', 'b', '2', '--comparator', 'leveldb.BytewiseComparator'], scratch.path)).toMatchObject({
      code: 2,
      stderr: `bloom: reversed: its keys are sorted by the comparator ${reverse}, but --comparator is ${bytewise}: name a module with that order\n`,
    });
    expect(await bloomPrints(['scan', 'bytewise'], scratch.path)).toBe('a\t1\n');
  });

  test('are used by the thread that writes tables', async () => {
    scratch.write(
      'plugins.mjs',
      `import { appendFileSync } from 'node:fs';
      import { isMainThread } from 'node:worker_threads';
      import { deflateRawSync, inflateRawSync } from 'node:zlib';
      export class Everything {
        name = 'test.Everything';
        createFilter(keys, dst) {
          appendFileSync('threads.txt', isMainThread ? 'main ' : 'thread ');
          dst.extend(1)[0] = 1;
        }
        keyMayMatch() { return true; }
      }
      export const codec = { type: 77, name: 'test.deflate', compress: (bytes) => deflateRawSync(bytes, { level: 1 }), decompress: (bytes, maxOutputLength) => inflateRawSync(bytes, { maxOutputLength }) };`,
    );
    const plugins = ['--comparator', `./${REVERSE}`, '--policy', './plugins.mjs', '--codec', './plugins.mjs'];
    const lines = Array.from({ length: 60_000 }, (_, i) => `${(i * 7919) % 60_000}\t${'value '.repeat(20)}${i}\n`);
    const { code, stderr } = await bloom(['load', 'threaded', '-', '-q', ...plugins, '--compression', 'test.deflate'], scratch.path, lines.join(''));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const threads = scratch.read('threads.txt').toString().trim().split(' ');
    expect(threads.filter((name) => name === 'thread').length).toBeGreaterThan(0);
    expect(await bloomPrints(['count', 'threaded', ...plugins], scratch.path)).toBe('60000\n');
    expect(await bloom(['get', 'threaded', '7919', ...plugins], scratch.path)).toMatchObject({ code: 0, stderr: '' });
    expect((await bloom(['stat', 'threaded', ...plugins], scratch.path)).stdout.toString()).toContain('test.Everything');
  });
});

describe('repair', () => {
  test('makes a database of what is left, and reports what was lost', async () => {
    const plain = goldenDatabases().find(({ name }) => name === 'levels')!;
    const path = scratch.at('damaged');
    cpSync(plain.path, path, { recursive: true });
    const table = readdirSync(path).find((name) => name.endsWith('.ldb'))!;
    truncateSync(join(path, table), 100);
    writeFileSync(join(path, 'CURRENT'), 'nonsense');
    const { code, stdout, stderr } = await bloom(['repair', 'damaged'], scratch.path);
    expect(code).toBe(1);
    expect(stdout.toString()).toContain(table);
    expect(stderr).toMatch(/^bloom: damaged: .* moved to lost\n$/);
    expect((await bloom(['scan', 'damaged'], scratch.path)).code).toBe(0);
  });

  test('brings deleted keys back from obsolete tables only with --from-tables-alone, and says so', async () => {
    const run = (command: string) => bloom(command.split(' '), scratch.path);
    for (const command of ['put leftovers a 1', 'put leftovers b 2', 'compact leftovers']) await run(command);
    const [table] = readdirSync(scratch.at('leftovers')).filter((name) => name.endsWith('.ldb'));
    const bytes = readFileSync(scratch.at(`leftovers/${table!}`));
    for (const command of ['delete leftovers b', 'compact leftovers']) await run(command);
    scratch.write(`leftovers/${table!}`, bytes);
    cpSync(scratch.at('leftovers'), scratch.at('leftovers-too'), { recursive: true });
    expect((await run('repair leftovers')).stderr).toMatch(/^bloom: leftovers: 1 table kept, 0 tables written, 1 entry, according to MANIFEST-[0-9]{6}, [0-9] files moved to lost\n$/);
    expect((await run('scan leftovers')).stdout.toString()).toBe('a\t1\n');
    expect((await run('repair --from-tables-alone leftovers-too')).stderr).toContain('without a MANIFEST, from 3 files of unknown age: deleted keys may have reappeared');
    mkdirSync(scratch.at('alone'));
    scratch.write('alone/000001.ldb', bytes);
    expect((await run('repair alone')).stderr).toContain('without a MANIFEST, from 1 file of unknown age: deleted keys may have reappeared');
    expect((await run('scan leftovers-too')).stdout.toString()).toBe('a\t1\nb\t2\n');
  });
});
