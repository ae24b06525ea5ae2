// Tables of random versions beside a plain list of them.
import { type Random, seeded } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySource } from '@bloom/sstable';
import {
  DatabaseTable,
  DELETION,
  internalKeyComparator,
  internalKeyPolicy,
  MAX_SEQUENCE,
  SyncDatabaseTable,
  VALUE,
} from '@bloom/sstable/database';
import { verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import type { ByteRange } from '../byte-range.js';
import { buildTable } from '../build-table.js';
import { collect, hex } from '../entries.js';
import { show, stored, type Version } from '../versions.js';

const comparator = internalKeyComparator();
const filterPolicy = internalKeyPolicy(new BloomFilterPolicy(10));

/** Versions of many user keys in the order of a database. Some keys have more versions than fit into a block. */
function randomVersions(random: Random): Version[] {
  const userKeys = new Map<string, Uint8Array>();
  const prefix = random.bytes(random.below(6));
  for (let i = random.below(60); i > 0; i--) {
    const userKey = random.below(3) === 0 ? random.bytes(random.below(5)) : Uint8Array.of(...prefix, ...random.bytes(random.below(3)));
    userKeys.set(hex(userKey), userKey);
  }
  const versions: Version[] = [];
  for (const userKey of userKeys.values()) {
    const sequences = new Set<bigint>();
    for (let i = random.pick([1, 1, 2, 5, 40]); i > 0; i--) {
      const near = BigInt(random.below(60));
      sequences.add(random.pick([near, near, BigInt(random.uint32()) * 4096n, MAX_SEQUENCE - near]));
    }
    for (const sequence of sequences) {
      const type = random.pick([VALUE, VALUE, DELETION]);
      versions.push({ userKey, sequence, type, value: type === DELETION ? new Uint8Array() : random.bytes(random.below(20)) });
    }
  }
  return versions.sort(
    (a, b) => Buffer.compare(a.userKey, b.userKey) || (a.sequence < b.sequence ? 1 : a.sequence > b.sequence ? -1 : 0),
  );
}

function inRange({ userKey }: Version, { gt, gte, lt, lte }: ByteRange): boolean {
  return (
    (gt === undefined || Buffer.compare(userKey, gt) > 0) &&
    (gte === undefined || Buffer.compare(userKey, gte) >= 0) &&
    (lt === undefined || Buffer.compare(userKey, lt) < 0) &&
    (lte === undefined || Buffer.compare(userKey, lte) <= 0)
  );
}

describe('a table of versions behaves as a plain list', () => {
  const seeds = Array.from({ length: 12 }, (_, i) => 500 + i);

  test.each(seeds)('with and without promises (seed %d)', async (seed) => {
    const random = seeded(seed);
    const versions = randomVersions(random);
    const bytes = buildTable(stored(versions), {
      comparator,
      filterPolicy: random.pick([filterPolicy, filterPolicy, null]),
      blockSize: random.pick([1, 40, 100, 400, 4096]),
      blockRestartInterval: random.pick([1, 2, 16]),
    });
    const source = new MemorySource(bytes);
    const table = SyncDatabaseTable.open(source);
    const later = await DatabaseTable.open(source);
    const wrong: string[] = [];

    const userKeys = [...versions.map(({ userKey }) => userKey), ...Array.from({ length: 10 }, () => random.bytes(random.below(4)))];
    for (const userKey of userKeys) {
      const own = versions.filter((version) => hex(version.userKey) === hex(userKey));
      const sequences = new Set<bigint | undefined>([undefined, 0n, MAX_SEQUENCE]);
      for (const { sequence } of own) {
        for (const near of [sequence - 1n, sequence, sequence + 1n]) if (near >= 0n && near <= MAX_SEQUENCE) sequences.add(near);
      }
      for (const sequence of sequences) {
        const expected = show(own.find((version) => version.sequence <= (sequence ?? MAX_SEQUENCE)));
        if (show(table.get(userKey, { sequence })) !== expected) wrong.push(`get ${hex(userKey)} at ${sequence}`);
        if (random.below(20) === 0 && show(await later.get(userKey, { sequence })) !== expected) {
          wrong.push(`get ${hex(userKey)} at ${sequence}, with promises`);
        }
      }
    }

    const bound = (): Uint8Array | undefined => (random.below(3) === 0 ? undefined : random.pick([...userKeys, Uint8Array.of(0xff, 0xff)]));
    for (let i = 0; i < 40; i++) {
      const range: ByteRange = {
        ...(random.below(2) === 0 ? { gt: bound() } : { gte: bound() }),
        ...(random.below(2) === 0 ? { lt: bound() } : { lte: bound() }),
        reverse: random.below(2) === 0,
        limit: random.pick([Infinity, Infinity, 3]),
      };
      const expected = versions.filter((version) => inRange(version, range));
      if (range.reverse === true) expected.reverse();
      const lines = expected.slice(0, range.limit).map(show).join('\n');
      const given = i % 4 === 0 ? await collect(later.entries(range)) : [...table.entries(range)];
      if (given.map(show).join('\n') !== lines) wrong.push(`range ${i}`);
    }
    expect(wrong).toEqual([]);
    expect((await verifyTable(source, { comparator, filterPolicies: [filterPolicy] })).findings).toEqual([]);
  });
});
