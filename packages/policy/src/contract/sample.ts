import { type Random, seeded } from '../random.js';

/** What a law is tried on. */
export interface Sample {
  /** The keys that a filter is made of. */
  readonly keys: readonly Uint8Array[];
  /** Keys to ask for beside them; a few may be among them. */
  readonly probes: readonly Uint8Array[];
  /** Bytes to take for a filter. */
  readonly garbage: Uint8Array;
}

/** The sizes of the samples' key lists: around every power of two that a format may care about, and one large. */
const KEY_COUNTS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 127, 129, 255, 257, 600, 2000];

/** How many samples are drawn of each size. */
const ROUNDS = 6;

const WORDS = ['a', 'apple', 'zebra', 'naïve', 'Straße', 'мир', '水', '🍎', 'key:00001', 'user/42/name', 'trailing '];

/** Samples for a law, the same ones for the same seed, small ones first. */
export function* samples(seed: number): Generator<Sample, void, undefined> {
  const random = seeded(seed);
  for (const count of KEY_COUNTS) {
    for (let round = 0; round < ROUNDS; round++) {
      const draw = pickKind(random);
      const keys: Uint8Array[] = [];
      while (keys.length < count) {
        const again = keys.length > 0 && random.below(8) === 0;
        keys.push(again ? keys[random.below(keys.length)]!.slice() : draw(keys.length));
      }
      const probes = Array.from({ length: 40 }, (_, i) =>
        keys.length > 0 && i % 2 === 0 ? alter(random, keys[random.below(keys.length)]!) : anyKey(random, count + i),
      );
      yield { keys, probes, garbage: randomBytes(random, random.below(3) === 0 ? random.below(4) : random.below(200)) };
    }
  }
}

/** A key of any kind. */
export function anyKey(random: Random, i: number): Uint8Array {
  return pickKind(random)(i);
}

/** One kind of keys for a whole sample, or all kinds mixed. */
function pickKind(random: Random): (i: number) => Uint8Array {
  const kinds: ((i: number) => Uint8Array)[] = [
    () => randomBytes(random, random.below(3)),
    () => Uint8Array.of(random.below(256)),
    () => new Uint8Array(random.below(12)).fill(0xff),
    () => randomBytes(random, 1 + random.below(24)),
    () => randomBytes(random, 100 + random.below(400)),
    () => concat(new Uint8Array(40).fill(0x61), randomBytes(random, random.below(4))),
    (i) => littleEndian32(i),
    (i) => new TextEncoder().encode(`${WORDS[random.below(WORDS.length)]!}${random.below(2) === 0 ? '' : i}`),
    () => concat(new TextEncoder().encode(WORDS[random.below(WORDS.length)]), new Uint8Array(random.below(4)).fill(0x20)),
    // High bytes in every place of the last word, where hashes with signed and unsigned bytes part.
    () => Uint8Array.from({ length: 1 + random.below(8) }, () => 0x80 + random.below(128)),
  ];
  const kind = random.below(kinds.length + 2);
  return (i) => (kinds[kind] ?? kinds[random.below(kinds.length)]!)(i);
}

/** A key much like `key`: a bit, a byte or the length differs. */
function alter(random: Random, key: Uint8Array): Uint8Array {
  switch (random.below(4)) {
    case 0:
      return concat(key, Uint8Array.of(random.below(256)));
    case 1:
      return key.slice(0, Math.max(0, key.length - 1));
    case 2:
      return concat(key, Uint8Array.of(0x20));
    default: {
      const altered = key.slice();
      if (altered.length > 0) altered[random.below(altered.length)]! ^= 1 << random.below(8);
      return altered;
    }
  }
}

function randomBytes(random: Random, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => random.below(256));
}

/** `i` in four bytes, as LevelDB's own Bloom test has its keys. */
export function littleEndian32(i: number): Uint8Array {
  return Uint8Array.of(i, i >>> 8, i >>> 16, i >>> 24);
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** A part of `sample` that still fails, and of which no smaller part that was tried does. */
export function smallest(sample: Sample, fails: (sample: Sample) => boolean): Sample {
  const keys = fewer(sample.keys, (keys) => fails({ ...sample, keys }));
  const probes = fewer(sample.probes, (probes) => fails({ ...sample, keys, probes }));
  const garbage = shorter(sample.garbage, (garbage) => fails({ keys, probes, garbage }));
  const shortenEach = (list: readonly Uint8Array[], put: (list: Uint8Array[]) => Sample): Uint8Array[] => {
    const shortened = [...list];
    for (const [i, item] of list.entries()) {
      const replaced = (key: Uint8Array): Uint8Array[] => shortened.map((other, j) => (i === j ? key : other));
      shortened[i] = shorter(item, (key) => fails(put(replaced(key))));
    }
    return shortened;
  };
  const shortKeys = shortenEach(keys, (list) => ({ keys: list, probes, garbage }));
  const shortProbes = shortenEach(probes, (list) => ({ keys: shortKeys, probes: list, garbage }));
  return { keys: shortKeys, probes: shortProbes, garbage };
}

/** Leaves out half of the items, a quarter, … one, as long as the rest fails. */
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

/** Cuts bytes off the end, then off the start, as long as the rest fails. */
function shorter(bytes: Uint8Array, fails: (bytes: Uint8Array) => boolean): Uint8Array {
  return Uint8Array.from(fewer(Array.from(bytes), (rest) => fails(Uint8Array.from(rest))));
}
