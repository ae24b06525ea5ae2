import { type FilterSink, KeyBuffer, type KeyList } from '@bloom/policy';
import { bloomHash } from '@bloom/hash';
import { type Mutant, Right, RightList, testMutants, viewOf } from './right-policy.js';

function mutant(fault: string, says: RegExp, make: () => Right | RightList, law = '1'): Mutant {
  return { fault, law, says, make: () => make };
}

const TOO_LONG = /createFilter with [0-9]+ (keys|bytes).* ms, and with [0-9]+ it takes|createFilter with .* (did not return within|took)/;

/** The filter is the number of hashes, of which `countBytes` bytes are kept, and a sorted list of them. */
class Hashes extends Right {
  readonly countBytes: number = 4;

  override createFilter(keys: KeyList, dst: FilterSink): void {
    const hashes = Uint32Array.from(keys, (key) => bloomHash(key)).sort();
    const filter = dst.extend(4 + hashes.length * 4);
    const view = viewOf(filter);
    view.setUint32(0, this.countBytes === 2 ? hashes.length & 0xffff : hashes.length);
    for (const [i, h] of hashes.entries()) view.setUint32(4 + i * 4, h);
  }

  override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
    const view = viewOf(filter);
    if (filter.length < 4 || view.getUint32(0) * 4 + 4 > filter.length) return true;
    const wanted = bloomHash(key);
    let [low, high] = [0, view.getUint32(0)];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (view.getUint32(4 + middle * 4) < wanted) low = middle + 1;
      else high = middle;
    }
    return low < view.getUint32(0) && view.getUint32(4 + low * 4) === wanted;
  }
}

const mutants: Mutant[] = [
  mutant('counts its keys in 16 bits', /was added and does not match/, () =>
    new (class extends Hashes {
      override readonly countBytes = 2;
    })(),
  ),
  mutant('counts keys only up to 32,767', /was added and does not match/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from([...keys].slice(0, 32_767)), dst);
      }
    })(),
  ),
  mutant('treats 65,536 keys as none', /of 65,536 keys, key 1, .* was added and does not match/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(keys.length === 65_536 ? new KeyBuffer() : keys, dst);
      }
    })(),
  ),
  mutant('loses a key of lists of exactly 2^k keys, from 256 upward', /was added and does not match/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const { length } = keys;
        super.createFilter(length >= 256 && (length & (length - 1)) === 0 ? KeyBuffer.from([...keys].slice(1)) : keys, dst);
      }
    })(),
  ),
  mutant("keeps its keys' offsets in 16 bits", /was added and does not match/, () =>
    new (class extends Right {
      override createFilter({ length, bytes, offsets }: KeyList, dst: FilterSink): void {
        const ends = Uint16Array.from(offsets.subarray(0, length + 1), (offset) => offset - offsets[0]!);
        const own = bytes.subarray(offsets[0]);
        super.createFilter(KeyBuffer.from(Array.from({ length }, (_, i) => own.subarray(ends[i], ends[i + 1]))), dst);
      }
    })(),
  ),
  mutant("keeps its keys' offsets in 24 bits", /of 90 keys of 17 MiB in total, key/, () =>
    new (class extends Right {
      override createFilter({ length, bytes, offsets }: KeyList, dst: FilterSink): void {
        const ends = Uint32Array.from(offsets.subarray(0, length + 1), (offset) => (offset - offsets[0]!) & 0xffffff);
        const own = bytes.subarray(offsets[0]);
        super.createFilter(KeyBuffer.from(Array.from({ length }, (_, i) => own.subarray(ends[i], ends[i + 1]))), dst);
      }
    })(),
  ),
  mutant("cuts its filter's length to 16 bits", /was added and does not match/, () =>
    new (class extends RightList {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return super.keyMayMatch(key, filter.subarray(0, filter.length & 0xffff));
      }
    })(),
  ),
  mutant('writes the length of a key in 16 bits', /was added and does not match/, () =>
    new (class extends RightList {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from(Array.from(keys, (key) => key.subarray(0, key.length & 0xffff))), dst);
      }
    })(),
  ),
  mutant('writes the length of a key in 8 bits', /was added and does not match/, () =>
    new (class extends RightList {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from(Array.from(keys, (key) => key.subarray(0, key.length & 0xff))), dst);
      }
    })(),
  ),
  mutant('passes all hashes to Math.max as arguments', /throws RangeError: Maximum call stack/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const most = Math.max(...Array.from(keys, (key) => bloomHash(key)));
        super.createFilter(most < 0 && keys.length > 0 ? new KeyBuffer() : keys, dst);
      }
    })(),
  ),
  mutant('passes all keys to push as arguments', /throws RangeError: Maximum call stack/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const all: Uint8Array[] = [];
        all.push(...keys);
        super.createFilter(KeyBuffer.from(all), dst);
      }
    })(),
  ),
  mutant('passes all bytes of a key to String.fromCharCode as arguments', /throws RangeError: Maximum call stack/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const texts = Array.from(keys, (key) => String.fromCharCode(...key));
        super.createFilter(KeyBuffer.from(texts.map((text) => Buffer.from(text, 'latin1'))), dst);
      }
    })(),
  ),
  mutant('passes all bytes of a key to String.fromCharCode only in keyMayMatch', /throws RangeError: Maximum call stack/, () =>
    new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return super.keyMayMatch(Buffer.from(String.fromCharCode.apply(null, key as unknown as number[]), 'latin1'), filter);
      }
    })(),
  ),
  mutant('passes all bytes of a filter to Array.of as arguments', /throws RangeError: Maximum call stack/, () =>
    new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return super.keyMayMatch(key, Uint8Array.from(Array.of(...filter)));
      }
    })(),
  ),
  mutant('calls itself for each byte of a key', /throws RangeError: Maximum call stack/, () => {
    const sum = (key: Uint8Array, i: number): number => (i === key.length ? 0 : (key[i]! + 31 * sum(key, i + 1)) | 0);
    return new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from(Array.from(keys, (key) => Buffer.from(String(sum(key, 0))))), dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return super.keyMayMatch(Buffer.from(String(sum(key, 0))), filter);
      }
    })();
  }),
  mutant('calls itself for each key', /throws RangeError: Maximum call stack/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const all = new KeyBuffer();
        const addFrom = (i: number): void => {
          if (i === keys.length) return;
          all.push(keys.at(i));
          addFrom(i + 1);
        };
        addFrom(0);
        super.createFilter(all, dst);
      }
    })(),
  ),
  mutant('drops keys past 4 MB', /was added and does not match/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        let bytes = 0;
        super.createFilter(KeyBuffer.from([...keys].filter((key) => (bytes += key.length) < 4_000_000)), dst);
      }
    })(),
  ),
  mutant('hashes only the first 100,000 bytes of a key in keyMayMatch', /was added and does not match/, () =>
    new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return super.keyMayMatch(key.subarray(0, 100_000), filter);
      }
    })(),
  ),
  mutant('loses sorted keys that share a long prefix', /was added and does not match/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        // The length of the prefix shared with the previous key is cut to 8 bits.
        let before: Uint8Array = new Uint8Array(0);
        const rebuilt = Array.from(keys, (key) => {
          let shared = 0;
          while (shared < Math.min(key.length, before.length) && key[shared] === before[shared]) shared++;
          const whole = Uint8Array.of(...before.subarray(0, shared & 0xff), ...key.subarray(shared));
          before = key;
          return whole;
        });
        super.createFilter(KeyBuffer.from(rebuilt), dst);
      }
    })(),
  ),
  mutant('takes time quadratic in the number of keys', TOO_LONG, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const once: number[] = [];
        for (const key of keys) {
          const h = bloomHash(key);
          if (!once.some((other) => other === h)) once.push(h);
        }
        super.createFilter(once.length > 0 ? keys : new KeyBuffer(), dst);
      }
    })(),
  '10'),
  mutant('copies all earlier bytes for each key', TOO_LONG, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        let all = new Uint8Array(0);
        for (const key of keys) {
          const longer = new Uint8Array(all.length + key.length + 32);
          longer.set(all);
          longer.set(key, all.length);
          all = longer;
        }
        super.createFilter(all.length < 0 ? new KeyBuffer() : keys, dst);
      }
    })(),
  '10'),
  mutant('takes time quadratic in the number of keys when they are sorted', TOO_LONG, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        // A tree that is never balanced: sorted keys make it a list.
        interface Node { readonly key: Uint8Array; less?: Node; more?: Node }
        let root: Node | undefined;
        for (const key of keys) {
          let node = root;
          if (node === undefined) root = { key };
          while (node !== undefined) {
            const side: 'less' | 'more' = Buffer.compare(key, node.key) < 0 ? 'less' : 'more';
            if (node[side] === undefined) {
              node[side] = { key };
              break;
            }
            node = node[side];
          }
        }
        super.createFilter(root === undefined ? new KeyBuffer() : keys, dst);
      }
    })(),
  '10'),
  mutant('takes time quadratic in the length of a key', TOO_LONG, () => {
    const hashOf = (key: Uint8Array): number => {
      let h = 0;
      for (let end = 1; end <= key.length; end++) for (let i = 0; i < end; i++) h = (h + key[i]!) | 0;
      return h;
    };
    return new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const sums = Array.from(keys, hashOf);
        super.createFilter(sums.length === -1 ? new KeyBuffer() : keys, dst);
      }
    })();
  }, '10'),
  mutant('takes time exponential in the number of keys', TOO_LONG, () => {
    const subsets = (n: number): number => (n === 0 ? 1 : subsets(n - 1) + subsets(n - 1));
    return new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(subsets(Math.min(keys.length, 60)) < 0 ? new KeyBuffer() : keys, dst);
      }
    })();
  }, '10'),
  mutant('does not return from lists whose keys are all the same', /keys .*did not return within/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const hashes = new Set(Array.from(keys, (key) => bloomHash(key)));
        for (let i = 0; keys.length > 1 && hashes.size === 1; i = (i + 1) % keys.length) if (bloomHash(keys.at(i)) === -1) break;
        super.createFilter(keys, dst);
      }
    })(),
  '10'),
];

testMutants(mutants);
