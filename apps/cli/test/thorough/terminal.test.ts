import { execFileSync } from 'node:child_process';
import { formatKv } from '@bloom/fixtures';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { MemorySink, TableBuilder } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { terminalJson, terminalLine, terminalLines } from '../../src/outputs/terminal-text.js';
import { bloom, bloomPrints, build } from '../bloom.js';
import { type Outcome, Scratch, shell } from '../bloom-process.js';
import { maskedCrc32c } from '../masked-crc32c.js';

const scratch = new Scratch();
/** Clears the screen, starts a new line with a false message, and reverses the direction of writing. */
const hostile = '\x1b[2J\x9b1m\nbloom: t.ldb: nothing is wrong\r\u202e\u2028';

/** Expects no control characters, and a limited number of lines. */
function isSafe({ stdout, stderr }: Outcome, lines?: number): void {
  for (const text of [stdout.toString(), stderr]) {
    expect(text).not.toMatch(/[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u);
    expect(text).not.toMatch(/^bloom: t\.ldb: nothing is wrong/m);
  }
  if (lines !== undefined) expect(stderr.match(/\n/g)).toHaveLength(lines);
}

/** The same table with a bad handle of the filter block and a correct checksum. */
function withoutHandle(table: Uint8Array, policyName: string): Uint8Array {
  const bytes = Buffer.from(table);
  const name = `filter.${policyName}`;
  const keyStart = bytes.lastIndexOf(name);
  const handleStart = keyStart + Buffer.byteLength(name);
  bytes.fill(0xff, handleStart, handleStart + 2);
  // Three lengths precede the key. The handle is followed by one restart, the number of restarts and the compression type.
  const typeEnd = handleStart + 2 + 8 + 1;
  bytes.writeUInt32LE(maskedCrc32c(bytes.subarray(keyStart - 3, typeEnd)), typeEnd);
  return bytes;
}

/** A table with filters of a policy with this name. */
function tableOfPolicy(name: string): Uint8Array {
  const bloomPolicy = new BloomFilterPolicy();
  const filterPolicy: FilterPolicy = {
    name,
    createFilter: (keys, dst) => {
      bloomPolicy.createFilter(keys, dst);
    },
    keyMayMatch: (key, filter) => bloomPolicy.keyMayMatch(key, filter),
  };
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { filterPolicy, compression: 'none' });
  builder.add(Uint8Array.of(97), Uint8Array.of(98));
  builder.finish();
  return sink.toBytes();
}

describe('names and keys with control characters are escaped:', () => {
  scratch.write('policy.ldb', tableOfPolicy(hostile));
  scratch.write('text.tsv', 'a\t1\n');
  scratch.write('damaged.ldb', withoutHandle(tableOfPolicy(hostile), hostile));

  test.each([
    ['a missing file', ['stat', hostile]],
    ['a missing input', ['build', hostile, '-o', 'out.ldb']],
    ['an output that cannot be created', ['build', 'text.tsv', '-o', `${hostile}/out.ldb`]],
    ['an unknown command', [hostile]],
    ['an unknown option', ['scan', 'policy.ldb', `--${hostile}`]],
    ['an invalid number', ['scan', 'policy.ldb', '--limit', hostile]],
    ['an absent key', ['get', 'policy.ldb', hostile]],
    ['a key that is not hexadecimal', ['get', '--hex', 'policy.ldb', hostile]],
  ])('%s is reported in one line', async (_, args) => {
    const done = await bloom(args, scratch.path);
    expect(done.code).not.toBe(0);
    isSafe(done, 1);
    expect(done.stderr).toMatch(/\\x1b|\\u001b/);
  });

  test.each([
    ['policy.ldb', ['stat'], 'stdout'],
    ['policy.ldb', ['stat', '--json'], 'stdout'],
    ['policy.ldb', ['layout'], 'stdout'],
    ['policy.ldb', ['layout', '--blocks'], 'stdout'],
    ['policy.ldb', ['verify'], 'stderr'],
    ['damaged.ldb', ['verify'], 'stdout'],
    ['damaged.ldb', ['salvage', '-o', 'saved.ldb'], 'stdout'],
  ] as const)('the name of a policy in %s is escaped by %j', async (name, [command, ...options], where) => {
    const done = await bloom([command, name, ...options], scratch.path);
    isSafe(done);
    expect(done[where].toString()).toMatch(/\\x1b\[2J|\\u001b\[2J/);
  });

  test('a file name is escaped in text, and exact in JSON', async () => {
    const name = 'a\x1b[2J\nb.ldb';
    await build(name, [], scratch.path, 'a\t1\n');
    const summary = await bloom(['build', '-', '-o', name], scratch.path, 'a\t1\n');
    expect(summary.stderr).toMatch(/^bloom: a\\x1b\[2J\\nb\.ldb: 1 entry/);
    isSafe(summary, 1);
    isSafe(await bloom(['stat', name], scratch.path));
    isSafe(await bloom(['verify', name], scratch.path), 1);
    const { stdout } = await bloom(['stat', '--json', name], scratch.path);
    expect(JSON.parse(stdout.toString())).toMatchObject({ file: name });
  });
});

function hasScript(): boolean {
  try {
    execFileSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('entries', () => {
  const key = Buffer.from('\x1b[31mred\x9b', 'latin1');
  const value = Buffer.from('\x1b]0;title\x07 \u202e\r.');

  test('are unchanged bytes in a pipe, in every format', async () => {
    await build('entries.ldb', ['-f', 'kv'], scratch.path, formatKv([[key, value]]));
    const scan = async (...args: string[]): Promise<Buffer> => (await bloom(['scan', 'entries.ldb', ...args], scratch.path)).stdout;
    expect(await scan('-f', 'raw')).toEqual(Buffer.concat([key, Buffer.from('\t'), value, Buffer.from('\n')]));
    expect(await scan('-f', 'words')).toEqual(Buffer.concat([key, Buffer.from('\n')]));
    expect(await scan('-f', 'kv')).toEqual(Buffer.from(formatKv([[key, value]])));
    expect(await bloomPrints(['get', '--hex', 'entries.ldb', key.toString('hex')], scratch.path)).toBe(`${value.toString('hex')}\n`);
    await build('text.ldb', ['-f', 'kv'], scratch.path, formatKv([[Buffer.from(hostile), value]]));
    expect(JSON.parse((await scan('-f', 'jsonl')).toString())).toEqual({ keyHex: key.toString('hex'), value: value.toString() });
    const printed = await bloomPrints(['scan', 'text.ldb', '-f', 'jsonl'], scratch.path);
    expect(JSON.parse(printed)).toEqual({ key: hostile, value: value.toString() });
    expect(printed.trimEnd()).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  if (!hasScript()) test.skip('are not printed to a terminal: there is no script(1) of util-linux', () => {});
  test.runIf(hasScript())('are escaped text on a terminal', async () => {
    await build('shown.ldb', ['-f', 'kv'], scratch.path, formatKv([[key, value]]));
    const onTerminal = async (args: string, env = ''): Promise<string> =>
      (await shell(`${env} script -qec '"$NODE" "$PROGRAM" ${args}' /dev/null < /dev/null`, scratch.path)).stdout.toString();
    const text = '\\x1b]0;title\\x07 \\u202e\\r.';
    expect(await onTerminal('scan shown.ldb')).toBe(`\\x1b[31mred\\x9b\t${text}\r\n`);
    expect(await onTerminal(`get shown.ldb --hex ${key.toString('hex')}`)).toBe(`${value.toString('hex')}\r\n`);
    const problem = 'stdout is a terminal and kv is binary: redirect it to a file or a pipe, or use --format tsv\r\n';
    expect(await onTerminal('scan shown.ldb -f kv', 'TERM=xterm NO_COLOR= FORCE_COLOR=')).toBe(`\x1b[31mbloom:\x1b[39m ${problem}`);
    expect(await onTerminal('scan shown.ldb -f kv', 'TERM=xterm NO_COLOR=1 FORCE_COLOR=')).toBe(`bloom: ${problem}`);
    expect(await onTerminal('--help', 'TERM=xterm NO_COLOR= FORCE_COLOR=')).toContain('\x1b[1mLook:\x1b[22m');
  });
});

test('terminal text has control characters escaped and is limited in length', () => {
  expect(terminalLine('Grüße, 世界 😀 "\\"')).toBe('Grüße, 世界 😀 "\\"');
  expect(terminalLine('a\tb\r\n\0\x7f\x85\ud83d\u{e0041}')).toBe('a\\tb\\r\\n\\x00\\x7f\\x85\\ud83d\\u{e0041}');
  const long = terminalLine(`start${' '.repeat(1_000_000)}end`);
  expect(long.length).toBeLessThan(6100);
  expect(long).toMatch(/^start {2995}… {2997}end$/);
  expect(terminalLines(Buffer.from('a\tb\nc\x1b\xff', 'latin1'))).toBe('a\tb\nc\\x1b\ufffd');
  for (const value of [hostile, '\u{e0041}', '"\\\ud83d']) expect(JSON.parse(terminalJson({ [value]: value }))).toEqual({ [value]: value });
  expect(terminalJson('\u{e0041}\x7f')).toBe('"\\udb40\\udc41\\u007f"');
});
