import { formatKv, type KeyValue, seeded } from '@bloom/fixtures';
import { describe, expect, test } from 'vitest';
import { ByteBuffer } from '../src/formats/byte-buffer.js';
import { type Entry, OutputError } from '../src/formats/entry.js';
import { decoderOf, type InputForm } from '../src/formats/decoders.js';
import { EntryBatch } from '../src/formats/entry-batch.js';
import { type Columns, PLAIN_COLUMNS } from '../src/formats/format-contract.js';
import { type FormatName, formats } from '../src/formats/format.js';
import { keyText } from '../src/outputs/key-text.js';
import { SortedEntries } from '../src/inputs/sorted-entries.js';
import { add, sortedOf } from './sorted.js';

const random = seeded(4);

function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text));
}

function hex([key, value]: Entry): string {
  return `${Buffer.from(key).toString('hex')} ${Buffer.from(value).toString('hex')}`;
}

/** The entries with their positions. After each piece, another decoder goes on with the state of the one before. */
function decodeAll(form: FormatName | InputForm, pieces: readonly Uint8Array[]): string[] {
  const inputForm = typeof form === 'string' ? { format: form, hex: false } : form;
  let decoder = decoderOf(inputForm);
  const batch = new EntryBatch(1, 1);
  for (const piece of pieces) {
    decoder.decode(piece, batch);
    decoder = decoderOf(inputForm, decoder.state());
  }
  decoder.end(batch);
  return Array.from({ length: batch.length }, (_, i) => `${batch.positions[i]!} ${hex([batch.key(i), batch.value(i)])}`);
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
    ['csv', bytes('key,value\na,1\n"quoted, ""twice""","line\nbreak"\r\n,\n"",x')],
    ['csv', bytes('sequence,valueHex,key\n7,ff00,"a"\n8,"",b\n')],
    ['tsv', bytes('a\\tb\t\\\\x\\x0a\n\\r\t\\x00\\xfF\nplain\ta long value without any escapes in it, longer than a loop copies\nb\ta long value with one escape at its end, longer than a loop copies\\n')],
    ['raw', bytes('a\\tb\t\\x\n\tv')],
    ['hex', bytes('61\t\n\tfF\r\n0a09\t00')],
    ['base64', bytes('YQ==\tAA==\n\t\r\nYWI=\t')],
    [{ format: 'tsv', hex: true }, bytes('61\t\n\tfF\r\n0a09\t00')],
    [{ format: 'words', hex: true }, bytes('61\n0A')],
    [{ format: 'tsv', hex: false, versions: true }, bytes('a\\tb\t7\tvalue\tx\r\n\tdeletion\t\nc\t9\tdeletion\t000005.ldb\t')],
    [{ format: 'csv', hex: false, versions: true }, bytes('type,key,sequence,value\nvalue,"a\n",7,1\ndeletion,b,8,""\n')],
    [{ format: 'jsonl', hex: false, versions: true }, bytes('{"key":"a","type":"deletion"}\n{"key":"é","sequence":"12","value":""}\n{"keyHex":"ff","sequence":3,"type":2,"value":"m"}')],
  ] as const)('%j', (format, input) => {
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
    ['jsonl', bytes('{"key":"a","keyHex":"61","value":""}'), 'line 1: both "key" and "keyHex"'],
    ['jsonl', bytes('{"keyHex":"6","value":""}'), 'line 1: "keyHex" is not hexadecimal'],
    ['jsonl', bytes('{"key":"a","valueHex":"0g"}'), 'line 1: "valueHex" is not hexadecimal'],
    ['jsonl', bytes('{"keyHex":"\u0161\u0162","value":""}'), 'line 1: "keyHex" is not hexadecimal'],
    ['jsonl', bytes('{"key":"a","type":"deletion"}'), 'line 1: a deletion among versions of keys'],
    ['jsonl', bytes('{"key":"a","type":"deletion","valueHex":""}'), 'line 1: a deletion among versions of keys'],
    ['jsonl', bytes('{"key":"a","type":"deletion","sequence":7,"value":"v"}'), 'line 1: a deletion among versions of keys'],
    ['csv', bytes('key,type,value\na,value,\nb,deletion,\n'), 'line 3: a deletion among versions of keys'],
    ['csv', bytes('key,type,sequence,value\na,deletion,,""\n'), 'line 2: a deletion among versions of keys'],
    ['jsonl', bytes('{"key":"a","valueBase64":"YQ"}'), 'line 1: "valueBase64" is not base64'],
    ['tsv', bytes('a\\\tb\n'), 'line 1: a backslash that does not begin one of'],
    ['tsv', bytes('a\tb\nb\tc\\x0\n'), 'line 2: a backslash that does not begin one of'],
    ['tsv', bytes('a\\tb'), 'line 1: no TAB between key and value'],
    ['raw', bytes('a\\tb'), 'line 1: no TAB between key and value'],
    ['csv', bytes('a,1\n'), 'line 1: the first line must name the columns, such as key,value: there is none named key or keyHex'],
    ['csv', bytes('key,keyHex,value\n'), 'line 1: two columns are named key or keyHex'],
    ['csv', bytes('key,value\na,1\n\n'), 'line 3: empty, but must be a record'],
    ['csv', bytes('key,value\na,"1\n2"\nb\n'), 'line 4: only one cell, so the key or the value is missing'],
    ['csv', bytes('key,value\na,b"c"\n'), 'line 2: a quotation mark in a cell that does not begin with one'],
    ['csv', bytes('key,value\na,"b"c\n'), 'line 2: bytes between the closing quotation mark and the comma'],
    ['csv', bytes('key,value\na,1\nb,"c\n'), 'line 3: a quoted cell is not closed'],
    ['csv', bytes('key,valueHex\na,1\n'), 'line 2: not hexadecimal: an odd number of digits'],
    ['base64', bytes('YQ\tYQ==\n'), 'line 1: not base64'],
    ['base64', bytes('YQ==\n'), 'line 1: no TAB between key and value'],
    [{ format: 'tsv', hex: true }, bytes('6\t\n'), 'line 1: not hexadecimal: an odd number of digits'],
    [{ format: 'tsv', hex: true }, bytes('61\t6 61\n'), 'line 1: not hexadecimal in byte 1 of a column'],
  ] as const)('%j: %s', (format, input, problem) => {
    expect(() => decodeAll(format, [input])).toThrow(problem);
    expect(() =>
      decodeAll(
        format,
        Array.from(input, (byte) => Uint8Array.of(byte)),
      ),
    ).toThrow(problem);
  });
});

/** What a format prints of entries, as text of bytes. */
function printed(format: keyof typeof formats, entries: readonly (readonly [key: string, value: string, ...facts: string[]])[], columns: Partial<Columns> = {}): string {
  const printer = formats[format].printer({ ...PLAIN_COLUMNS, ...columns });
  const out = new ByteBuffer();
  out.utf8(printer.head ?? '');
  for (const [key, value, ...facts] of entries) printer.print(latin1(key), latin1(value), out, facts);
  return Buffer.from(out.view()).toString('latin1');
}

function latin1(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}

describe('a format prints any bytes', () => {
  const utf8 = Buffer.from('é €😀', 'utf8').toString('latin1');
  test.each([
    ['tsv', 'a\tb\n', '\r\\ "\x00\x1f\x7f', 'a\\tb\\n\t\\r\\\\ "\\x00\\x1f\\x7f\n'],
    ['tsv', utf8, '\xff\xc3', `${utf8}\t\\xff\\xc3\n`],
    // Half a surrogate pair, too long, beyond the last character, cut off, a byte order mark.
    ['tsv', '\xed\xa0\x80 \xe0\x80\x80 \xc0\x80', '\xf4\x90\x80\x80 \xe2\x82 \xef\xbb\xbf', '\\xed\\xa0\\x80 \\xe0\\x80\\x80 \\xc0\\x80\t\\xf4\\x90\\x80\\x80 \\xe2\\x82 \\xef\\xbb\\xbf\n'],
    ['hex', 'a\n', '\xff', '610a\tff\n'],
    ['base64', 'a\n', '\xff', 'YQo=\t/w==\n'],
    ['csv', 'a', 'b c', 'key,value\na,b c\n'],
    ['csv', 'a,b', 'say "so"\n', 'key,value\n"a,b","say ""so""\n"\n'],
    ['csv', ' a', '\xef\xff\r', 'key,value\n" a","\xef\xff\r"\n'],
    ['csv', '', '', 'key,value\n,\n'],
    ['jsonl', 'a\n', utf8, `{"key":"a\\n","value":"${utf8}"}\n`],
    ['jsonl', '\xff', 'v', '{"keyHex":"ff","value":"v"}\n'],
    ['jsonl', 'a', '\xc3', '{"key":"a","valueHex":"c3"}\n'],
    ['kv', 'a', '', '\x01\0\0\0a\0\0\0\0'],
    ['raw', 'a\xff', 'b\tc\r d', 'a\xff\tb\tc\r d\n'],
    ['raw', '\xef\xbb\xbfa', '', '\xef\xbb\xbf\xef\xbb\xbfa\t\n'],
    ['words', 'a\t\\', 'v', 'a\t\\\n'],
  ] as const)('%s, key %j, value %j', (format, key, value, text) => {
    expect(printed(format, [[key, value]])).toBe(text);
  });

  test('of any length', () => {
    const key = 'k'.repeat(800_001);
    const value = '\n'.repeat(800_001);
    expect(printed('tsv', [[key, value]])).toBe(`${key}\t${value.replaceAll('\n', '\\n')}\n`);
    expect(printed('base64', [[key, value]])).toBe(`${Buffer.from(key).toString('base64')}\t${Buffer.from(value).toString('base64')}\n`);
  });
});

describe('the columns of a format', () => {
  const version = [['a', 'v', '7', 'value']] as const;
  const facts = ['sequence', 'type'] as const;
  test.each([
    ['tsv', { facts }, 'a\t7\tvalue\tv\n'],
    ['tsv', { value: false }, 'a\n'],
    ['tsv', { key: false }, 'v\n'],
    ['tsv', { hex: true }, '61\t76\n'],
    ['hex', { facts }, '61\t7\tvalue\t76\n'],
    ['base64', { facts, value: false }, 'YQ==\t7\tvalue\n'],
    ['raw', { facts }, 'a\t7\tvalue\tv\n'],
    ['raw', { facts, key: false }, '7\tvalue\tv\n'],
    ['raw', { value: false }, 'a\n'],
    ['raw', { hex: true }, '61\t76\n'],
    ['csv', { facts }, 'key,sequence,type,value\na,7,value,v\n'],
    ['csv', { key: false }, 'value\nv\n'],
    ['csv', { hex: true }, 'keyHex,valueHex\n61,76\n'],
    ['jsonl', { facts }, '{"key":"a","sequence":"7","type":"value","value":"v"}\n'],
    ['jsonl', { value: false, hex: true }, '{"keyHex":"61"}\n'],
    ['words', { hex: true }, '61\n'],
    ['kv', { value: false }, '\x01\0\0\0a'],
  ] as const)('%s with %j', (format, columns, text) => {
    const [row] = version;
    expect(printed(format, [(columns as Partial<Columns>).facts === undefined ? [row[0], row[1]] : row], columns)).toBe(text);
  });

  test.each([
    ['csv', 'key,file,value\na,"b,""c"" d.ldb",v\n'],
    ['tsv', 'a\tb,"c" d.ldb\tv\n'],
  ] as const)('of %s: the name of a file is escaped as a value is', (format, text) => {
    expect(printed(format, [['a', 'v', 'b,"c" d.ldb']], { facts: ['file'] })).toBe(text);
    expect(printed(format, [['a', 'v', 'b\tc\n']], { facts: ['file'] })).toBe(format === 'csv' ? 'key,file,value\na,"b\tc\n",v\n' : 'a\tb\\tc\\n\tv\n');
  });

  test('of csv: an empty cell alone on its line is quoted, since an empty line is not a record', () => {
    expect(printed('csv', [['', '']], { value: false })).toBe('key\n""\n');
  });
});

describe('an entry that the format cannot represent is not written', () => {
  test.each([
    ['raw', 'a\tb', 'v', 'key 0x610962 has a TAB or a line break in it'],
    ['raw', 'a\nb', 'v', 'key 0x610a62 has a TAB or a line break in it'],
    ['raw', 'a', 'v\nw', 'the value of key "a" has a line break in it'],
    ['raw', 'a', 'v\r', 'the value of key "a" has a line break in it'],
    ['words', '', 'v', 'the empty key would be an empty line'],
    ['words', 'a\nb', 'v', 'key 0x610a62 has a line break in it'],
    ['words', 'a\r', 'v', 'key 0x610d has a line break in it'],
  ] as const)('%s, key %j, value %j', (format, key, value, problem) => {
    expect(() => printed(format, [[key, value]])).toThrow(problem);
  });

  test('everything that is written is read back', () => {
    const wrong: string[] = [];
    for (const format of ['tsv', 'jsonl', 'csv', 'hex', 'base64', 'raw', 'kv'] as const) {
      for (let round = 0; round < 1000; round++) {
        // Bytes with a meaning in some format, and some without.
        const draw = (): Uint8Array =>
          random.bytes(random.below(5)).map((byte) => [9, 10, 13, 34, 92, 97, 0xc3, 0xa9][byte % 8]!);
        const entry: Entry = [draw(), draw()];
        const out = new ByteBuffer();
        const printer = formats[format].printer(PLAIN_COLUMNS);
        out.utf8(printer.head ?? '');
        try {
          printer.print(...entry, out, []);
        } catch (error) {
          if (!(error instanceof OutputError)) throw error;
          continue;
        }
        const read = decodeAll(format, [out.view()]).map((text) => text.slice(2));
        if (read.length !== 1 || read[0] !== hex(entry)) wrong.push(`${format}: ${hex(entry)} became ${read.join(', ')}`);
      }
    }
    expect(wrong).toEqual([]);
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
      add(sorted, key, value);
      model.set(Buffer.from(key).toString('hex'), hex([key, value]));
    }
    expect(sorted.sort()).toBe(length - model.size);
    expect(sortedOf(sorted).map(hex)).toEqual([...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry));
  }
});

test('the first of the sorted entries may be empty', () => {
  const sorted = new SortedEntries();
  add(sorted, bytes(''), bytes(''));
  expect(sorted.sort()).toBe(0);
  expect(sortedOf(sorted).map(hex)).toEqual([' ']);
});

test('sorted entries may be larger than a page of the buffer', () => {
  const sorted = new SortedEntries();
  const large = new Uint8Array(5 * 2 ** 20).fill(7);
  for (const key of ['b', 'c', 'a']) add(sorted, bytes(key), key === 'c' ? bytes('') : large);
  expect(sorted.sort()).toBe(0);
  expect(sortedOf(sorted).map(([key, value]) => [Buffer.from(key).toString(), value.length])).toEqual([
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

describe('a line of tsv that is printed from ranges', () => {
  const { print, printRange } = formats.tsv.printer(PLAIN_COLUMNS);

  const whole = new ByteBuffer();
  const ranges = new ByteBuffer();

  /** The line by `print`, and by `printRange` from places within larger arrays. */
  function bothLines(key: Uint8Array, value: Uint8Array): [string, string] {
    whole.clear();
    ranges.clear();
    print(key, value, whole, []);
    const around = Uint8Array.of(0, 92, 255, ...value, 0, 92, 255, 128);
    printRange!(Uint8Array.of(...key, 0, 92, 255, 128), key.length, around, 3, 3 + value.length, ranges);
    return [Buffer.from(whole.view()).toString('latin1'), Buffer.from(ranges.view()).toString('latin1')];
  }

  test.each([1, 3, 4, 5, 7, 9])('has the same escapes, with any byte anywhere among %i', (length) => {
    for (let byte = 0; byte < 256; byte++) {
      for (let at = 0; at < length; at++) {
        // Neighbours at the ends of what needs no escape.
        for (const other of [0x20, 0x7e]) {
          const special = new Uint8Array(length).fill(other);
          special[at] = byte;
          for (const [line, ofRanges] of [bothLines(special, special), bothLines(new Uint8Array(at).fill(other), special)]) {
            if (ofRanges !== line) expect(ofRanges).toBe(line);
          }
        }
      }
    }
  });

  test('has the same escapes for random bytes, also where the buffer grows', () => {
    for (let round = 0; round < 200; round++) {
      const [line, ofRanges] = bothLines(random.bytes(random.below(60)), random.bytes(random.below(60)));
      expect(ofRanges).toBe(line);
    }
    const out = new ByteBuffer();
    const value = new Uint8Array(100_000).fill(0x61);
    for (let i = 0; i < 5; i++) printRange!(bytes('key'), 3, value, 0, value.length, out);
    expect(Buffer.from(out.view()).toString('latin1')).toBe(`key\t${'a'.repeat(100_000)}\n`.repeat(5));
  });
});
