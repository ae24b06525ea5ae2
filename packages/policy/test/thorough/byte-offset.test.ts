import { bloomFilterMayMatch, type FilterSink, fillBloomFilter, filterByteLength, KeyBuffer, type KeyList } from '@bloom/policy';
import { bloomHash, hash } from '@bloom/hash';
import { encodeBloomFilter } from '../../src/bloom-filter.js';
import { bloomOf, type Mutant, Right, setBit, testMutants } from './right-policy.js';

/** Policies that treat a view as if it were the start, or all, of its buffer. */
const mutants: Mutant[] = [
  {
    fault: 'reads filters with a DataView of their whole buffer',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          if (filter.length < 2) return false;
          const view = new DataView(filter.buffer);
          const bytes = Uint8Array.from({ length: filter.length }, (_, i) => view.getUint8(i));
          return super.keyMayMatch(key, bytes);
        }
      })(),
  },
  {
    fault: 'reads filters with an array of their whole buffer',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(key, new Uint8Array(filter.buffer));
        }
      })(),
  },
  {
    fault: 'looks up the start of the buffer in which a key lies',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(new Uint8Array(key.buffer, 0, key.length), filter);
        }
      })(),
  },
  {
    fault: 'reads whole words, past the end of a key',
    law: '1',
    says: /was added and does not match/,
    make: () => () => {
      const padded = (key: Uint8Array): Uint8Array =>
        new Uint8Array(key.buffer, key.byteOffset, Math.min(Math.ceil(key.length / 4) * 4, key.buffer.byteLength - key.byteOffset));
      return new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          super.createFilter(KeyBuffer.from(Array.from(keys, padded)), dst);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(padded(key), filter);
        }
      })();
    },
  },
  {
    fault: "applies the list's offsets to its whole buffer",
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override createFilter({ length, bytes, offsets }: KeyList, dst: FilterSink): void {
          const whole = new Uint8Array(bytes.buffer);
          super.createFilter(KeyBuffer.from(Array.from({ length }, (_, i) => whole.subarray(offsets[i], offsets[i + 1]))), dst);
        }
      })(),
  },
  {
    fault: "reads the list's offsets from the start of their buffer",
    law: '1',
    says: /was added and does not match|throws/,
    make: () => () =>
      new (class extends Right {
        override createFilter({ length, bytes, offsets }: KeyList, dst: FilterSink): void {
          const whole = new Uint32Array(offsets.buffer);
          super.createFilter(KeyBuffer.from(Array.from({ length }, (_, i) => bytes.subarray(whole[i], whole[i + 1]))), dst);
        }
      })(),
  },
  {
    fault: 'assumes that the first key starts where the list starts',
    law: '3',
    says: /where the keys lie/,
    make: () => () =>
      new (class extends Right {
        override createFilter({ length, bytes, offsets }: KeyList, dst: FilterSink): void {
          const keys = Array.from({ length }, (_, i) => bytes.subarray(i === 0 ? 0 : offsets[i], offsets[i + 1]));
          super.createFilter(KeyBuffer.from(keys), dst);
        }
      })(),
  },
  {
    fault: 'assumes that the last key ends where the list ends',
    law: '1',
    says: /was added and does not match/,
    make: () => () =>
      new (class extends Right {
        override createFilter({ length, bytes, offsets }: KeyList, dst: FilterSink): void {
          const keys = Array.from({ length }, (_, i) => bytes.subarray(offsets[i], i === length - 1 ? undefined : offsets[i + 1]));
          super.createFilter(KeyBuffer.from(keys), dst);
        }
      })(),
  },
  {
    fault: 'counts the offsets to count the keys',
    law: '1',
    says: /throws RangeError/,
    make: () => () =>
      new (class extends Right {
        override createFilter({ bytes, offsets }: KeyList, dst: FilterSink): void {
          const filter = dst.extend(filterByteLength(offsets.length - 1, 10));
          const hashes = Uint32Array.from({ length: offsets.length - 1 }, (_, i) => {
            if (offsets[i + 1]! > bytes.length) throw new RangeError('an offset is outside');
            return bloomHash(bytes.subarray(offsets[i], offsets[i + 1]));
          });
          fillBloomFilter(filter, hashes, 6);
        }
      })(),
  },
  {
    fault: "writes to the start of its part's buffer with a DataView",
    law: '7',
    says: /outside the part/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          const filter = bloomOf(keys);
          const view = new DataView(dst.extend(filter.length).buffer);
          for (const [i, byte] of filter.entries()) view.setUint8(i, byte);
        }
      })(),
  },
  {
    fault: "sets bits in an array of its part's whole buffer",
    law: '7',
    says: /outside the part/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          const part = dst.extend(filterByteLength(keys.length, 10));
          part[part.length - 1] = 1;
          const whole = new Uint8Array(part.buffer);
          for (const key of keys) setBit(whole, bloomHash(key) % ((part.length - 1) * 8));
        }
      })(),
  },
  {
    fault: 'copies its filter to the start of the buffer',
    law: '7',
    says: /outside the part/,
    make: () => () =>
      new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          const filter = bloomOf(keys);
          new Uint8Array(dst.extend(filter.length).buffer).set(filter);
        }
      })(),
  },
  {
    fault: 'reads filters as words, which only works when they are aligned',
    law: '2',
    says: /throws RangeError/,
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          const words = new Uint32Array(filter.buffer, filter.byteOffset, filter.length >> 2);
          return words.length > 2 ** 30 || super.keyMayMatch(key, filter);
        }
      })(),
  },
  {
    fault: 'hashes aligned keys differently',
    law: '4',
    says: /answers differently/,
    make: () => () => {
      const hashOf = (key: Uint8Array): number => (key.byteOffset % 4 === 0 ? hash(key, 1) : bloomHash(key));
      return new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          fillBloomFilter(dst.extend(filterByteLength(keys.length, 10)), Uint32Array.from(keys, (key) => hashOf(key)), 6);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return bloomFilterMayMatch(hashOf(key), filter);
        }
      })();
    },
  },
  {
    fault: "relies on slice to copy, which a Buffer's does not",
    law: '4',
    says: /as Node's Buffer does, answers differently/,
    options: { lendBuffers: true },
    make: () => () =>
      new (class extends Right {
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(new Uint8Array(key.slice().buffer), filter);
        }
      })(),
  },
  {
    fault: 'hashes a key as text, to which a Buffer converts differently',
    law: '4',
    says: /as Node's Buffer does, answers differently/,
    options: { lendBuffers: true },
    make: () => () => {
      const textOf = (key: Uint8Array): Uint8Array => new TextEncoder().encode(key.toString());
      return new (class extends Right {
        override createFilter(keys: KeyList, dst: FilterSink): void {
          encodeBloomFilter(KeyBuffer.from(Array.from(keys, textOf)), 10, dst);
        }
        override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
          return super.keyMayMatch(textOf(key), filter);
        }
      })();
    },
  },
];

testMutants(mutants);
