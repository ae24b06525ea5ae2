import { joinedBytes, type Random, seeded } from '@bloom/bytes/internal';

/** Input for one trial of a law. */
export interface Sample {
  /** The keys that a filter is made from. */
  readonly keys: readonly Uint8Array[];
  /** Other keys; a few may be among them. */
  readonly probes: readonly Uint8Array[];
  /** Bytes to use in place of a filter. */
  readonly garbage: Uint8Array;
}

/** Numbers of keys of the samples: around every power of two that may matter to a format, and some larger ones. */
const KEY_COUNTS = [
  0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 256, 257, 512, 600, 1024, 2000,
];

/** How many samples are drawn for each number of keys. */
const ROUNDS = 6;
/** The same for lists of more than 300 keys. */
const ROUNDS_OF_MANY = 3;

const WORDS = [
  'a', 'apple', 'Apple', 'zebra', 'naïve', 'Straße', 'мир', '水', '🍎', 'key:00001', 'user/42/name', 'trailing ',
  // A byte order mark, and letters that Unicode normalization changes.
  '\ufeffmarked', 'nai\u0308ve', '\u212bngstr\u00f6m',
];

/** Samples for a law, small ones first; the same seed gives the same samples. */
export function* samples(seed: number): Generator<Sample, void, undefined> {
  const random = seeded(seed);
  for (const count of KEY_COUNTS) {
    const rounds = count > 300 ? ROUNDS_OF_MANY : ROUNDS;
    for (let round = 0; round < rounds; round++) yield sampleOf(drawKeys(random, count), random);
  }
  // Keys of every length: a format may lose a key whose length is written in more bytes than others.
  const everyLength = Array.from({ length: 300 }, (_, length) => randomBytes(random, length));
  const long = [511, 512, 513, 1023, 1024, 1025, 4096].map((length) => randomBytes(random, length));
  yield sampleOf(everyLength, random);
  yield sampleOf(long, random);
  // The empty key without others: a list whose keys have no bytes at all.
  for (const count of [1, 2]) yield sampleOf(Array.from({ length: count }, () => new Uint8Array(0)), random);
}

function sampleOf(keys: readonly Uint8Array[], random: Random): Sample {
  const probes = Array.from({ length: 40 }, (_, i) =>
    keys.length > 0 && i % 2 === 0 ? alter(random, keys[random.below(keys.length)]!) : anyKey(random, keys.length + i),
  );
  return { keys, probes, garbage: randomBytes(random, random.below(3) === 0 ? random.below(4) : random.below(200)) };
}

function drawKeys(random: Random, count: number): Uint8Array[] {
  const draw = pickKind(random);
  const keys: Uint8Array[] = [];
  // Some lists repeat a single key.
  const again = random.below(12) === 0 ? 1 : 1 / 8;
  while (keys.length < count) {
    const repeats = keys.length > 0 && random.below(1000) < again * 1000;
    keys.push(repeats ? keys[random.below(keys.length)]!.slice() : draw(keys.length));
  }
  // Tables add their keys in order.
  return random.below(3) === 0 ? keys.sort(compareBytes) : keys;
}

/**
 * A copy of `keys` in which one byte of one key differs: a policy that recognises lists by their length or the like
 * mistakes one for the other.
 */
export function withOneChanged(keys: readonly Uint8Array[]): Uint8Array[] {
  const changed = [...keys];
  for (let i = keys.length >> 1, left = keys.length; left > 0; left--, i = (i + 1) % keys.length) {
    if (keys[i]!.length === 0) continue;
    changed[i] = keys[i]!.slice();
    changed[i]![keys[i]!.length - 1]! ^= 0x5a;
    break;
  }
  return changed;
}

/** A key of any kind. */
export function anyKey(random: Random, i: number): Uint8Array {
  return pickKind(random)(i);
}

/** Chooses one kind of key for a whole sample, or a mix of all kinds. */
function pickKind(random: Random): (i: number) => Uint8Array {
  const kinds: ((i: number) => Uint8Array)[] = [
    () => randomBytes(random, random.below(3)),
    () => Uint8Array.of(random.below(256)),
    () => new Uint8Array(random.below(12)).fill(0xff),
    () => new Uint8Array(random.below(12)),
    () => randomBytes(random, 1 + random.below(24)),
    () => randomBytes(random, 100 + random.below(400)),
    () => joinedBytes([new Uint8Array(40).fill(0x61), randomBytes(random, random.below(4))]),
    (i) => joinedBytes([new Uint8Array(300).fill(0x70), littleEndian32(i)]),
    (i) => littleEndian32(i),
    (i) => new TextEncoder().encode(`${WORDS[random.below(WORDS.length)]!}${random.below(2) === 0 ? '' : i}`),
    () => joinedBytes([new TextEncoder().encode(WORDS[random.below(WORDS.length)]), new Uint8Array(random.below(4)).fill(0x20)]),
    // High bytes at every position of the last word, where hashes of signed and unsigned bytes differ; not valid UTF-8 either.
    () => randomBytes(random, 1 + random.below(8)).map((byte) => byte | 0x80),
  ];
  const kind = random.below(kinds.length + 2);
  return (i) => (kinds[kind] ?? kinds[random.below(kinds.length)]!)(i);
}

/** A key similar to `key`: a bit, a byte or the length differs. */
function alter(random: Random, key: Uint8Array): Uint8Array {
  switch (random.below(4)) {
    case 0:
      return joinedBytes([key, Uint8Array.of(random.below(256))]);
    case 1:
      return key.slice(0, Math.max(0, key.length - 1));
    case 2:
      return joinedBytes([key, Uint8Array.of(0x20)]);
    default: {
      const altered = key.slice();
      if (altered.length > 0) altered[random.below(altered.length)]! ^= 1 << random.below(8);
      return altered;
    }
  }
}

export function randomBytes(random: Random, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    const word = random.uint32();
    bytes[i] = word;
    bytes[i + 1] = word >>> 8;
    bytes[i + 2] = word >>> 16;
    bytes[i + 3] = word >>> 24;
  }
  for (; i < length; i++) bytes[i] = random.uint32() >>> 24;
  return bytes;
}

/** `i` in four bytes, like the keys of LevelDB's util/bloom_test.cc. */
export function littleEndian32(i: number): Uint8Array {
  return Uint8Array.of(i, i >>> 8, i >>> 16, i >>> 24);
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = a.length < b.length ? a.length : b.length;
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

/** Whether a sample still fails; undefined ends the search. */
type Fails<T> = (candidate: T) => boolean | undefined;

/**
 * Reduces `sample` step by step to a smaller one that still fails.
 *
 * @returns whether the search was completed.
 */
export function smallest(sample: Sample, fails: Fails<Sample>): boolean {
  let { keys, probes, garbage } = sample;
  let goesOn = true;
  const tries = (candidate: Sample): boolean => {
    const failed = goesOn ? fails(candidate) : false;
    if (failed === undefined) goesOn = false;
    return failed === true;
  };
  probes = fewer(probes, (some) => tries({ keys, probes: some, garbage }));
  keys = fewer(keys, (some) => tries({ keys: some, probes, garbage }));
  garbage = shorter(garbage, (some) => tries({ keys, probes, garbage: some }));
  const shortenEach = (list: readonly Uint8Array[], put: (list: readonly Uint8Array[]) => Sample): readonly Uint8Array[] => {
    let shortened = list;
    for (let i = 0; i < list.length && goesOn; i++) {
      const replaced = (key: Uint8Array): Uint8Array[] => shortened.map((other, j) => (i === j ? key : other));
      shortened = replaced(shorter(list[i]!, (key) => tries(put(replaced(key)))));
    }
    return shortened;
  };
  keys = shortenEach(keys, (list) => ({ keys: list, probes, garbage }));
  shortenEach(probes, (list) => ({ keys, probes: list, garbage }));
  return goesOn;
}

/** Leaves out half of the items, then a quarter, down to single items, as long as the rest still fails. */
function fewer<T>(items: readonly T[], fails: (items: readonly T[]) => boolean): readonly T[] {
  for (let size = Math.ceil(items.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let start = 0; start < items.length; ) {
      const rest = [...items.slice(0, start), ...items.slice(start + size)];
      if (fails(rest)) items = rest;
      else start += size;
    }
  }
  return items;
}

/** Leaves out ever smaller runs of bytes, as long as the rest still fails. */
function shorter(bytes: Uint8Array, fails: (bytes: Uint8Array) => boolean): Uint8Array {
  return Uint8Array.from(fewer(Array.from(bytes), (rest) => fails(Uint8Array.from(rest))));
}
