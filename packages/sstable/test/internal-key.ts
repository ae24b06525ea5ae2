import type { FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';

/** Sequence number and type, a u64 in little-endian, behind the user's key. */
const TRAILER_LENGTH = 8;

/** What separators end in: the trailer that comes before all others, as the order of trailers descends. */
const FIRST_TRAILER = Uint8Array.of(1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);

export function userKey(key: Uint8Array): Uint8Array {
  return key.subarray(0, key.length - TRAILER_LENGTH);
}

export function trailer(key: Uint8Array): bigint {
  return new DataView(key.buffer, key.byteOffset + key.length - TRAILER_LENGTH).getBigUint64(0, true);
}

/** The order of the tables in a database: LevelDB, db/dbformat.cc, `InternalKeyComparator`. */
export const internalKeyComparator: Comparator = {
  name: 'leveldb.InternalKeyComparator',

  compare(a, b) {
    const order = bytewiseComparator.compare(userKey(a), userKey(b));
    if (order !== 0) return order;
    return trailer(a) > trailer(b) ? -1 : trailer(a) < trailer(b) ? 1 : 0;
  },

  findShortestSeparator(start, limit) {
    return shortened(start, bytewiseComparator.findShortestSeparator(userKey(start), userKey(limit)));
  },

  findShortSuccessor(key) {
    return shortened(key, bytewiseComparator.findShortSuccessor(userKey(key)));
  },
};

function shortened(key: Uint8Array, short: Uint8Array): Uint8Array {
  const user = userKey(key);
  if (short.length >= user.length || bytewiseComparator.compare(user, short) >= 0) return key;
  return Uint8Array.of(...short, ...FIRST_TRAILER);
}

/** Filters the user's keys: LevelDB, db/dbformat.cc, `InternalFilterPolicy`. */
export function internalKeyPolicy(policy: FilterPolicy): FilterPolicy {
  return {
    name: policy.name,
    createFilter(keys, dst) {
      const users = Array.from(keys, userKey);
      const offsets = [0];
      for (const user of users) offsets.push(offsets.at(-1)! + user.length);
      policy.createFilter(
        {
          length: users.length,
          bytes: new Uint8Array(Buffer.concat(users)),
          offsets: Uint32Array.from(offsets),
          at: (i) => users[i]!,
          [Symbol.iterator]: () => users[Symbol.iterator](),
        },
        dst,
      );
    },
    keyMayMatch: (key, filter) => policy.keyMayMatch(userKey(key), filter),
  };
}
