import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { goldenDatabases, seeded } from '@bloom/fixtures';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, build } from '../bloom.js';
import { bloomProcess, REVERSE_MODULE, Scratch } from '../bloom-process.js';

const scratch = new Scratch();

beforeAll(async () => {
  const { path } = scratch;
  await build('good.ldb', [], path, 'a\t1\nb\t2\n');
  const damaged = scratch.read('good.ldb');
  damaged[3]! ^= 1;
  scratch.write('damaged.ldb', damaged);
  scratch.write('good.tsv', 'a\t1\nb\t2\n');
  scratch.write('no-tab.tsv', 'a\t1\nb 2\n');
  scratch.write('unsorted.tsv', 'pear\t1\napple\t2\n');
  scratch.write('twice.tsv', 'a\t1\na\t2\n');
  scratch.write('long.tsv', `${'x'.repeat(40)}\t\n${'w'.repeat(40)}\t\n`);
  scratch.write('empty-line.txt', 'a\n\nb\n');
  scratch.write('not.jsonl', 'a\n');
  scratch.write('cut.kv', Uint8Array.of(1, 0, 0, 0, 97, 1, 0, 0, 0, 49, 1, 0, 0, 0, 98, 9, 0, 0, 0, 50));
  scratch.write('unsorted.kv', Uint8Array.of(1, 0, 0, 0, 98, 0, 0, 0, 0, 1, 0, 0, 0, 97, 0, 0, 0, 0));
  scratch.write('random.ldb', seeded(3).bytes(4096));
  scratch.write('short.ldb', 'short');
  scratch.write('empty', '');
  scratch.write('good.gz', gzipSync('a\t1\n'));
  scratch.write('present.txt', 'a\nb\n');
  scratch.write('reverse.mjs', REVERSE_MODULE);
  for (const folder of ['empty-folder', 'logs']) mkdirSync(scratch.at(folder));
  const log = goldenDatabases().find(({ name }) => name === 'log-batches')!.path;
  for (const name of ['000003.log', 'MANIFEST-000002', 'CURRENT']) copyFileSync(join(log, name), scratch.at(`logs/${name}`));
});

const failures: [args: string, problem: string][] = [
  // Input that is not in the format.
  ['build no-tab.tsv -o out.ldb', 'no-tab.tsv: line 2: no TAB between key and value'],
  [
    'build unsorted.tsv -o out.ldb',
    'unsorted.tsv: line 2: key "apple" comes before "pear" (line 1); --sort accepts keys in any order',
  ],
  [
    'build twice.tsv -o out.ldb',
    'twice.tsv: line 2: key "a" is a duplicate (line 1); --sort keeps the last value of each key',
  ],
  [
    'build long.tsv -o out.ldb',
    `long.tsv: line 2: key "${'w'.repeat(32)}…" comes before "${'x'.repeat(32)}…" (line 1); --sort accepts keys in any order`,
  ],
  ['build empty-line.txt -f words -o out.ldb', 'empty-line.txt: line 2: empty, but must be a word'],
  ['build not.jsonl -f jsonl -o out.ldb', 'not.jsonl: line 1: not JSON'],
  ['build cut.kv -f kv -o out.ldb', 'cut.kv: offset 10: the file ends inside this entry, at offset 20'],
  [
    'build unsorted.kv -f kv -o out.ldb',
    'unsorted.kv: offset 9: key "a" comes before "b" (offset 0); --sort accepts keys in any order',
  ],
  // Files.
  ['build missing.tsv -o out.ldb', 'missing.tsv: no such file or folder'],
  ['build . -o out.ldb', '.: is a folder'],
  ['build good.tsv -o .', '.: is a folder'],
  ['build good.tsv -o none/out.ldb', 'none/out.ldb: no such folder'],
  ['build good.tsv -o good.tsv', 'good.tsv: is also the input: choose another file'],
  ['build good.tsv -o -', '-: a table cannot be written to standard output'],
  ['salvage good.ldb -o -', '-: a table cannot be written to standard output'],
  ['salvage good.ldb -o .', '.: is a folder'],
  ['salvage good.ldb -o none/out.ldb', 'none/out.ldb: no such folder'],
  ['salvage missing.ldb -o out.ldb', 'missing.ldb: no such file or folder'],
  ['get - a', 'standard input: not a LevelDB table: it has 0 bytes, but a footer alone has 48'],
  ['stat -', 'standard input: not a LevelDB table: it has 0 bytes, but a footer alone has 48'],
  ['get - a --keys -', 'stdin can be the input or the keys, not both: use a file for one of them'],
  ['salvage - - -o out.ldb', 'stdin can be read only once: use files for the others'],
  ['salvage good.ldb good.ldb --any-order -o out.ldb', '--any-order takes one input, because several are merged in key order'],
  ['diff - -', 'stdin can be only one of the two: use a file for the other'],
  ['scan http://user:secret@[/a.ldb?token=secret', 'http://[/a.ldb: is not a valid URL: use http:// or https:// with a host'],
  ['ls ', 'the name of the folder is empty'],
  ['export  -o x', 'the name of the folder is empty'],
  ['explore ', 'the name of the folder or file is empty'],
  ['verify missing.ldb', 'missing.ldb: no such file or folder'],
  ['layout missing.ldb', 'missing.ldb: no such file or folder'],
  ['verify good.ldb/x', 'good.ldb/x: part of the path is not a folder'],
  ['get missing.ldb a', 'missing.ldb: no such file or folder'],
  ['scan .', '.: it has no CURRENT, so it is not a LevelDB database'],
  ['get . a', '.: it has no CURRENT, so it is not a LevelDB database'],
  ['stat .', '.: it has no CURRENT, so it is not a LevelDB database'],
  ['verify --any-order .', '.: it has no CURRENT, so it is not a LevelDB database'],
  ['scan .', '.: it has no CURRENT, so it is not a LevelDB database; bloom ls finds the databases in the folders below it\n'],
  ['scan empty-folder', 'empty-folder: it has no CURRENT, so it is not a LevelDB database\n'],
  ['scan --decode .', '.: is not IndexedDB, Local Storage or Session Storage: bloom ls finds the databases in the folders below it\n'],
  ['scan --decode logs', 'logs: is not IndexedDB, Local Storage or Session Storage: omit --decode\n'],
  ['salvage . -o out.ldb', '.: it has no CURRENT, no log and no table, so it is not a LevelDB database'],
  ['layout .', '.: it has no files of a LevelDB database; to see a table, pass its file'],
  ['layout empty-folder', 'empty-folder: it has no files of a LevelDB database; to see a table, pass its file'],
  ['scan --no-internal .', '.: is a folder, whose keys are always user keys: omit --no-internal'],
  ['scan --all-versions good.ldb', 'good.ldb: is not a folder: --all-versions is for folders'],
  ['get --damage skip good.ldb a', 'good.ldb: is not a folder: --damage is for folders'],
  ['find --damage skip a good.ldb', 'good.ldb: is not a folder: --damage is for folders'],
  ['count --damage skip good.ldb', 'good.ldb: is not a folder: --damage is for folders'],
  ['diff --damage skip good.ldb good.ldb', 'good.ldb: is not a folder: --damage is for folders'],
  ['convert --damage skip good.ldb -o out.ldb', 'good.ldb: is not a folder: --damage is for folders'],
  ['advise compression --damage skip good.ldb', 'good.ldb: is not a folder: --damage is for folders'],
  ['get --decode missing a', 'missing: no such file or folder'],
  ...['get INPUT k', 'scan INPUT', 'verify INPUT', 'layout INPUT', 'filter test INPUT', 'merge INPUT good.ldb -o out.ldb'].map(
    (line) => [line.replace('INPUT', 's3://bucket/words/000005.ldb'), "s3://bucket/words/000005.ldb: s3:// names a whole database, not a file in it: pass s3://BUCKET/PREFIX, or the file's https:// address if it is public"] as [string, string],
  ),
  ['layout s3://bucket/words', 's3://bucket/words: its files are in a bucket: use bloom stat, or download them and pass the copies'],
  ['filter test s3://bucket/words', 's3://bucket/words: is a database in a bucket: download one of its tables, which bloom stat lists, and pass the copy'],
  ['merge s3://bucket/words good.ldb -o out.ldb', 's3://bucket/words: is a folder, and not a table: bloom convert makes a table of its entries'],
  ['bulk split s3://bucket/words -n 2', 's3://bucket/words: is a folder, and not a table: bloom convert makes a table of its entries'],
  ['salvage s3://bucket/words -o out.ldb', 's3://bucket/words: is a remote folder or log: download it first'],
  ['refilter s3://bucket/words -o out.ldb', "s3://bucket/words: is not a table: pass a table, or a database's folder on this computer"],
  ['explore s3://bucket/words', 's3://bucket/words: is not a folder or a file: explore reads those of this machine'],
  ...['ls s3://bucket/words', 'export s3://bucket/words -o out', 'copy s3://bucket/words out', 'build s3://bucket/words -o out.ldb'].map(
    (line) => [line, 's3://bucket/words: is an s3:// address where a file or a folder of this computer is needed: download it and pass the copy'] as [string, string],
  ),
  ['verify s3://bucket/words --header a:b', 's3://bucket/words: --header is for http:// and https://: omit it'],
  ['verify s3://bucket/words --internal', 's3://bucket/words: is a published database, whose keys are always user keys: omit --internal'],
  ['verify s3://bucket/words --no-internal', 's3://bucket/words: is a published database, whose keys are always user keys: omit --no-internal'],
  ['scan --decode logs --prefix a', "option '--decode' cannot be used with option '--prefix <key>'"],
  ['scan --decode logs --lte a', "option '--decode' cannot be used with option '--lte <key>'"],
  // Tables.
  ['stat short.ldb', 'short.ldb: not a LevelDB table: it has 5 bytes, but a footer alone has 48'],
  ['scan random.ldb', 'random.ldb: footer at offset 4048: not a LevelDB table: it ends in '],
  ['get damaged.ldb a', 'damaged.ldb: data block at offset 0: checksum mismatch: stored '],
  ['scan damaged.ldb', 'damaged.ldb: data block at offset 0: checksum mismatch: stored '],
  ['layout good.tsv', 'good.tsv: not a LevelDB table: it has 8 bytes, but a footer alone has 48'],
  ['layout empty', 'empty: not a LevelDB table: it has 0 bytes, but a footer alone has 48'],
  ['layout random.ldb', 'random.ldb: footer at offset 4048: not a LevelDB table: it ends in '],
  ['salvage logs/000003.log -o out.ldb', 'logs/000003.log: is a file of a database, not a table: pass the folder'],
  ['scan --internal logs/000003.log', 'logs/000003.log: is a log, whose keys are always user keys: omit --internal'],
  ['scan good.gz', 'good.gz: is compressed with gzip: decompress it first, for example gunzip -c < good.gz | bloom scan -'],
  ['filter test good.ldb --hex', '--hex is for --absent'],
  ['filter test logs', 'logs: is a database or one of its other files: pass one of its tables, which bloom stat lists'],
  ['filter test good.ldb --absent present.txt', 'present.txt: good.ldb contains all of its keys, so there is no absent key to try'],
  // URLs.
  ['scan http://', 'http://: is not a valid URL: use http:// or https:// with a host'],
  ['scan http://localhost:1/a.ldb', 'http://localhost:1/a.ldb: the request failed (bad port): try again, or download the file and read the copy'],
  ['scan http://user:secret@localhost:1/a.ldb?token=secret', 'http://localhost:1/a.ldb: the request failed'],
  ['scan http://localhost:1/a.ldb -H secret', '--header: a header must be NAME: VALUE'],
  // Plug-ins.
  ['merge good.ldb -o out.ldb --comparator ./reverse.mjs', 'good.ldb: its keys are not in the order of --comparator (test.ReverseBytewiseComparator); bloom verify shows where'],
  ['scan good.ldb --comparator ./none.mjs', './none.mjs: no such module'],
  ['scan good.ldb --policy none', 'none: is not one of bloom, fitted, goleveldb-bloom, blocked, ribbon, fuse, and no package of this name is installed'],
  // The command line.
  ['get good.ldb --internal a --no-internal', "option '--internal' cannot be used with option '--no-internal'"],
  ['scan good.ldb --no-internal --internal', "option '--internal' cannot be used with option '--no-internal'"],
  ['scan good.ldb -f kv --hex', 'kv is binary: omit --hex, or use --format hex'],
  ['scan good.ldb --decode-keys minecraft --hex', '--decode-keys prints text: omit it, or --hex'],
  ['scan good.ldb --decode-keys minecraft -f kv', '--decode-keys prints text: omit it, or --format kv'],
  ['scan good.ldb --decode-keys minecraft -f hex', '--decode-keys prints text: omit it, or --format hex'],
  ['scan good.ldb --decode-keys chromium -f base64', '--decode-keys prints text: omit it, or --format base64'],
  ['help nope', "unknown command 'nope'"],
  ['help biuld', "unknown command 'biuld' (Did you mean build?)"],
  ['get good.ldb --hex zz', '"zz" is not hexadecimal: it must have two digits per byte'],
  ['scan good.ldb --hex --gt 123', '"123" is not hexadecimal: it must have two digits per byte'],
  ['get good.ldb', 'no key given: put keys after the input, or pass a file of keys with --keys'],
  ['scan good.ldb -f words --values-only', 'words prints only keys: omit --values-only, or use --format raw'],
  ['completion tcsh', "command-argument value 'tcsh' is invalid for argument 'kind'. Allowed choices are bash, zsh, fish, man"],
  ['filter size 0', "command-argument value '0' is invalid for argument 'keys'"],
  // No secret of a URL is printed.
  ['scan good.ldb --comparator https://u:secret@h/order.mjs?token=t#order', 'https://h/order.mjs#order: cannot be imported: '],
  ['scan good.ldb --policy https://u:secret@h/policy.mjs?token=t', 'https://h/policy.mjs: cannot be imported: '],
  ['scan good.ldb --codec https://u:secret@h/codec.mjs', 'https://h/codec.mjs: cannot be imported: '],
  ['explore https://u:secret@127.0.0.1:9/db/?token=t', 'https://127.0.0.1:9/db/: is not a folder or a file: explore reads those of this machine'],
  ['bulk part https://u:secret@127.0.0.1:9/a.ldb?token=t good.tsv --sequence 1 -o p', 'https://127.0.0.1:9/a.ldb is a table and good.tsv is not: pass only tables, or only entries'],
  // A percent sign in a URL may stand for itself.
  ['scan http://127.0.0.1:9/100%.ldb', 'http://127.0.0.1:9/100%.ldb: '],
  ['bulk part good.tsv --internal --sequence 1 -o p', '--gte, --lt, --internal, --no-internal and --drop-deletions are for tables'],
  ['bulk part --levels 4,5 store --no-internal --sequence 7 -o p', '--internal and --no-internal are for tables'],
  ['bulk part - --files - --sequence 1 -o p', 'stdin can be read only once: use files for the others'],
  ['bulk part good.tsv --deletions - --files - --sequence 1 -o p', 'stdin can be read only once: use files for the others'],
  ['bulk part --levels 4,5 store --deletions good.tsv --sequence 7 -o p', '--deletions is for entries: publish a delivery with the deletions first'],
  ['bulk part --levels 4,5 store --drop-deletions --sequence 7 -o p', '--drop-deletions is for tables: a merge of levels drops deletions where no lower level needs them'],
  ['build good.tsv', "required option '-o, --output <table>' not specified: see bloom build --help"],
  ['scan good.ldb --bogus', "unknown option '--bogus': bloom scan --help lists the options; put names and keys that start with a dash after --"],
  ['filter size -x', "unknown option '-x': bloom filter size --help lists the options"],
  ['bogus', "unknown command 'bogus': bloom --help lists the commands"],
  ['scan', "missing required argument 'input': see bloom scan --help"],
  [
    'scan good.ldb --limit 1.5',
    "option '--limit <n>' argument '1.5' is invalid. It must be a whole number, at least 0.",
  ],
  ['build good.tsv -o out.ldb --block-size 0', "option '--block-size <bytes>' argument '0' is invalid. It must be a number of bytes, from 1 B to 64 MiB"],
  ['load new good.tsv --block-size 9G', "option '--block-size <bytes>' argument '9G' is invalid. It must be a number of bytes, from 1 KiB to 4 MiB"],
  ['build good.tsv --sort --memory 1 -o out.ldb', "option '--memory <bytes>' argument '1' is invalid. It must be a number of bytes, at least 1 MiB"],
  ['build good.tsv -o out.ldb --filter-range 3', "option '--filter-range <bytes>' argument '3' is invalid. It must be a power of two, such as 2048"],
  ['load new good.tsv --filter-range 2T', "option '--filter-range <bytes>' argument '2T' is invalid. It must be a number of bytes, from 1 B to 1 TiB"],
  // What is no folder, where commands write to one.
  ['put good.ldb a b', 'good.ldb: is a file, not a folder'],
  ['delete good.ldb --prefix ', "an empty --prefix matches every key: to delete all keys, pass --gte '' instead"],
  ['delete good.ldb a', 'good.ldb: is a file, not a folder'],
  ['load good.ldb good.tsv', 'good.ldb: is a file, not a folder'],
  ['compact good.ldb', 'good.ldb: is a file, not a folder'],
  ['repair good.ldb', 'good.ldb: is a file, not a folder'],
  ['destroy --yes good.ldb', 'good.ldb: is a file, not a folder'],
  ['copy good.ldb new', 'good.ldb: is a file, not a folder'],
  ['repair empty-folder', 'empty-folder: it has no files of a LevelDB database'],
  ['build good.tsv -o out.ldb --bits-per-key -1', "option '--bits-per-key <n>' argument '-1' is invalid."],
  ['build good.tsv -o out.ldb --block-restart-interval x', "option '--block-restart-interval <n>' argument 'x' is invalid."],
  [
    'build good.tsv -o out.ldb --compression zstd',
    '--compression zstd: unknown codec, or one that cannot compress: use none, snappy, zlib, deflate',
  ],
  ['build good.tsv -o out.ldb -f xml', "option '-f, --format <format>' argument 'xml' is invalid."],
  [
    'build good.tsv -o out.ldb -f csv',
    'good.tsv: line 1: the first line must name the columns, such as key,value: there is none named key or keyHex',
  ],
  [
    'build good.tsv -o out.ldb --no-filter --bits-per-key 5',
    "option '--no-filter' cannot be used with option '--bits-per-key <n>'",
  ],
  [
    'build good.tsv -o out.ldb --no-filter --filter-range 4096',
    "option '--no-filter' cannot be used with option '--filter-range <bytes>'",
  ],
];

describe('a failure is one line on standard error, with exit code 2:', () => {
  test.each(failures)('bloom %s', async (args, problem) => {
    const { code, stdout, stderr } = await bloom(args.split(' '), scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr.slice(0, 'bloom: '.length + problem.length)).toBe(`bloom: ${problem}`);
    expect(stderr.match(/\n/g)).toHaveLength(1);
    expect(stderr).not.toContain('    at ');
  });

  test.runIf(process.platform === 'linux')('bloom build good.tsv -o /dev/null', async () => {
    const { code, stderr } = await bloom(['build', 'good.tsv', '-o', '/dev/null'], scratch.path);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'bloom: /dev/null: is not a regular file, so it cannot be replaced by a table\n',
    });
  });
});

test.each([
  'scan good.ldb --comparator https://u:secret@h/order.mjs?token=secret',
  'copy https://u:secret@h/db?token=secret new',
  'destroy --yes https://u:secret@h/db?token=secret',
  'scan ftp://u:secret@h/db?token=secret',
])('no secret of a URL is in the stack trace of bloom %s', async (args) => {
  const { code, stderr } = await bloom(args.split(' '), scratch.path, '', { BLOOM_DEBUG: '1' });
  expect(code).toBe(2);
  expect(stderr).toContain('    at ');
  expect(stderr).not.toContain('secret');
});

test('a bucket that cannot be reached is a failure with the reason', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  const { code, stderr } = await bloom(['verify', 's3://bucket/words'], scratch.path, '', { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${port}` });
  expect({ code, stderr }).toEqual({ code: 2, stderr: `bloom: http://127.0.0.1:${port}/bucket/words/: could not GET CURRENT: fetch failed (connect ECONNREFUSED 127.0.0.1:${port}) (BLOOM_STORE_FAILED)\n` });
}, 30_000);

test('a list of files of more than 512 MiB is a failure that names the list', async () => {
  // The file has no blocks on disk.
  scratch.write('long.list', '');
  truncateSync(scratch.at('long.list'), 2 ** 29);
  for (const args of ['merge --files long.list -o out.ldb', 'bulk split --files long.list -n 2', 'bulk publish long.list store', 'get good.ldb --keys long.list --hex']) {
    const { code, stderr } = await bloom(args.split(' '), scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: `bloom: long.list: ${args.startsWith('get') ? 'line 1: is too long for a key' : 'is too large to be read as text'}\n` });
  }
});

test('a failed build leaves no files', () => {
  expect(existsSync(`${scratch.path}/out.ldb`)).toBe(false);
  expect(readdirSync(scratch.path).filter((name) => name.startsWith('.'))).toEqual([]);
});

describe('help', () => {
  test.each([['--help'], ['build --help'], ['get --help'], ['scan --help'], ['stat --help']])(
    'bloom %s gives examples',
    async (args) => {
      const { code, stdout, stderr } = await bloom(args.split(' '), scratch.path);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.toString()).toMatch(/^Usage: bloom .*\nExamples:\n {2}bloom /s);
    },
  );

  test('bloom --help has an example of a folder, and says which commands take one', async () => {
    const { stdout } = await bloom(['--help'], scratch.path);
    expect(stdout.toString()).toMatch(/^ {2}bloom scan path\/to\/database$/m);
    for (const command of ['scan', 'count', 'find', 'stat', 'verify', 'layout']) {
      expect(stdout.toString()).toMatch(new RegExp(`^  ${command} .*<input\\.\\.\\.>`, 'm'));
    }
  });

  test('bloom help scan describes the formats', async () => {
    const { stdout } = await bloom(['help', 'scan'], scratch.path);
    expect(stdout.toString()).toContain('  words   one key per line, bytes as they are');
  });

  test('is printed to standard error if there is no command', async () => {
    const { code, stdout, stderr } = await bloom([], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^Usage: bloom /);
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string };
    const { code, stdout } = await bloomProcess(['--version'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: `${version}\n` });
  });
});

describe('the help fits 80 columns:', () => {
  const names = ['build', 'get', 'scan', 'count', 'find', 'stat', 'verify', 'layout', 'salvage', 'merge', 'convert', 'diff'];
  const others = ['put', 'delete', 'load', 'compact', 'repair', 'destroy', 'copy', 'completion', 'explore', 'refilter', 'filter', 'filter size', 'filter test', 'advise', 'advise filters', 'advise compression', 'bulk', 'bulk split', 'bulk part', 'bulk assemble', 'bulk publish', 'bulk gc'];
  test.each(['', ...names, ...others])('bloom %s --help', async (command) => {
    for (const option of ['--help', '--help-all']) {
      const { code, stdout } = await bloom([...command.split(' ').filter((word) => word !== ''), option], scratch.path);
      const lines = stdout.toString().split('\n');
      expect(lines.length).toBeGreaterThan(5);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(stdout.toString().replace(/\s+/g, ' ')).not.toMatch(/\(default: [^)]*\) \(default/);
      expect(code).toBe(0);
    }
  });
});
