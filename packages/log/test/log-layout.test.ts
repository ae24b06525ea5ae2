import { seeded } from '@bloom/fixtures';
import { type LabelledRange, logLayout, logRanges, LogWriter, putFragment, readLog } from '@bloom/log';
import { describe, expect, test } from 'vitest';

const B = 32_768;

/** The log of these records, each filled with its number from 1. */
function logOf(...lengths: number[]): Uint8Array {
  const parts: Uint8Array[] = [];
  const writer = new LogWriter({ append: (bytes) => parts.push(bytes) });
  lengths.forEach((length, i) => writer.addRecord(new Uint8Array(length).fill(i + 1)));
  return new Uint8Array(Buffer.concat(parts));
}

/** A log of these fragments. */
function fragmentsOf(...fragments: (readonly [type: number, length: number])[]): Uint8Array {
  const bytes = new Uint8Array(fragments.reduce((sum, [, length]) => sum + 7 + length, 0));
  let position = 0;
  for (const [type, length] of fragments) position = putFragment(bytes, position, type, new Uint8Array(length).fill(0x61), 0, length);
  return bytes;
}

/** One line for a range: `offset+byteLength label = value`. */
const shown = ({ offset, byteLength, label, value }: LabelledRange): string =>
  `${offset}+${byteLength} ${label}${value === undefined ? '' : ` = ${value}`}`;

/** The ranges that are not headers of fragments. */
const contents = (ranges: Iterable<LabelledRange>): string[] =>
  [...ranges].filter(({ label }) => !/: (masked checksum|length|type)$/.test(label)).map(shown);

/** Fields of `length` bytes, the last one maybe shorter. The first one has a value. */
const fieldsOf =
  (length: number) =>
  (record: Uint8Array): LabelledRange[] =>
    Array.from({ length: Math.ceil(record.length / length) }, (_, i) => ({
      offset: i * length,
      byteLength: Math.min(length, record.length - i * length),
      label: `field ${i}`,
      ...(i === 0 && { value: `of ${record.length}` }),
    }));

test('a record of three blocks is a FIRST, a MIDDLE and a LAST fragment', () => {
  const headers = logLayout(logOf(5, 70_000)).filter(({ label }) => /length|type/.test(label));
  expect(headers.map(({ offset, label, value }) => `${offset} ${label}: ${value}`)).toEqual([
    '4 fragment 0: length: 5',
    '6 fragment 0: type: FULL',
    '16 fragment 1: length: 32749',
    '18 fragment 1: type: FIRST',
    '32772 fragment 2: length: 32761',
    '32774 fragment 2: type: MIDDLE',
    '65540 fragment 3: length: 4490',
    '65542 fragment 3: type: LAST',
  ]);
});

test('an unknown type is shown as its number', () => {
  expect(contents(logLayout(fragmentsOf([0, 3], [101, 2])))).toEqual(['7+3 fragment 0: payload', '17+2 fragment 1: payload']);
  const types = logLayout(fragmentsOf([0, 3], [101, 2])).filter(({ label }) => label.endsWith('type'));
  expect(types.map(({ value }) => value)).toEqual(['zero', 'unknown: 101']);
});

describe('the end of a block', () => {
  const block = (change: (bytes: Uint8Array) => void, byteLength = B + 27): string[] => {
    const bytes = logOf(B - 40, 26, 20).subarray(0, byteLength);
    change(bytes);
    return contents(logLayout(bytes));
  };
  const before = `7+${B - 40} fragment 0: payload`;
  const after = `${B + 7}+20 fragment 1: payload`;

  test('has a trailer where fewer bytes than a header are left', () => {
    const bytes = logOf(B - 10, 20);
    expect(contents(logLayout(bytes))).toEqual([`7+${B - 10} fragment 0: payload`, `${B - 3}+3 trailer`, `${B + 7}+20 fragment 1: payload`]);
  });

  test('is one range when a length runs past it, also in a last block that is full, and the next block is labelled', () => {
    const whole = `${B - 33}+33 rest of the block: bad record length`;
    expect(block((bytes) => (bytes[B - 29] = 200))).toEqual([before, whole, after]);
    expect(block((bytes) => (bytes[B - 29] = 200), B)).toEqual([before, whole]);
  });

  test('is one range when a checksum is wrong', () => {
    expect(block((bytes) => (bytes[B - 20]! ^= 1))).toEqual([before, `${B - 33}+33 rest of the block: checksum mismatch`, after]);
  });

  test('is one range when it was allocated ahead', () => {
    expect(block((bytes) => bytes.fill(0, B - 33, B))).toEqual([before, `${B - 33}+33 zeros, allocated ahead`, after]);
  });

  test('is a zeroed end where the file has only zeros from within a record on', () => {
    const ranges = (from: number, to?: number): string[] => contents(logLayout(logOf(100, B - 114, 20).fill(0, from, to)));
    const [first, last] = ['7+100 fragment 0: payload', `${B + 7}+20 fragment 1: payload`];
    expect(ranges(1024)).toEqual([first, `107+${B - 107} zeroed end`, `${B}+27 zeros, allocated ahead`]);
    expect(ranges(1024, B)).toEqual([first, `107+${B - 107} rest of the block: checksum mismatch`, last]);
    expect(ranges(B - 1)).toEqual([first, `107+${B - 107} rest of the block: checksum mismatch`, `${B}+27 zeros, allocated ahead`]);
  });

  test('is a cut payload or a cut header where the file ends within a record', () => {
    expect(block(() => {}, B - 1 - 15)).toEqual([before, `${B - 33}+17 cut payload`]);
    expect(block(() => {}, B - 30)).toEqual([before, `${B - 33}+3 cut header`]);
    const [, ...rest] = contents(logLayout(logOf(B, 20).subarray(0, B + 11)));
    expect(rest).toEqual([`${B}+11 cut payload`]);
  });
});

describe('with the layout of a record', () => {
  test('a field that crosses into the next fragment is cut in two, and its value is shown once', () => {
    expect(contents(logLayout(logOf(3, 40_000), fieldsOf(B)))).toEqual([
      '7+3 record 0: field 0 = of 3',
      `17+${B - 17} record 1: field 0 = of 40000`,
      `${B + 7}+17 record 1: field 0 (continued)`,
      `${B + 24}+${40_000 - B} record 1: field 1`,
    ]);
  });

  test('a field that ends with its fragment is not continued', () => {
    expect(contents(logLayout(logOf(B), fieldsOf(B - 7)))).toEqual([`7+${B - 7} record 0: field 0 = of ${B}`, `${B + 7}+7 record 0: field 1`]);
  });

  test('a field of three fragments is continued twice', () => {
    expect(contents(logLayout(logOf(70_000), fieldsOf(70_000)))).toEqual([
      `7+${B - 7} record 0: field 0 = of 70000`,
      `${B + 7}+${B - 7} record 0: field 0 (continued)`,
      `${2 * B + 7}+${70_000 - 2 * (B - 7)} record 0: field 0 (continued)`,
    ]);
  });

  test('a record continues after a trailer, as it does for a reader', () => {
    const first = fragmentsOf([2, B - 10]);
    const bytes = new Uint8Array(Buffer.concat([first, new Uint8Array(3), fragmentsOf([4, 5])]));
    expect(readLog(bytes).records).toHaveLength(1);
    expect(contents(logLayout(bytes, fieldsOf(B)))).toEqual([
      `7+${B - 10} record 0: field 0 = of ${B - 5}`,
      `${B - 3}+3 trailer`,
      `${B + 7}+5 record 0: field 0 (continued)`,
    ]);
  });

  test('an empty record has no fields', () => {
    expect(contents(logLayout(logOf(0, 2), fieldsOf(10)))).toEqual(['14+2 record 1: field 0 = of 2']);
  });

  test.each([
    ['a FULL fragment after a FIRST one', [[2, 4], [1, 5]], ['7+4 fragment 0: payload', '18+5 record 0: field 0 = of 5']],
    ['a FIRST fragment after a FIRST one', [[2, 4], [2, 5], [4, 1]], ['7+4 fragment 0: payload', '18+5 record 0: field 0 = of 6', '30+1 record 0: field 0 (continued)']],
    ['a MIDDLE fragment without a start', [[3, 4], [1, 5]], ['7+4 fragment 0: payload', '18+5 record 0: field 0 = of 5']],
    ['a LAST fragment without a start', [[4, 4], [1, 5]], ['7+4 fragment 0: payload', '18+5 record 0: field 0 = of 5']],
    ['an unknown type within a record', [[2, 4], [9, 5], [4, 6], [1, 1]], ['7+4 fragment 0: payload', '18+5 fragment 1: payload', '30+6 fragment 2: payload', '43+1 record 0: field 0 = of 1']],
    ['a record without its LAST fragment', [[1, 4], [2, 5], [3, 6]], ['7+4 record 0: field 0 = of 4', '18+5 fragment 1: payload', '30+6 fragment 2: payload']],
  ] as const)('%s is not a record, and is labelled by fragments', (_, fragments, expected) => {
    expect(contents(logLayout(fragmentsOf(...fragments), fieldsOf(100)))).toEqual(expected);
  });

  test('the fields of all records, put together, are the records that are read, also of damaged and cut logs', () => {
    for (let seed = 0; seed < 40; seed++) {
      const random = seeded(seed);
      const lengths = Array.from({ length: 1 + random.below(12) }, () => random.pick([0, 1, 30, 500, B - 14, B - 7, 50_000, random.below(3 * B)]));
      const log = logOf(...lengths);
      for (let damage = random.below(3); damage > 0; damage--) {
        const at = random.below(log.length);
        log[at]! ^= 1 << random.below(8);
      }
      const bytes = log.subarray(0, log.length - random.pick([0, random.below(log.length)]));
      const fieldLength = random.pick([181, 5000, B - 7, B]);

      const records = readLog(bytes).records.map((record) => Buffer.from(record.bytes));
      const found = records.map((): Uint8Array[] => []);
      const numbers: number[] = [];
      let position = 0;
      const layout = (record: Uint8Array, number: number): LabelledRange[] => {
        numbers.push(number);
        expect(records[number]!.equals(record)).toBe(true);
        return fieldsOf(fieldLength)(record);
      };
      for (const { offset, byteLength, label } of logLayout(bytes, layout)) {
        if (offset !== position || byteLength <= 0) expect.fail(`${byteLength} bytes at ${offset} follow ${position}`);
        position += byteLength;
        const number = /^record ([0-9]+): /.exec(label)?.[1];
        if (number !== undefined) found[Number(number)]!.push(bytes.subarray(offset, offset + byteLength));
      }
      expect(position).toBe(bytes.length);
      expect(numbers).toEqual(records.map((_, i) => i));
      for (const [i, record] of records.entries()) expect(Buffer.concat(found[i]!).equals(record)).toBe(true);
    }
  });
});

test('fragments without a record are returned one after another, before the rest of the log is walked', () => {
  const bytes = fragmentsOf([3, 4], [3, 4]);
  const ranges = logRanges(bytes);
  for (let i = 0; i < 4; i++) ranges.next();
  bytes[21]! ^= 1;
  expect([...ranges].map(shown)).toEqual(['11+11 rest of the block: checksum mismatch']);
});

test('of anything but bytes is refused', () => {
  for (const bytes of ['abc', undefined, [1, 2]]) expect(() => logLayout(bytes as never)).toThrow(/^bytes must be a Uint8Array, got /);
});
