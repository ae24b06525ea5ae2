// The kernel and the plain loop give the same hashes, so these tests also count the kernels and their calls.
import { seeded } from '@bloom/fixtures';
import { type hashEach, hashRange } from '@bloom/hash';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { modelHash } from './model.js';

type HashEach = typeof hashEach;
type HashKeys = (bytes: number, offsets: number, count: number, seed: number, hashes: number) => void;

interface Host {
  readonly Module: unknown;
  readonly Instance: new (module: object, imports: object) => { readonly exports: { readonly memory: unknown; readonly hashKeys: HashKeys } };
}

const SEEDS = [0, 1, 0xbc9f1d34, 0x80000000, 0xffffffff, -1, 2 ** 32 + 1];
/** As many keys as there must be before the kernel is compiled. */
const WORTH_KEYS = 4096;

/** How many keys each call of a kernel hashed. */
let calls: number[] = [];
let kernels = 0;

/** `hashEach` of a new module, as in a new program. */
async function newHashEach(): Promise<HashEach> {
  vi.resetModules();
  return (await import('@bloom/hash')).hashEach;
}

/** `hashEach` after enough keys for the kernel, if there is one. */
async function warmHashEach(): Promise<HashEach> {
  const hashEach = await newHashEach();
  hashEach(new Uint8Array(1), new Uint32Array(WORTH_KEYS + 1), 1);
  calls = [];
  return hashEach;
}

beforeEach(() => {
  calls = [];
  kernels = 0;
  const { Module, Instance } = (globalThis as unknown as { WebAssembly: Host }).WebAssembly;
  class CountedInstance {
    readonly exports: object;

    constructor(module: object, imports: object) {
      kernels++;
      const { memory, hashKeys } = new Instance(module, imports).exports;
      const counted: HashKeys = (bytes, offsets, count, seed, hashes) => {
        calls.push(count);
        hashKeys(bytes, offsets, count, seed, hashes);
      };
      this.exports = { memory, hashKeys: counted };
    }
  }
  vi.stubGlobal('WebAssembly', { Module, Instance: CountedInstance });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

/** Keys of these lengths in one buffer, which starts at any offset of its own and has bytes before and after the keys. */
function keysOf(lengths: readonly number[], random: ReturnType<typeof seeded>): { bytes: Uint8Array; offsets: Uint32Array } {
  const start = random.below(9);
  const offsets = new Uint32Array(lengths.length + 1).fill(start);
  for (const [i, length] of lengths.entries()) offsets[i + 1] = offsets[i]! + length;
  const at = random.below(9);
  return { bytes: random.bytes(at + offsets[lengths.length]! + random.below(5)).subarray(at), offsets };
}

function modelHashes({ bytes, offsets }: { bytes: Uint8Array; offsets: Uint32Array }, seed: number): number[] {
  // The model takes uint32 seeds only.
  return Array.from({ length: offsets.length - 1 }, (_, i) => modelHash(bytes.subarray(offsets[i], offsets[i + 1]), seed >>> 0));
}

describe('the kernel', () => {
  test('is compiled once, for the call that brings the keys to 4,096', async () => {
    const hashEach = await newHashEach();
    const offsets = new Uint32Array(17);
    for (let i = 0; i < WORTH_KEYS / 16 - 1; i++) hashEach(new Uint8Array(1), offsets, 1);
    expect({ kernels, calls }).toEqual({ kernels: 0, calls: [] });
    for (let i = 0; i < 3; i++) hashEach(new Uint8Array(1), offsets, 1);
    expect({ kernels, calls }).toEqual({ kernels: 1, calls: [16, 16, 16] });
  });

  test('neither counts nor hashes lists of fewer than 16 keys', async () => {
    const hashEach = await newHashEach();
    for (let i = 0; i < 1000; i++) hashEach(new Uint8Array(1), new Uint32Array(16), 1);
    expect(kernels).toBe(0);
    const warm = await warmHashEach();
    warm(new Uint8Array(1), new Uint32Array(16), 1);
    expect(calls).toEqual([]);
  });

  test('hashes 1,024 keys at a time, and as many as have 52,220 bytes together', async () => {
    const hashEach = await warmHashEach();
    const countsOf = (lengths: readonly number[]): number[] => {
      calls = [];
      const keys = keysOf(lengths, seeded(lengths.length));
      const expected = lengths.map((_, i) => hashRange(keys.bytes, keys.offsets[i]!, keys.offsets[i + 1]!, 7));
      expect([...hashEach(keys.bytes, keys.offsets, 7)]).toEqual(expected);
      return calls;
    };
    expect(countsOf(new Array<number>(2500).fill(5))).toEqual([1024, 1024, 452]);
    const room = 52_220;
    const empty = new Array<number>(14).fill(0);
    expect(countsOf([room - 1, 1, ...empty])).toEqual([16]);
    expect(countsOf([room - 1, 2, ...empty])).toEqual([1, 15]);
    expect(countsOf([...empty, 3, room + 1, 4])).toEqual([15, 1]);
  });
});

describe.each(['with the kernel', 'where WebAssembly is missing', 'where WebAssembly may not compile'])('%s', (where) => {
  const hashEachOf = (): Promise<HashEach> => {
    const refuse = function (): never {
      throw new EvalError('no unsafe-eval');
    };
    if (where === 'where WebAssembly is missing') vi.stubGlobal('WebAssembly', undefined);
    if (where === 'where WebAssembly may not compile') vi.stubGlobal('WebAssembly', { Module: refuse, Instance: refuse });
    return warmHashEach();
  };

  afterEach(() => {
    expect(kernels).toBe(where === 'with the kernel' ? 1 : 0);
  });

  test('keys of one length, 0 to 70 bytes, have the hashes of plain integer arithmetic, for any seed', async () => {
    const hashEach = await hashEachOf();
    const random = seeded(1);
    const wrong: string[] = [];
    for (let length = 0; length <= 70; length++) {
      for (const count of [16, 17, 18, 19]) {
        const keys = keysOf(new Array<number>(count).fill(length), random);
        const seed = random.pick(SEEDS);
        if (String([...hashEach(keys.bytes, keys.offsets, seed)]) !== String(modelHashes(keys, seed))) wrong.push(`${count} of ${length}, seed ${seed}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('keys of any lengths, also runs of equal ones, have the hashes of plain integer arithmetic', async () => {
    const hashEach = await hashEachOf();
    const random = seeded(2);
    const wrong: string[] = [];
    for (let round = 0; round < 200; round++) {
      const lengths: number[] = [];
      const count = 16 + random.below(100);
      while (lengths.length < count) {
        const length = random.below(random.pick([2, 8, 40, 400]));
        for (let run = 1 + random.below(7); run > 0; run--) lengths.push(length);
      }
      const keys = keysOf(lengths, random);
      const seed = random.pick([...SEEDS, random.uint32()]);
      if (String([...hashEach(keys.bytes, keys.offsets, seed)]) !== String(modelHashes(keys, seed))) wrong.push(`${lengths.join()} with seed ${seed}`);
    }
    expect(wrong).toEqual([]);
  });

  test('the array of offsets can receive the hashes, and elements past the last key stay as they were', async () => {
    const hashEach = await hashEachOf();
    const keys = keysOf(Array.from({ length: 2500 }, (_, i) => i % 11), seeded(3));
    const expected = modelHashes(keys, 5);
    const out = new Uint32Array(2503).fill(9);
    expect(hashEach(keys.bytes, keys.offsets, 5, out)).toBe(out);
    expect([...out]).toEqual([...expected, 9, 9, 9]);
    const last = keys.offsets[2500]!;
    expect([...hashEach(keys.bytes, keys.offsets, 5, keys.offsets)]).toEqual([...expected, last]);
  });

  const ascending = Array.from({ length: 41 }, (_, i) => i * 10);
  test.each([
    ['that descend once', ascending.map((offset, i) => (i === 20 ? 5 : offset))],
    ['that descend throughout', [...ascending].reverse()],
    ['past the bytes', ascending.map((offset) => offset * 100)],
    ['past the bytes in between', ascending.map((offset, i) => (i === 20 ? 4e9 : offset))],
    ['past the bytes at the end', ascending.map((offset, i) => (i === 40 ? 4e9 : offset))],
  ])('offsets %s are refused, and the first bad pair is named after the hashes before it are written', async (_, offsets) => {
    const hashEach = await hashEachOf();
    const bytes = seeded(4).bytes(1000);
    const bad = offsets.findIndex((offset, i) => offset > offsets[i + 1]! || offsets[i + 1]! > 1000);
    const refusal = new RangeError(`start and end must be in order and within the 1000 bytes, got ${offsets[bad]} and ${offsets[bad + 1]}`);
    const out = new Uint32Array(40).fill(9);
    expect(() => hashEach(bytes, Uint32Array.from(offsets), 1, out)).toThrow(refusal);
    const before = modelHashes({ bytes, offsets: Uint32Array.from(offsets.slice(0, bad + 1)) }, 1);
    expect([...out]).toEqual([...before, ...new Array<number>(40 - bad).fill(9)]);
  });

  test('bytes that are not a Uint8Array are refused', async () => {
    const hashEach = await hashEachOf();
    const offsets = new Uint32Array(41);
    expect(() => hashEach('a' as unknown as Uint8Array, offsets, 1)).toThrow(new TypeError('bytes must be a Uint8Array, got string'));
    expect(() => hashEach(Uint16Array.of(1) as unknown as Uint8Array, offsets, 1)).toThrow(TypeError);
    for (const none of [0, 1]) expect(() => hashEach('a' as unknown as Uint8Array, new Uint32Array(none), 1)).toThrow(TypeError);
  });
});
