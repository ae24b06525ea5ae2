import { cpSync, existsSync, readdirSync } from 'node:fs';
import { formatKv } from '@bloom/fixtures';
import { CorruptionError, MemorySource, SyncTable } from '@bloom/sstable';
import { beforeAll, describe, expect, test } from 'vitest';
import { bloom, build } from '../bloom.js';
import { Scratch, shell } from '../bloom-process.js';

const scratch = new Scratch();
const COUNT = 8000;

beforeAll(async () => {
  const lines = Array.from({ length: COUNT }, (_, i) => `${String(i).padStart(7, '0')}\tvalue ${i} ${'x'.repeat(60)}\n`);
  await build('many.ldb', ['--compression', 'none', '--block-size', '512'], scratch.path, lines.join(''));
  const bytes = scratch.read('many.ldb');
  const oneDamaged = Buffer.from(bytes);
  oneDamaged[300_000]! ^= 1;
  scratch.write('one.ldb', oneDamaged);
  // Flips a bit in every block before the filters and the index.
  for (let i = 100; i < 600_000; i += 540) bytes[i]! ^= 1;
  scratch.write('all.ldb', bytes);
  await build('fewer.ldb', [], scratch.path, lines[0]!);
  // The first item cannot be decoded.
  const item = (key: string, value: string): string => `${Buffer.from(`_https://a.example\0\x01${key}`).toString('hex')}\t${Buffer.from(value).toString('hex')}\n`;
  const items = Array.from({ length: COUNT }, (_, i) => item(String(i).padStart(7, '0'), i === 0 ? '\x07' : `\x01${'x'.repeat(60)}`));
  const { code } = await bloom(['load', 'items', '-', '--hex', '-q'], scratch.path, `${Buffer.from('VERSION').toString('hex')}\t31\n${items.join('')}`);
  expect(code).toBe(0);
});

describe('what was decoded before a failure', () => {
  test('is printed by scan, which then fails', async () => {
    const { code, stdout, stderr } = await bloom(['scan', 'one.ldb'], scratch.path);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^bloom: one\.ldb: data block at offset [0-9]+: checksum mismatch: stored [^\n]*\n$/);
    const whole: string[] = [];
    expect(() => {
      for (const [key, value] of SyncTable.open(new MemorySource(scratch.read('one.ldb')))) {
        whole.push(`${Buffer.from(key).toString()}\t${Buffer.from(value).toString()}\n`);
      }
    }).toThrow(CorruptionError);
    expect(whole.length).toBeGreaterThan(COUNT / 4);
    expect(stdout.toString()).toBe(whole.join(''));
  });

  test.each(['raw', 'words'])('is printed by scan in %s before an entry that the format cannot represent', async (format) => {
    const bad = Buffer.from('\n');
    const entries = [Buffer.from('a'), Buffer.from('b'), Buffer.concat([Buffer.from('c'), bad])].map(
      (key) => [key, Buffer.from('1')] as [Uint8Array, Uint8Array],
    );
    await build('room.ldb', ['-f', 'kv'], scratch.path, formatKv(entries));
    const { code, stdout, stderr } = await bloom(['scan', 'room.ldb', '-f', format], scratch.path);
    expect(code).toBe(2);
    expect(stdout.toString().split('\n')).toHaveLength(3);
    expect(stderr).toMatch(/^bloom: room\.ldb: key 0x63[^\n]*\n$/);
  });

  test('is printed by get', async () => {
    const { code, stdout, stderr } = await bloom(['get', 'all.ldb', String(COUNT - 1).padStart(7, '0'), '0000000'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: `value ${COUNT - 1} ${'x'.repeat(60)}\n` });
    expect(stderr).toMatch(/^bloom: all\.ldb: data block at offset 0: [^\n]*\n$/);
  });
});

describe.runIf(process.platform !== 'win32')('standard output', () => {
  test('receives all lines of verify, salvage and get, even if it is read slowly', async () => {
    const { stdout } = await bloom(['verify', 'all.ldb'], scratch.path);
    const lines = stdout.toString().split('\n').length - 1;
    expect(stdout.length).toBeGreaterThan(90_000);
    // Reads byte by byte, so that the pipe stays full.
    const counting = 'while read -r _; do n=$((n + 1)); done; echo $n';
    const slowly = async (line: string): Promise<string> => (await shell(`${line} | (${counting})`, scratch.path)).stdout.toString().trim();
    expect(await slowly('bloom verify all.ldb')).toBe(String(lines));
    expect(Number(await slowly('bloom salvage all.ldb -o saved.ldb 2>/dev/null'))).toBeGreaterThanOrEqual(lines);
    expect(await slowly('bloom get many.ldb $(seq -f "no such key, and that is a long one, %g" 1 3000 | tr " " _) 2>&1')).toBe('3000');
  });

  test.each([
    ['scan many.ldb', '0'],
    ['layout many.ldb', '0'],
    ['verify all.ldb', '1'],
    ['salvage all.ldb -o saved.ldb', '1'],
    ['diff many.ldb fewer.ldb', '1'],
    ['scan --decode -f jsonl items', '1'],
  ])('of bloom %s ends when its reader exits, and the exit code reflects what was found until then', async (args, code) => {
    const { stdout, stderr } = await shell(`bloom ${args} | head -1 >/dev/null; echo "\${PIPESTATUS[0]}"`, scratch.path);
    expect({ code: stdout.toString(), stderr }).toEqual({ code: `${code}\n`, stderr: '' });
  });

  test('of bloom repair need not be read for the exit code', async () => {
    cpSync(scratch.at('items'), scratch.at('hurt'), { recursive: true });
    const log = `hurt/${readdirSync(scratch.at('hurt')).find((name) => name.endsWith('.log'))!}`;
    const bytes = scratch.read(log);
    bytes[100_000]! ^= 1;
    scratch.write(log, bytes);
    const { stdout } = await shell('{ sleep 0.2; bloom repair hurt 2>/dev/null; } | true; echo "${PIPESTATUS[0]}"', scratch.path);
    expect(stdout.toString()).toBe('1\n');
  });

  test('of bloom bulk part must be read, because an incomplete list of parts is a failure', async () => {
    scratch.write('letters.tsv', 'a\t1\nb\t2\n');
    const part = 'bloom bulk part letters.tsv --sequence 1 --part-size 1 -q -o letters';
    expect((await shell(`{ sleep 0.2; ${part}; } | true; echo "\${PIPESTATUS[0]}"`, scratch.path)).stdout.toString()).toBe('2\n');
    expect((await shell(`${part} | cat >parts.jsonl; echo "\${PIPESTATUS[0]}"`, scratch.path)).stdout.toString()).toBe('0\n');
    expect(scratch.read('parts.jsonl').toString().split('\n')).toHaveLength(3);
  });

  test.each([
    ['assemble letters parts.jsonl', 1],
    ['split many.ldb -n 3', 2],
  ])('of bloom bulk %s must be read, because an incomplete result is of no use', async (args, lines) => {
    scratch.write('letters.tsv', 'a\t1\nb\t2\n');
    expect((await shell('bloom bulk part letters.tsv --sequence 1 -q -o letters >parts.jsonl', scratch.path)).code).toBe(0);
    expect((await shell(`{ sleep 0.2; bloom bulk ${args}; } | true; echo "\${PIPESTATUS[0]}"`, scratch.path)).stdout.toString()).toBe('2\n');
    const { stdout } = await shell(`bloom bulk ${args} | cat; echo "\${PIPESTATUS[0]}"`, scratch.path);
    expect(stdout.toString().split('\n').slice(0, -1)).toEqual([...Array.from({ length: lines }, () => expect.any(String) as string), '0']);
  });

  test('of bloom salvage of several tables need not be read for the output to be written', async () => {
    const { stdout } = await shell('{ sleep 0.2; bloom salvage all.ldb many.ldb -o several.ldb 2>/dev/null; } | true; echo "${PIPESTATUS[0]}"', scratch.path);
    expect(stdout.toString()).toBe('1\n');
    expect(existsSync(scratch.at('several.ldb'))).toBe(true);
  });

  test.runIf(process.platform === 'linux').each([
    '--help',
    '--version',
    'help scan',
    'completion bash',
    'scan many.ldb',
    'get many.ldb 0000001',
    'stat many.ldb',
    'layout --blocks many.ldb',
    'verify all.ldb',
    'salvage all.ldb -o saved.ldb',
  ])('of bloom %s to a full device is a failure', async (args) => {
    const { code, stderr } = await shell(`bloom ${args} > /dev/full`, scratch.path);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'bloom: standard output: no space left on the device\n' });
  });
});
