// Arguments and inputs that were taken silently although they cannot be meant.
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { dataPath } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { bloomProcess, Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();

/** A database of two tables and a log with these keys. */
async function database(name: string, keys: readonly string[] = ['a', 'b', 'c']): Promise<string> {
  const made = await Database.open(new WritableNodeFolder(scratch.at(name)));
  for (const key of keys) {
    await made.put(key, 'a\tvalue');
    if (key !== keys.at(-1)) await made.flush();
  }
  await made.close();
  return name;
}

describe('a range whose end is before its beginning', () => {
  const words: [string, string[], string][] = [
    ['compact', ['compact', 'db', '--from', 'z', '--to', 'a'], '--to is before --from'],
    ['delete', ['delete', 'db', '--gte', 'z', '--lte', 'a'], '--lte is before --gte'],
    ['merge', ['merge', 'plain.ldb', '-o', 'out.ldb', '--gte', 'z', '--lt', 'a'], '--lt is before --gte'],
    ['part', ['part', 'plain.ldb', '-o', 'parts', '--sequence', '1', '--gte', 'z', '--lt', 'a'], '--lt is before --gte'],
  ];
  beforeAll(async () => {
    await build('plain.ldb', [], scratch.path, 'a\t1\n');
    await database('db');
  });

  test.each(words)('is refused by %s', async (_, args, problem) => {
    const { code, stderr } = await bloom(args, scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`${problem}, so no key is between them\n`) as string });
  });

  test('is empty for commands that read, as in LevelDB', async () => {
    await database('empty-range');
    for (const input of ['empty-range', 'plain.ldb']) {
      expect(await bloomPrints(['scan', input, '--gte', 'z', '--lt', 'a'], scratch.path)).toBe('');
      expect(await bloomPrints(['count', input, '--gt', 'z', '--lte', 'a'], scratch.path)).toBe('0\n');
    }
  });

  test('may end where it begins', async () => {
    await database('empty-range');
    expect(await bloomPrints(['count', 'empty-range', '--gte', 'b', '--lt', 'b'], scratch.path)).toBe('0\n');
    await bloomPrints(['compact', 'empty-range', '--from', 'b', '--to', 'b', '-q'], scratch.path);
  });
});

test('build, load and bulk part refuse logs and MANIFESTs, whatever bytes they have', async () => {
  await database('source');
  const files = [
    [logOf('source'), /is a log of a database: bloom scan prints its entries\n$/],
    [join('source', 'MANIFEST-000002'), /is a MANIFEST of a database: bloom scan prints the entries of the folder\n$/],
  ] as const;
  for (const [file, problem] of files) {
    for (const args of [['build', file, '-o', 'made.ldb'], ['load', 'made', file], ['part', file, '-o', 'parts', '--sequence', '1'], ['build', file, '-f', 'kv', '-o', 'made.ldb']]) {
      const { code, stderr } = await bloom(args, scratch.path);
      expect({ args, code, stderr }).toEqual({ args, code: 2, stderr: expect.stringMatching(problem) as string });
    }
  }
});

function logOf(folder: string): string {
  return join(folder, readdirSync(scratch.at(folder)).find((name) => name.endsWith('.log'))!);
}

test('an empty file behind a URL gets no advice to salvage it, as in a folder', async () => {
  const server = createServer((_, response) => response.writeHead(200, { 'content-length': 0, 'accept-ranges': 'bytes' }).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const { code, stderr } = await bloom(['get', `http://127.0.0.1:${(server.address() as AddressInfo).port}/empty.ldb`, 'a'], scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/it has 0 bytes, but a footer alone has 48/) as string });
    expect(stderr).not.toContain('salvage');
  } finally {
    server.close();
  }
});

test('diff of a database and a table applies --internal to the table, and refuses it for two databases', async () => {
  await database('old', ['a', 'b']);
  await build('versions.ldb', ['--versions', '--sort'], scratch.path, 'a\t1\tvalue\t\ta\\tvalue\nb\t2\tvalue\t\ta\\tvalue\n');
  expect(await bloom(['diff', 'old', 'versions.ldb', '--internal', '-q'], scratch.path)).toMatchObject({ code: 0, stderr: '' });
  expect(await bloom(['diff', 'versions.ldb', 'old', '--no-internal', '-q'], scratch.path)).toMatchObject({ code: 1, stderr: '' });
  expect(await bloom(['diff', 'old', 'old', '--internal'], scratch.path)).toMatchObject({ code: 2, stderr: 'bloom: old: is a database, whose keys are always user keys: omit --internal\n' });
});

describe('a published folder', () => {
  beforeAll(async () => {
    for (const sequence of [1, 2, 3]) {
      const parts = await bloomPrints(['part', '-', '-q', '-o', 'www', '--sequence', String(sequence)], scratch.path, `key${sequence}\t${sequence}\n`);
      scratch.write('parts.jsonl', parts);
      const assembly = await bloomPrints(['assemble', 'www', 'parts.jsonl', '--previous', 'www'], scratch.path);
      await bloomPrints(['publish', '-', 'www'], scratch.path, assembly);
    }
  });

  test.each([
    ['put', ['put', 'copy', 'a', 'b']],
    ['delete', ['delete', 'copy', 'key1']],
    ['compact', ['compact', 'copy']],
    ['load', ['load', 'copy', '-']],
    ['refilter', ['refilter', 'copy', '--bits-per-key', '20']],
  ])('that %s writes to is noted to be an ordinary database from then on', async (name, args) => {
    const copy = `copy-${name}`;
    cpSync(scratch.at('www'), scratch.at(copy), { recursive: true });
    const withCopy = args.map((arg) => (arg === 'copy' ? copy : arg));
    const note = `bloom: ${copy}: was published with bloom bulk publish, and is an ordinary database from now on`;
    const first = await bloom(withCopy, scratch.path, name === 'load' ? 'a\tb\n' : '');
    expect(first).toMatchObject({ code: 0, stderr: expect.stringContaining(note) as string });
    const second = await bloom(['put', copy, 'c', 'd'], scratch.path);
    expect(second).toMatchObject({ code: 0, stderr: '' });
    const part = ['part', '-', '--sequence', '9', '-o', copy];
    for (const refused of [['gc', copy], part]) {
      expect(await bloom(refused, scratch.path, 'a\tb\n')).toMatchObject({ code: 2, stderr: expect.stringContaining('BLOOM_NOT_PUBLISHED') as string });
    }
  });

  test('has levels with parts between those to merge, which is refused before anything is written', async () => {
    mkdirSync(scratch.at('merged'), { recursive: true });
    const { code, stdout, stderr } = await bloom(['part', '--levels', '4,6', 'www', '--sequence', '3', '-o', 'merged', '-q'], scratch.path);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining('merge neighbouring levels, such as --levels 4,5,6\n') as string });
  });
});

test('scan --decode prints the origin and the map of Session Storage with one slash between them', async () => {
  const printed = await bloomPrints(['scan', '--decode', dataPath('web-storage/session-storage')], scratch.path);
  expect(printed).toMatch(/^http:\/\/[^/\t]+\/\d+\t/m);
  expect(printed).not.toMatch(/^http:\/\/[^/\t]+\/\//m);
});

test('a file of a database that holds no entries leads to its folder', async () => {
  await database('with-lock');
  writeFileSync(scratch.at('with-lock/LOG'), '2026/11/30-12:00:00.000000 7f Recovering log #3\n');
  for (const name of ['LOCK', 'LOG']) {
    for (const command of ['scan', 'count']) {
      const { code, stderr } = await bloom([command, `with-lock/${name}`], scratch.path);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(/not a LevelDB table: .*; pass the database's folder, with-lock\n$/) as string });
    }
  }
});

test('an invalid --header is refused for a local input too, without being printed', async () => {
  await database('local');
  const { code, stderr } = await bloom(['scan', 'local', '--header', 'SECRET'], scratch.path);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: --header: a header must be NAME: VALUE, for example Authorization: Bearer TOKEN\n' });
});

test('build refuses --memory without --sort', async () => {
  const { code, stderr } = await bloom(['build', '-', '-o', 'unsorted.ldb', '--memory', '5MiB'], scratch.path, 'a\t1\n');
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: --memory is for --sort\n' });
  await build('sorted.ldb', ['--sort', '--memory', '5MiB'], scratch.path, 'b\t1\na\t1\n');
});

test('explore refuses a URL of another scheme as the other commands do', async () => {
  const { code, stderr } = await bloom(['explore', 'file:///some/folder', '--no-open'], scratch.path);
  expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: file:///some/folder: is not a URL that can be read: use http:// or https://\n' });
});

describe('a module that ends before it has been imported is a failure of a command that reads and of one that writes', () => {
  test.each([
    ['awaits.mjs', 'await new Promise(() => {});', 'it awaits something that never happens'],
    ['then.mjs', 'export function then() {}', 'it awaits something that never happens'],
    ['ends.mjs', 'process.exit(0);', 'it ends the process'],
    ['ends-with-code.cjs', 'process.exit(7);', 'it ends the process'],
  ])('%s', async (name, text, problem) => {
    scratch.write(name, text);
    scratch.write('entries.tsv', 'a\t1\n');
    await build('read.ldb', [], scratch.path, 'a\t1\n');
    for (const command of ['get read.ldb a', 'build entries.tsv -o never.ldb']) {
      const { code, stdout, stderr } = await bloomProcess([...command.split(' '), '--comparator', `./${name}`], scratch.path);
      expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 2, stdout: '', stderr: `bloom: ./${name}: cannot be imported: ${problem}\n` });
    }
    expect(readdirSync(scratch.path).filter((file) => file.includes('never'))).toEqual([]);
  });

  test('but a module may wait', async () => {
    scratch.write('waits.mjs', "await new Promise((resolve) => setTimeout(resolve, 50));\nexport default { type: 9, name: 'nine', decompress: (bytes) => bytes };");
    await build('waited.ldb', [], scratch.path, 'a\t1\n');
    expect(await bloomProcess(['get', 'waited.ldb', 'a', '--codec', './waits.mjs'], scratch.path)).toMatchObject({ code: 0, stderr: '' });
  });
});

test('a value that is not UTF-8 is refused as a value, and a key as a key', async () => {
  const [key, value] = ['put keyed k\ufffd v', 'put keyed k v\ufffd'].map((line) => bloom(line.split(' '), scratch.path));
  expect(await key).toMatchObject({ code: 2, stderr: 'bloom: "k\ufffd" is not UTF-8: pass the key in hexadecimal, with --hex\n' });
  expect(await value).toMatchObject({ code: 2, stderr: 'bloom: "v\ufffd" is not UTF-8: pass key and value in hexadecimal, with --hex, or the value in a file, with --value-from\n' });
});

test('copy and export make no folder inside a folder that they read', async () => {
  await database('read');
  symlinkSync('read', scratch.at('link'));
  const before = readdirSync(scratch.at('read'));
  for (const target of ['read/copy', 'link/copy', './read/../read/copy']) {
    expect(await bloom(['copy', 'read', target], scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${target}: is inside read, which must not change: choose a folder elsewhere\n` });
  }
  const profile = 'profile/Local Storage/leveldb';
  mkdirSync(scratch.at('profile/Local Storage'), { recursive: true });
  expect(await bloom(['load', profile, '-', '-q'], scratch.path, 'VERSION\t1\n')).toMatchObject({ code: 0, stderr: '' });
  for (const source of ['profile', profile]) {
    expect(await bloom(['export', source, '-o', `${profile}/out`], scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${profile}/out: is inside ${profile}, which must not change: choose a folder elsewhere\n` });
  }
  expect(readdirSync(scratch.at('read'))).toEqual(before);
  // A profile is more than its databases.
  expect(await bloom(['export', 'profile', '-o', 'profile/out'], scratch.path)).toMatchObject({ code: 0 });
  expect(await bloom(['copy', 'read', 'reading'], scratch.path)).toMatchObject({ code: 0 });
});

describe('a value without an end is refused when it is longer than an entry can be', () => {
  test.skipIf(process.platform === 'win32').each([
    ['a device', '/dev/zero', '/dev/zero'],
    ['a pipe', '-', 'standard input'],
  ])('from %s', async (_, from, name) => {
    const line = `yes | bloom put endless key --value-from ${from}`;
    expect(await shell(line, scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${name}: longer than 134217728 bytes with its key, the maximum for an entry\n` });
    expect(readdirSync(scratch.path)).not.toContain('endless');
  });

  test('and one of almost that length is written', async () => {
    scratch.write('long', Buffer.alloc(128 * 2 ** 20 - 100, 'x'));
    await bloomPrints(['put', 'long-value', 'key', '--value-from', 'long'], scratch.path);
    expect(await bloomPrints(['count', '--bytes', 'long-value'], scratch.path)).toMatch(/^134\d{6}\n$/);
  });
});

test('commands that write a table replace no file of a database, but may add a table to its folder', async () => {
  await database('owner');
  await build('plain-input.ldb', [], scratch.path, 'a\t1\n');
  scratch.write('entries.tsv', 'a\t1\n');
  const names = readdirSync(scratch.at('owner'));
  expect(names).toEqual(expect.arrayContaining(['CURRENT', 'LOCK', expect.stringMatching(/^MANIFEST-/), expect.stringMatching(/\.ldb$/), expect.stringMatching(/\.log$/)]));
  symlinkSync(join('owner', names.find((name) => name.endsWith('.ldb'))!), scratch.at('linked.ldb'));
  const before = await bloomPrints(['scan', 'owner'], scratch.path);
  const commands = [['build', 'entries.tsv'], ['merge', 'plain-input.ldb'], ['convert', 'plain-input.ldb'], ['refilter', 'plain-input.ldb'], ['salvage', 'plain-input.ldb']];
  for (const output of [...names.map((name) => `owner/${name}`), 'linked.ldb']) {
    for (const command of output.endsWith('.ldb') ? commands : [commands[0]!]) {
      expect(await bloom([...command, '-o', output], scratch.path)).toMatchObject({ code: 2, stderr: `bloom: ${output}: is a file of a database, which would be damaged: choose a file elsewhere\n` });
    }
  }
  expect(await bloomPrints(['scan', 'owner'], scratch.path)).toBe(before);
  // Without CURRENT, it is a folder of tables that bloom repair makes into a database.
  await build('owner/900000.ldb', [], scratch.path, 'a\t1\n');
  mkdirSync(scratch.at('tables'));
  for (const value of [1, 2]) await build('tables/000001.ldb', [], scratch.path, `a\t${value}\n`);
});
