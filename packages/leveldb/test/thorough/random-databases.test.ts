// The readers of random databases beside a model of what was written.
import { seeded } from '@bloom/fixtures';
import { DatabaseReader, MemoryFolder, SyncDatabaseReader } from '@bloom/leveldb';
import { BloomFilterPolicy } from '@bloom/policy';
import { bytewiseComparator } from '@bloom/sstable';
import { describe, expect, test } from 'vitest';
import { assembleDatabase, type DatabaseParts, type TableParts, type Version } from '../assemble-database.js';
import { collect } from '../collect.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A random database with several levels, in which newer versions of a key are always above older ones. */
function randomDatabase(seed: number): { readonly parts: DatabaseParts; readonly states: Map<string, string>[] } {
  const random = seeded(seed);
  const keys = Array.from({ length: 2 + random.below(60) }, () => random.bytes(random.below(4)));
  const total = 1 + random.below(600);
  const states = [new Map<string, string>()];
  const all: Version[] = [];
  for (let sequence = 1; sequence <= total; sequence++) {
    const key = random.pick(keys);
    const value = random.below(3) === 0 ? undefined : random.bytes(random.below(40));
    all.push({ key, sequence, value });
    const state = new Map(states.at(-1));
    if (value === undefined) state.delete(hex(key));
    else state.set(hex(key), hex(value));
    states.push(state);
  }
  // Split into generations: the oldest is in the deepest level, and the newest are in logs.
  const cuts = [0, ...Array.from({ length: 6 }, () => random.below(total + 1)).sort((a, b) => a - b), total];
  const generation = (i: number): Version[] => all.slice(cuts[i], cuts[i + 1]);
  const tables: TableParts[] = [];
  let number = 2;
  for (const [i, level] of [3, 1].entries()) {
    const versions = generation(i).sort((a, b) => bytewiseComparator.compare(a.key, b.key) || b.sequence - a.sequence);
    // Split anywhere, even between versions of one key.
    while (versions.length > 0) tables.push({ level, number: number++, versions: versions.splice(0, 1 + random.below(80)) });
  }
  for (const i of [2, 3, 4]) if (generation(i).length > 0) tables.push({ level: 0, number: number++, versions: generation(i) });
  const logs = [5, 6].map((i) => ({
    number: number++,
    batches: generation(i).map(({ key, sequence, value }) => ({ sequence, operations: [[key, value]] as const })),
  }));
  const build = { blockSize: random.pick([1, 100, 4096]), blockRestartInterval: random.pick([1, 2, 16]) };
  const filterPolicy = random.below(3) === 0 ? null : new BloomFilterPolicy();
  return { parts: { tables, logs, build, filterPolicy }, states };
}

describe('random databases agree with a model', () => {
  const seeds = Array.from({ length: Number(process.env.BLOOM_RANDOM_DATABASES ?? 8) }, (_, i) => i);

  test.each(seeds)('on entries and gets at every sequence, with seed %i', async (seed) => {
    const { parts, states } = randomDatabase(seed);
    const random = seeded(seed + 1000);
    const folder = new MemoryFolder(assembleDatabase(parts));
    const options = { maxOpenFiles: random.pick([11, 13, 1000]), ...(random.below(2) === 0 && { cache: null }) };
    const database = SyncDatabaseReader.open(folder, options);
    const promised = await DatabaseReader.open(folder, options);
    for (let i = 0; i < 12; i++) {
      const at = i === 0 ? states.length - 1 : random.below(states.length);
      const sequence = BigInt(at);
      const state = [...states[at]!].sort(([a], [b]) => (a < b ? -1 : 1));
      const pairs = (entries: [Uint8Array, Uint8Array][]): [string, string][] => entries.map(([key, value]) => [hex(key), hex(value)]);
      expect(pairs([...database.entries({ sequence })])).toEqual(state);
      expect(pairs(await collect(promised.entries({ sequence, reverse: true }))).reverse()).toEqual(state);
      const keys = Array.from({ length: 30 }, () => random.bytes(random.below(4)));
      const expected = keys.map((key) => states[at]!.get(hex(key)));
      expect(keys.map((key) => database.get(key, { sequence })).map((value) => value && hex(value))).toEqual(expected);
      expect((await promised.getMany(keys, { sequence })).map((value) => value && hex(value))).toEqual(expected);
      expect(await promised.hasMany(keys, { sequence })).toEqual(expected.map((value) => value !== undefined));
      expect(database.hasMany(keys, { sequence })).toEqual(expected.map((value) => value !== undefined));
      const cursor = database.cursor({ sequence });
      for (const key of keys) {
        const before = state.filter(([name]) => name <= hex(key)).at(-1);
        expect(cursor.seekForPrev(key)).toBe(before !== undefined);
        if (before !== undefined) expect([hex(cursor.key), hex(cursor.value)]).toEqual(before);
      }
      cursor.close();

      const bounds = { gt: random.bytes(2), gte: random.bytes(2), lt: random.bytes(2), lte: random.bytes(2) };
      const range = Object.fromEntries(Object.entries(bounds).filter(() => random.below(2) === 0));
      const reverse = random.below(2) === 0;
      const limit = random.pick([Infinity, 0, 1, 5]);
      const inside = state.filter(([key]) => {
        const within = { gt: key > hex(bounds.gt), gte: key >= hex(bounds.gte), lt: key < hex(bounds.lt), lte: key <= hex(bounds.lte) };
        return Object.keys(range).every((bound) => within[bound as keyof typeof within]);
      });
      const wanted = (reverse ? inside.reverse() : inside).slice(0, limit);
      expect(pairs([...database.entries({ ...range, reverse, limit, sequence })])).toEqual(wanted);
      expect((await collect(promised.keys({ ...range, reverse, limit, sequence }))).map(hex)).toEqual(wanted.map(([key]) => key));
      expect((await collect(promised.values({ ...range, reverse, limit, sequence }))).map(hex)).toEqual(wanted.map(([, value]) => value));
    }
  });

  test.each(seeds)('on a cursor that makes random moves, with seed %i', async (seed) => {
    const { parts, states } = randomDatabase(seed);
    const random = seeded(seed + 2000);
    const folder = new MemoryFolder(assembleDatabase(parts));
    const at = random.below(states.length);
    const state = [...states[at]!].sort(([a], [b]) => (a < b ? -1 : 1));
    const options = { sequence: BigInt(at) };
    const cursor = SyncDatabaseReader.open(folder, { cache: null }).cursor(options);
    const promised = (await DatabaseReader.open(folder, { maxOpenFiles: 12 })).cursor(options);
    let place = -1;
    for (let step = 0; step < 150; step++) {
      const target = random.bytes(random.below(4));
      const moves = {
        seekToFirst: () => 0,
        seekToLast: () => state.length - 1,
        seek: () => {
          const i = state.findIndex(([key]) => key >= hex(target));
          return i < 0 ? state.length : i;
        },
        next: () => (place < 0 || place >= state.length ? place : place + 1),
        prev: () => (place < 0 || place >= state.length ? place : place - 1),
      };
      const move = random.pick(['seekToFirst', 'seekToLast', 'seek', 'next', 'next', 'next', 'prev', 'prev', 'prev'] as const);
      place = moves[move]();
      if (place >= state.length) place = -1;
      const entry = state[place];
      expect(move === 'seek' ? cursor.seek(target) : cursor[move]()).toBe(entry !== undefined);
      expect(await (move === 'seek' ? promised.seek(target) : promised[move]())).toBe(entry !== undefined);
      for (const one of [cursor, promised]) {
        expect(one.valid).toBe(entry !== undefined);
        if (entry !== undefined) expect([hex(one.key), hex(one.value)]).toEqual(entry);
      }
    }
    cursor.close();
    promised.close();
    expect(() => cursor.next()).toThrow(TypeError);
  });
});
