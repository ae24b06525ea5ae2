/** The keys that the laws compare: pools of keys that are near to each other, each small enough to compare all pairs. */
import { type Random, seeded } from '@bloom/bytes/internal';
import type { ComparatorLawsOptions } from './options.js';

/** The most keys of a pool: all triples are looked at. */
const MAX_POOL = 170;
/** Of how many keys of the caller a pool has the neighbours. */
const KEYS_PER_POOL = 10;
/** How many pools are made of the caller's keys. */
const MAX_KEY_POOLS = 4;

const TEXTS = [
  ...['', 'a', 'A', 'b', 'B', 'aa', 'ab', 'aB', 'Ab', 'AB', 'abc', 'Apple', 'apple', 'a ', 'a  ', 'a\t', ' a', 'a\0', 'a\0b', 'a/b', 'a-b', 'z'],
  ...['0', '00', '1', '01', '1.0', '2', '9', '10', '010', '11', '100', '-1', '-2', '+1', '1e1', '0xa', '0xA', '[10]', '[0xa]', 'a1', 'a2', 'a10'],
  ...['9007199254740992', '9007199254740993', 'é', 'e\u0301', 'ß', 'ss', 'i', 'I', 'ı', 'İ', '\ufeffa', '\ufffd', '😀', '\uff21'],
];

/** Bytes that are not valid UTF-8, runs of the lowest and the highest byte, and what differs only at the end. */
const BYTES = [
  [0],
  [0, 0],
  [0, 1],
  [1],
  [1, 0],
  [0x7f],
  [0x80],
  [0xfe],
  [0xff],
  [0xfe, 0xff],
  [0xff, 0],
  [0xff, 0xff],
  [0xff, 0xff, 0xff],
  [0x61, 0xfe, 0xff],
  [0x61, 0xff, 0xff],
  [0xc3],
  [0xc3, 0x28],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0xed, 0xb0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x7f, 0xff, 0xff, 0xff],
  [0x80, 0, 0, 0],
];

/** Doubles of which some are equal as numbers, or no numbers. */
const DOUBLES = [0, -0, 1, -1, 1.5, 2 ** 53, Infinity, -Infinity];
/** The bits of doubles that are not a number, with different payloads, and of integers that a double cannot tell apart. */
const WORDS = [0x7ff8_0000_0000_0000n, 0x7ff8_0000_0000_0001n, 0xfff8_0000_0000_0000n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

/** Bytes of long keys that differ only in the last. */
const LONG = 300;

function bytesOfText(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function bytesOfWord(write: (view: DataView, littleEndian: boolean) => void): Uint8Array[] {
  return [true, false].map((littleEndian) => {
    const bytes = new Uint8Array(8);
    write(new DataView(bytes.buffer), littleEndian);
    return bytes;
  });
}

function madeKeys(random: Random): Uint8Array[] {
  const drawn = Array.from({ length: 30 }, () => Uint8Array.from({ length: random.below(13) }, () => random.below(256)));
  const long = [0, 1, 0xff].map((last) => Uint8Array.from({ length: LONG }, (_, i) => (i === LONG - 1 ? last : 0x61)));
  return [
    ...TEXTS.map(bytesOfText),
    ...BYTES.map((bytes) => Uint8Array.from(bytes)),
    ...DOUBLES.flatMap((value) => bytesOfWord((view, littleEndian) => view.setFloat64(0, value, littleEndian))),
    ...WORDS.flatMap((word) => bytesOfWord((view, littleEndian) => view.setBigUint64(0, word, littleEndian))),
    ...long,
    ...drawn,
  ];
}

/** Keys that differ from `key` in little. */
function neighboursOf(key: Uint8Array): Uint8Array[] {
  const last = key.length - 1;
  const extended = [0, 0x20, 0x61, 0xff].map((byte) => Uint8Array.of(...key.subarray(0, 1000), byte));
  if (last < 0) return extended;
  const changed = (at: number, change: (byte: number) => number): Uint8Array => key.map((byte, i) => (i === at ? change(byte) : byte));
  const flipCase = (byte: number): number => ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a ? byte ^ 0x20 : byte);
  return [
    ...extended,
    key.slice(0, last),
    key.slice(0, key.length >> 1),
    changed(last, (byte) => byte - 1),
    changed(last, (byte) => byte + 1),
    changed(0, (byte) => byte + 1),
    changed(0, flipCase),
    changed(last, flipCase),
    key.map(flipCase),
    key.slice().reverse(),
  ];
}

/** The keys without those whose bytes came before. */
function distinct(keys: readonly Uint8Array[]): Uint8Array[] {
  const found = new Map<string, Uint8Array>();
  for (const key of keys) {
    const text = key.join();
    if (!found.has(text)) found.set(text, key);
  }
  return [...found.values()];
}

/** The pools, for all laws. */
export function keyPools({ keys = [], isKey = () => true, seed = 1 }: ComparatorLawsOptions): Uint8Array[][] {
  const random = seeded(seed);
  const admitted = (made: readonly Uint8Array[]): Uint8Array[] => made.filter((key) => isKey(key.slice()));
  const pools = [admitted(madeKeys(random))];
  const own = distinct(keys.map((key) => new Uint8Array(key)));
  // Those of a long list that are used are spread over it, and begin at its first.
  const step = Math.max(1, own.length / (KEYS_PER_POOL * MAX_KEY_POOLS));
  const used = Array.from({ length: Math.min(own.length, KEYS_PER_POOL * MAX_KEY_POOLS) }, (_, i) => own[Math.floor(i * step)]!);
  for (let i = 0; i < used.length; i += KEYS_PER_POOL) {
    const some = used.slice(i, i + KEYS_PER_POOL);
    pools.push([...some, ...admitted(some.flatMap(neighboursOf))]);
  }
  if (own.length > 0) pools.push(own.slice(0, MAX_POOL));
  return pools.map((pool) => distinct(pool).slice(0, MAX_POOL)).filter((pool) => pool.length > 0);
}
