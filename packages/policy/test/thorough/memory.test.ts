import { bloomFilterMayMatch, type FilterSink, KeyBuffer, type KeyList } from '@bloom/policy';
import { bloomHash, hash } from '@bloom/hash';
import { bloomOf, hex, type Mutant, Right, testMutants } from './right-policy.js';

function keysIn(list: KeyList): Set<string> {
  return new Set(Array.from(list, hex));
}

/** Takes filters from a cache whose key is `keyOf(keys)`. */
function cachedFilters(keyOf: (keys: KeyList) => unknown) {
  const made = new Map<unknown, Uint8Array>();
  return class extends Right {
    override createFilter(keys: KeyList, dst: FilterSink): void {
      const key = keyOf(keys);
      const filter = made.get(key) ?? bloomOf(keys);
      made.set(key, filter);
      dst.extend(filter.length).set(filter);
    }
  };
}

/** Takes a filter's bits from a cache whose key is `keyOf(filter)`. */
function cachedBits(keyOf: (filter: Uint8Array) => unknown) {
  const parsed = new Map<unknown, Uint8Array>();
  return class extends Right {
    override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
      const id = keyOf(filter);
      const bits = parsed.get(id) ?? filter.slice();
      parsed.set(id, bits);
      return super.keyMayMatch(key, bits);
    }
  };
}

/** Takes a key's hash from a cache whose key is `keyOf(key)`. */
function cachedHashes(keyOf: (key: Uint8Array) => unknown) {
  const hashes = new Map<unknown, number>();
  return class extends Right {
    override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
      const id = keyOf(key);
      const h = hashes.get(id) ?? bloomHash(key);
      hashes.set(id, h);
      return bloomFilterMayMatch(h, filter);
    }
  };
}

/** Correct until all instances together have made this many filters. */
function wrongAfter(filters: number) {
  let made = 0;
  return class extends Right {
    override createFilter(keys: KeyList, dst: FilterSink): void {
      made++;
      super.createFilter(made > filters ? KeyBuffer.from([...keys].slice(1)) : keys, dst);
    }
  };
}

const objectIds = new WeakMap<object, number>();
let nextId = 0;
function idOf(object: object): number {
  let id = objectIds.get(object);
  if (id === undefined) objectIds.set(object, (id = nextId++));
  return id;
}

const mutants: Mutant[] = [
  {
    fault: 'answers from the last key list of the instance',
    law: '4',
    says: /is false after calls with other filters|answers differently/,
    make: () => () => {
      let last = new Set<string>();
      return new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          last = keysIn(keys);
          super.createFilter(keys, dst);
        }
        override keyMayMatch(key: Uint8Array): boolean {
          return last.has(hex(key));
        }
      })();
    },
  },
  {
    fault: 'answers from the last key list of any instance',
    law: '4',
    says: /is false after calls with other filters|answers differently/,
    make: () => {
      let last = new Set<string>();
      return () =>
        new (class extends Right {
          override createFilter(keys: KeyList, dst: FilterSink): void {
            last = keysIn(keys);
            super.createFilter(keys, dst);
          }
          override keyMayMatch(key: Uint8Array): boolean {
            return last.has(hex(key));
          }
        })();
    },
  },
  {
    fault: 'is a singleton, and answers from its last key list',
    law: '1',
    says: /was added and does not match/,
    make: () => {
      let last = new Set<string>();
      const policy = new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          last = keysIn(keys);
          super.createFilter(keys, dst);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return last.has(hex(key)) && super.keyMayMatch(key, filter);
        }
      })();
      return () => policy;
    },
  },
  {
    fault: 'remembers all keys that any instance has seen',
    law: '4',
    says: /answers differently/,
    make: () => {
      const all = new Set<string>();
      return () =>
        new (class extends Right {
          override createFilter(keys: KeyList, dst: FilterSink): void {
            for (const key of keys) all.add(hex(key));
            super.createFilter(keys, dst);
          }
          override keyMayMatch(key: Uint8Array): boolean {
            return all.has(hex(key));
          }
        })();
    },
  },
  {
    fault: 'remembers the keys of each filter by the bytes of the filter',
    law: '4',
    says: /absent keys, 0 match|answers differently/,
    make: () => {
      const lists = new Map<string, Set<string>>();
      return () =>
        new (class extends Right {
          override createFilter(keys: KeyList, dst: FilterSink): void {
            const filter = bloomOf(keys);
            lists.set(hex(filter), keysIn(keys));
            dst.extend(filter.length).set(filter);
          }
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            return lists.get(hex(filter))?.has(hex(key)) ?? super.keyMayMatch(key, filter);
          }
        })();
    },
  },
  {
    fault: 'stores a digest of the keys and looks it up in memory',
    law: '4',
    says: /absent keys, 0 match/,
    make: () => {
      const lists = new Map<string, Set<string>>();
      return () =>
        new (class extends Right {
          override createFilter(keys: KeyList, dst: FilterSink): void {
            const digest = dst.extend(8);
            let [a, b] = [1, 2];
            for (const key of keys) [a, b] = [Math.imul(a, 31) ^ hash(key, 1), Math.imul(b, 33) ^ hash(key, 2)];
            new DataView(digest.buffer, digest.byteOffset, 8).setUint32(0, a);
            new DataView(digest.buffer, digest.byteOffset, 8).setUint32(4, b);
            lists.set(hex(digest), keysIn(keys));
          }
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            return lists.get(hex(filter))?.has(hex(key)) ?? true;
          }
        })();
    },
  },
  {
    fault: 'stores the number of the list and looks it up in memory',
    law: '3',
    says: /a new instance makes/,
    make: () => {
      const lists: Set<string>[] = [];
      return () =>
        new (class extends Right {
          override createFilter(keys: KeyList, dst: FilterSink): void {
            const part = dst.extend(4);
            new DataView(part.buffer, part.byteOffset, 4).setUint32(0, lists.push(keysIn(keys)) - 1);
          }
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            if (filter.length < 4) return true;
            return lists[new DataView(filter.buffer, filter.byteOffset, 4).getUint32(0)]?.has(hex(key)) ?? true;
          }
        })();
    },
  },
  {
    fault: 'remembers the keys of a filter by its length',
    law: '1',
    says: /was added and does not match/,
    make: () => {
      const lists = new Map<number, Set<string>>();
      return () =>
        new (class extends Right {
          override createFilter(keys: KeyList, dst: FilterSink): void {
            const filter = bloomOf(keys);
            lists.set(filter.length, keysIn(keys));
            dst.extend(filter.length).set(filter);
          }
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            return lists.get(filter.length)?.has(hex(key)) ?? super.keyMayMatch(key, filter);
          }
        })();
    },
  },
  {
    fault: "caches a filter's bits by the buffer that it lies in",
    law: '1',
    says: /was added and does not match/,
    make: () => {
      const Cached = cachedBits((filter) => filter.buffer);
      return () => new Cached();
    },
  },
  {
    fault: "caches a filter's bits by its offset in its buffer",
    law: '6',
    says: /in arrays that held others before/,
    make: () => {
      const Cached = cachedBits((filter) => `${idOf(filter.buffer)} ${filter.byteOffset} ${filter.length}`);
      return () => new Cached();
    },
  },
  {
    fault: "caches a filter's bits by the array",
    law: '6',
    says: /in arrays that held others before/,
    make: () => () => new (cachedBits((filter) => idOf(filter)))(),
  },
  {
    fault: "caches a filter's bits by its length and first bytes",
    law: '1',
    says: /was added and does not match/,
    make: () => {
      const Cached = cachedBits((filter) => `${filter.length} ${hex(filter.subarray(0, 8))}`);
      return () => new Cached();
    },
  },
  {
    fault: "caches a filter's bits by its length and last bytes",
    law: '1',
    says: /was added and does not match/,
    make: () => () => new (cachedBits((filter) => `${filter.length} ${hex(filter.subarray(-16))}`))(),
  },
  {
    fault: "caches a filter's bits by the sum of its bytes",
    law: '1',
    says: /was added and does not match/,
    make: () => () => new (cachedBits((filter) => filter.reduce((sum, byte) => (sum + byte) & 0xff, 0)))(),
  },
  {
    fault: "caches a key's hash by the array",
    law: '6',
    says: /answers as it did for those/,
    make: () => {
      const Cached = cachedHashes((key) => idOf(key));
      return () => new Cached();
    },
  },
  {
    fault: "caches a key's hash by its offset in its buffer",
    law: '1',
    says: /was added and does not match/,
    make: () => {
      const Cached = cachedHashes((key) => `${idOf(key.buffer)} ${key.byteOffset} ${key.length}`);
      return () => new Cached();
    },
  },
  {
    fault: "caches a key's hash by its length and ends",
    law: '1',
    says: /was added and does not match/,
    make: () => () => new (cachedHashes((key) => `${key.length} ${key[0]} ${key.at(-1)}`))(),
  },
  {
    fault: 'caches answers by the key',
    law: '4',
    says: /is false after calls with other filters|answers differently/,
    make: () => {
      const answers = new Map<string, boolean>();
      return () =>
        new (class extends Right {
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            const answer = answers.get(hex(key)) ?? super.keyMayMatch(key, filter);
            answers.set(hex(key), answer);
            return answer;
          }
        })();
    },
  },
  {
    fault: 'remembers keys that matched once',
    law: '4',
    says: /answers differently/,
    make: () => {
      const matched = new Set<string>();
      return () =>
        new (class extends Right {
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            if (super.keyMayMatch(key, filter)) matched.add(hex(key));
            return matched.has(hex(key));
          }
        })();
    },
  },
  {
    fault: 'repeats its last answer for the same key',
    law: '4',
    says: /is false after calls with other filters|answers differently/,
    make: () => () => {
      let last = { key: '', answer: true };
      return new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          if (last.key !== hex(key)) last = { key: hex(key), answer: super.keyMayMatch(key, filter) };
          return last.answer;
        }
      })();
    },
  },
  {
    fault: 'keeps the last filter, and mistakes others of the same length for it',
    law: '1',
    says: /was added and does not match/,
    make: () => () => {
      let last = new Uint8Array(0);
      return new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          if (last.length !== filter.length) last = new Uint8Array(filter);
          return super.keyMayMatch(key, last);
        }
      })();
    },
  },
  {
    fault: 'caches filters by the list',
    law: '3',
    says: /a new instance makes/,
    make: () => () => new (cachedFilters((keys) => idOf(keys)))(),
  },
  {
    fault: 'caches filters by the list, for all instances',
    law: '6',
    says: /from a list that held other keys before/,
    make: () => {
      const Cached = cachedFilters((keys) => idOf(keys));
      return () => new Cached();
    },
  },
  {
    fault: "caches filters by the list's buffer, start and number of keys",
    law: '1',
    says: /was added and does not match/,
    make: () => {
      const Cached = cachedFilters(({ bytes, offsets, length }) => `${idOf(bytes.buffer)} ${offsets[0]} ${length}`);
      return () => new Cached();
    },
  },
  {
    fault: 'caches filters by the number of keys and bytes',
    law: '1',
    says: /was added and does not match/,
    make: () => {
      const Cached = cachedFilters(({ offsets, length }) => `${length} ${offsets[length]! - offsets[0]!}`);
      return () => new Cached();
    },
  },
  {
    fault: 'caches filters by the first key and the number of keys',
    law: '1',
    says: /was added and does not match/,
    make: () => () => new (cachedFilters((keys) => `${keys.length} ${keys.length > 0 ? hex(keys.at(0)) : ''}`))(),
  },
  {
    fault: 'caches filters by a weak sum of the keys',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (cachedFilters((keys) => `${keys.length} ${[...keys].reduce((sum, key) => sum ^ (key.length > 0 ? key[0]! : 0), 0)}`))(),
  },
  { fault: 'loses a key from the 200th filter on', law: '1', says: /was added and does not match/, make: () => {
    const Wrong = wrongAfter(200);
    return () => new Wrong();
  } },
  { fault: 'loses a key from the 20,000th filter on', law: '3', says: /after [0-9]+ other filters/, make: () => {
    const Wrong = wrongAfter(20_000);
    return () => new Wrong();
  } },
  {
    fault: 'numbers its filters',
    law: '3',
    says: /a new instance makes/,
    make: () => {
      let made = 0;
      return () =>
        new (class extends Right {
          override createFilter(keys: KeyList, dst: FilterSink): void {
            dst.extend(1)[0] = made++ >> 6;
            super.createFilter(keys, dst);
          }
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            return super.keyMayMatch(key, filter.subarray(1));
          }
        })();
    },
  },
  {
    fault: 'returns false at every 1000th call',
    law: '1',
    says: /was added and does not match/,
    make: () => {
      let asked = 0;
      return () =>
        new (class extends Right {
          override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
            return ++asked % 1000 !== 0 && super.keyMayMatch(key, filter);
          }
        })();
    },
  },
  {
    fault: 'seeds each instance at random',
    law: '4',
    says: /a new instance answers differently|is false after/,
    make: () => () => {
      const seed = Math.floor(Math.random() * 2 ** 32);
      return new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          super.createFilter(KeyBuffer.from(Array.from(keys, (key) => Uint8Array.of(...key, seed, seed >>> 8))), dst);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(Uint8Array.of(...key, seed, seed >>> 8), filter);
        }
      })();
    },
  },
];

testMutants(mutants);
