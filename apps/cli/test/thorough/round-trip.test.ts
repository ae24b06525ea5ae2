import { formatKv, type KeyValue, seeded } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints, build } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe('scan prints the entries from which a table was built,', () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `key ${String(i).padStart(5, '0')} é\tvalue\t${i} \r with TABs`);

  test('from raw', async () => {
    const input = `\tempty key\n${lines.join('\n')}\nlast\t\n`;
    await build('tsv.ldb', ['-f', 'raw'], scratch.path, input);
    expect(await bloomPrints(['scan', 'tsv.ldb', '-f', 'raw'], scratch.path)).toBe(input);
  });

  test('from tsv with CR LF, and no line break at the end', async () => {
    await build('crlf.ldb', [], scratch.path, 'a\t1\r\nb\t2');
    expect(await bloomPrints(['scan', 'crlf.ldb'], scratch.path)).toBe('a\t1\nb\t2\n');
  });

  test('from bytes that are not UTF-8', async () => {
    const input = Uint8Array.of(0x61, 0xff, 9, 0x80, 10);
    await build('bytes.ldb', [], scratch.path, input);
    const { stdout } = await bloom(['scan', 'bytes.ldb', '-f', 'raw'], scratch.path);
    expect([...stdout]).toEqual([...input]);
    expect(await bloomPrints(['scan', 'bytes.ldb'], scratch.path)).toBe('a\\xff\t\\x80\n');
    expect(await bloomPrints(['scan', 'bytes.ldb', '--hex'], scratch.path)).toBe('61ff\t80\n');
    expect(await bloomPrints(['scan', 'bytes.ldb', '-f', 'jsonl', '--hex'], scratch.path)).toBe('{"keyHex":"61ff","valueHex":"80"}\n');
    expect(await bloomPrints(['scan', 'bytes.ldb', '-f', 'kv', '--hex', '--gt', '61ff'], scratch.path)).toBe('');
  });

  test('from words, whose values are the numbers of their lines', async () => {
    await build('words.ldb', ['-f', 'words'], scratch.path, 'apple\nbanana split\ncherry\n');
    expect(await bloomPrints(['scan', 'words.ldb', '-f', 'words'], scratch.path)).toBe('apple\nbanana split\ncherry\n');
    expect(await bloomPrints(['scan', 'words.ldb'], scratch.path)).toBe('apple\t1\nbanana split\t2\ncherry\t3\n');
    expect(await bloomPrints(['scan', 'words.ldb', '-f', 'words', '--hex', '--gt', '62'], scratch.path)).toBe(
      `${Buffer.from('banana split').toString('hex')}\n${Buffer.from('cherry').toString('hex')}\n`,
    );
  });

  test('from jsonl', async () => {
    const input = '{"key":"","value":"\\n\\u0000"}\n{"key":"é","value":"😀 \\ufeff"}\n{"key":"\\ufeff","value":""}\n';
    await build('json.ldb', ['-f', 'jsonl'], scratch.path, input);
    const printed = await bloomPrints(['scan', 'json.ldb', '-f', 'jsonl'], scratch.path);
    const parse = (text: string): unknown[] =>
      text
        .trimEnd()
        .split('\n')
        .map((line): unknown => JSON.parse(line));
    expect(parse(printed)).toEqual(parse(input));
  });

  test('from kv', async () => {
    const random = seeded(1);
    const entries = Array.from({ length: 3000 }, (_, i): KeyValue => {
      const key = new Uint8Array([i >> 8, i & 255, ...random.bytes(random.below(40))]);
      return [key, random.bytes(i === 1000 ? 300_000 : random.below(60))];
    });
    const input = formatKv(entries);
    await build('kv.ldb', ['-f', 'kv'], scratch.path, input);
    const { stdout } = await bloom(['scan', 'kv.ldb', '-f', 'kv'], scratch.path);
    expect(stdout.equals(input)).toBe(true);
  });

  test('from empty input', async () => {
    await build('none.ldb', [], scratch.path, '');
    expect(await bloomPrints(['scan', 'none.ldb'], scratch.path)).toBe('');
  });
});

test('scan fails at an entry that the format cannot represent, and names the remedy', async () => {
  await build('room.ldb', ['-f', 'kv'], scratch.path, formatKv([[utf8('a'), utf8('v\nw')]]));
  const { code, stdout, stderr } = await bloom(['scan', 'room.ldb', '-f', 'raw'], scratch.path);
  expect({ code, stdout: stdout.toString(), stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr:
      'bloom: room.ldb: the value of key "a" has a line break in it, which raw cannot represent: use --format tsv, which escapes it\n',
  });
});

describe('--sort', () => {
  test('accepts any order, keeps the last value of each key, and reports how many were replaced', async () => {
    scratch.write('any.tsv', 'pear\t1\napple\t2\npear\t3\nfig\t4\napple\t5\npear\t6\n');
    const { code, stdout, stderr } = await bloom(['build', 'any.tsv', '--sort', '-o', 'any.ldb'], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('bloom: any.tsv: 3 entries were replaced by later ones with the same key\n');
    expect(await bloomPrints(['scan', 'any.ldb'], scratch.path)).toBe('apple\t5\nfig\t4\npear\t6\n');
  });

  test('writes the same table as for sorted input', async () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => `key${String(i).padStart(6, '0')}\t${i}`);
    await build('sorted.ldb', [], scratch.path, lines.join('\n'));
    await build(
      'shuffled.ldb',
      ['--sort'],
      scratch.path,
      seeded(2)
        .shuffle([...lines])
        .join('\n'),
    );
    expect(scratch.read('shuffled.ldb').equals(scratch.read('sorted.ldb'))).toBe(true);
  });
});

test('the summary of a build goes to standard error', async () => {
  const { code, stdout, stderr } = await bloom(['build', '-', '-o', 'summary.ldb'], scratch.path, 'a\t1\nb\t2\n');
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '' });
  expect(stderr).toMatch(
    /^bloom: summary\.ldb: 2 entries, 165 bytes, 1 block, 1 filter with 72\.0 bits per key; \d+\.\d\d s\n$/,
  );
});

test('get compares the bytes of keys, not their characters', async () => {
  await build('utf8.ldb', ['-f', 'kv'], scratch.path, formatKv([[utf8('é'), utf8('found')]]));
  expect(await bloomPrints(['get', 'utf8.ldb', 'é'], scratch.path)).toBe('found\n');
  expect(await bloomPrints(['get', '--hex', 'utf8.ldb', 'c3A9'], scratch.path)).toBe('666f756e64\n');
});
