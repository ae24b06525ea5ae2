import { formatKv, type KeyValue, seeded } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { ByteBuffer } from '../src/byte-buffer.js';
import { type Entry, OutputError } from '../src/entry.js';
import { formats } from '../src/format.js';
import { keyText } from '../src/key-text.js';
import { SortedEntries } from '../src/sorted-entries.js';

const random = seeded(4);

function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text));
}

function hex([key, value]: Entry): string {
  return `${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`;
}

function decodeAll(format: keyof typeof formats, pieces: readonly Uint8Array[]): string[] {
  const decoder = formats[format].decoder();
  const entries: string[] = [];
  const take = (some: Iterator<Entry>): void => {
    for (let step = some.next(); step.done !== true; step = some.next())
      entries.push(`${decoder.position} ${hex(step.value)}`);
  };
  for (const piece of pieces) take(decoder.decode(piece));
  take(decoder.end());
  return entries;
}

describe('decoding does not depend on how the input is split into pieces', () => {
  const entries = Array.from({ length: 30 }, (): KeyValue => [
    random.bytes(random.below(9)),
    random.bytes(random.below(20)),
  ]);
  test.each([
    ['tsv', bytes('a\t1\n\tx\r\nlonger key\tvalue\twith TAB\n\t\nend\t')],
    ['words', bytes('apple\r\nbanana\ncherry pie\nlast')],
    ['jsonl', bytes('{"key":"a","value":"é"}\n{"value":"x","key":"","more":1}')],
    ['kv', formatKv(entries)],
  ] as const)('%s', (format, input) => {
    const whole = decodeAll(format, [input]);
    expect(whole.length).toBeGreaterThan(1);
    for (let cut = 0; cut <= input.length; cut++) {
      expect(decodeAll(format, [input.subarray(0, cut), input.subarray(cut)])).toEqual(whole);
    }
    for (const size of [1, 2, 3, 7]) {
      const pieces = Array.from({ length: Math.ceil(input.length / size) }, (_, i) =>
        input.subarray(i * size, (i + 1) * size),
      );
      expect(decodeAll(format, pieces)).toEqual(whole);
    }
  });

  test('rejects a kv file that ends inside an entry, at any byte', () => {
    const input = formatKv([[bytes('key'), bytes('value')]]);
    for (let length = 1; length < input.length; length++) {
      expect(() => decodeAll('kv', [input.subarray(0, length)])).toThrow(
        `offset 0: the file ends inside this entry, at offset ${length}`,
      );
    }
  });
});

describe('one byte order mark at the start of a text is skipped', () => {
  const mark = Uint8Array.of(0xef, 0xbb, 0xbf);
  test.each([
    ['tsv', bytes('a\t1\n\u{feff}b\t2')],
    ['tsv', bytes('\u{feff}\u{feff}a\t1\r\nb\t2')],
    ['tsv', bytes('\tvalue of the empty key')],
    ['words', bytes('a\n\u{feff}b\n')],
    ['jsonl', bytes('{"key":"\u{feff}","value":""}')],
    ['words', bytes('')],
    ['jsonl', bytes('')],
  ] as const)('%s %j', (format, input) => {
    const marked = Buffer.concat([mark, input]);
    const expected = decodeAll(format, [input]).map((text, i) =>
      // A second one is part of the text.
      i === 0 && input[0] === 0xef ? text.replace(/^(\d+) /, '$1 efbbbf') : text,
    );
    for (let cut = 0; cut <= 5; cut++) {
      expect(decodeAll(format, [marked.subarray(0, cut), marked.subarray(cut)])).toEqual(expected);
    }
  });

  test('does not hide the error for an empty line after it', () => {
    expect(() => decodeAll('words', [Buffer.concat([mark, bytes('\n')])])).toThrow('line 1: empty, but must be a word');
    expect(() => decodeAll('tsv', [Buffer.concat([mark, bytes('\r\n')])])).toThrow('line 1: no TAB');
  });
});

describe('invalid input is rejected with its line or offset', () => {
  test.each([
    ['tsv', bytes('a\t1\nb 2'), 'line 2: no TAB between key and value'],
    ['words', bytes('a\n\r\n'), 'line 2: empty, but must be a word'],
    ['jsonl', bytes('{"key":"a","value":""}\n\n'), 'line 2: empty, but must be a JSON object'],
    ['jsonl', bytes('a'), 'line 1: not JSON'],
    ['jsonl', bytes('[1]'), 'line 1: not a JSON object'],
    ['jsonl', bytes('{"key":"a"}'), 'line 1: no "value"'],
    ['jsonl', bytes('{"__proto__":{"key":"a"},"value":""}'), 'line 1: no "key"'],
    ['jsonl', bytes('{"key":"a","value":1}'), 'line 1: "value" is not a string'],
    ['jsonl', bytes('{"key":"\\ud83d","value":""}'), 'line 1: "key" has half a surrogate pair, which UTF-8 cannot represent'],
    ['jsonl', Uint8Array.of(0x22, 0xff, 0x22), 'line 1: not UTF-8'],
    ['kv', Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0), 'offset 0: an entry of at least 4294967295 bytes'],
    ['kv', Uint8Array.of(1, 0, 0, 0, 97, 0, 0, 0, 8), 'offset 0: an entry of at least 134217729 bytes'],
  ] as const)('%s: %s', (format, input, problem) => {
    expect(() => decodeAll(format, [input])).toThrow(problem);
    expect(() =>
      decodeAll(
        format,
        Array.from(input, (byte) => Uint8Array.of(byte)),
      ),
    ).toThrow(problem);
  });
});

describe('an entry that the format cannot represent is not written', () => {
  test.each([
    ['tsv', 'a\tb', 'v', 'key 0x610962 has a TAB or a line break in it'],
    ['tsv', 'a\nb', 'v', 'key 0x610a62 has a TAB or a line break in it'],
    ['tsv', 'a', 'v\nw', 'the value of key "a" has a line break in it'],
    ['tsv', 'a', 'v\r', 'the value of key "a" has a line break in it'],
    ['words', '', 'v', 'the empty key would be an empty line'],
    ['words', 'a\nb', 'v', 'key 0x610a62 has a line break in it'],
    ['words', 'a\r', 'v', 'key 0x610d has a line break in it'],
    ['jsonl', 'a', '\xff', 'the value of key "a" is not UTF-8'],
    ['jsonl', '\xff', 'v', 'key 0xff is not UTF-8'],
  ] as const)('%s, key %j, value %j', (format, key, value, problem) => {
    const [keyBytes, valueBytes] = [key, value].map((text) => Uint8Array.from(Buffer.from(text, 'latin1')));
    expect(() => formats[format].encode(keyBytes!, valueBytes!, new ByteBuffer())).toThrow(problem);
  });

  test('everything that is written is read back', () => {
    for (const format of ['tsv', 'jsonl', 'kv'] as const) {
      for (let round = 0; round < 2000; round++) {
        // Bytes with a meaning in some format, and some without.
        const draw = (): Uint8Array =>
          random.bytes(random.below(5)).map((byte) => [9, 10, 13, 34, 92, 97, 0xc3, 0xa9][byte % 8]!);
        const entry: Entry = [draw(), draw()];
        const out = new ByteBuffer();
        try {
          formats[format].encode(...entry, out);
        } catch (error) {
          expect(error).toBeInstanceOf(OutputError);
          continue;
        }
        expect(decodeAll(format, [out.view()]).map((text) => text.slice(2))).toEqual([hex(entry)]);
      }
    }
  });
});

test('sorted entries equal those of a sorted map', () => {
  for (let round = 0; round < 30; round++) {
    const sorted = new SortedEntries();
    const model = new Map<string, string>();
    const length = random.below(400);
    for (let i = 0; i < length; i++) {
      // Short keys of few letters: many are equal, or prefixes of others.
      const key = random.bytes(random.below(round % 2 === 0 ? 3 : 12)).map((byte) => byte % 3);
      const value = random.bytes(random.below(5));
      sorted.add(key, value);
      model.set(Buffer.from(key).toString('hex'), hex([key, value]));
    }
    expect(sorted.sort()).toBe(length - model.size);
    expect(Array.from(sorted, hex)).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry));
  }
});

test('sorted entries may be larger than a page of the buffer', () => {
  const sorted = new SortedEntries();
  const large = new Uint8Array(5 * 2 ** 20).fill(7);
  for (const key of ['b', 'c', 'a']) sorted.add(bytes(key), key === 'c' ? bytes('') : large);
  expect(sorted.sort()).toBe(0);
  expect(Array.from(sorted, ([key, value]) => [Buffer.from(key).toString(), value.length])).toEqual([
    ['a', large.length],
    ['b', large.length],
    ['c', 0],
  ]);
});

test.each([
  [bytes(''), '""'],
  [bytes('é "quoted"'), '"é "quoted""'],
  [bytes('a\nb'), '0x610a62'],
  [bytes('\x1b[2J'), '0x1b5b324a'],
  [Uint8Array.of(0xff), '0xff'],
  [bytes(`${'x'.repeat(31)}é`), `"${'x'.repeat(31)}…"`],
  [new Uint8Array(40), `0x${'00'.repeat(32)}…`],
])('a message shows key %j as %s', (key, text) => {
  expect(keyText(key)).toBe(text);
});
