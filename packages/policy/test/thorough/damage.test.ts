import { type FilterSink, KeyBuffer, type KeyList } from '@bloom/policy';
import { bloomHash } from '@bloom/hash';
import { hex, type Mutant, Right, RightList, testMutants, viewOf } from './right-policy.js';

/** The filter lists the keys, cut to 255 bytes, each after its length. */
class ShortList extends Right {
  override createFilter(keys: KeyList, dst: FilterSink): void {
    for (const key of keys) {
      const part = dst.extend(1 + Math.min(key.length, 255));
      part[0] = Math.min(key.length, 255);
      part.set(key.subarray(0, 255), 1);
    }
  }
}

function mutant(law: string, fault: string, says: RegExp, make: () => Right | RightList): Mutant {
  return { fault, law, says, make: () => make };
}

/** A correct policy, except where `strange` returns an answer of its own. */
function unless(law: string, fault: string, says: RegExp, strange: (key: Uint8Array, filter: Uint8Array) => unknown): Mutant {
  return mutant(law, fault, says, () =>
    new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        const answer = strange(key, filter);
        return answer === undefined ? super.keyMayMatch(key, filter) : (answer as boolean);
      }
    })(),
  );
}

const endless = /keyMayMatch\(<.*>, <.*>\) did not return within [0-9]+ ms/;
const slow = /keyMayMatch\(<.*>, <.*>\) takes [0-9]+ ms|did not return within/;

const mutants: Mutant[] = [
  mutant('2', 'advances by lengths in a damaged filter, even by zero', endless, () =>
    new (class extends ShortList {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        for (let at = 0; at < filter.length; at += filter[at]! + 1 === 1 ? 0 : filter[at]! + 1) {
          if (hex(filter.subarray(at + 1, at + 1 + filter[at]!)) === hex(key.subarray(0, 255))) return true;
        }
        return false;
      }
    })(),
  ),
  mutant('10', 'goes back by negative lengths in a damaged filter', endless, () =>
    new (class extends RightList {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        const view = viewOf(filter);
        let at = 0;
        while (at >= 0 && at + 4 <= filter.length) {
          const length = view.getInt32(at);
          if (length >= 0 && Buffer.compare(key, filter.subarray(at + 4, at + 4 + length)) === 0) return true;
          at += 4 + length;
        }
        return at !== filter.length;
      }
    })(),
  ),
  unless('10', 'does not return from an empty filter', endless, (_, filter) => {
    for (let bit = 1; filter.length === 0 && bit % 8 !== 0; ) bit += 8;
    return undefined;
  }),
  unless('2', 'does not return from an empty filter for a long key', endless, (key, filter) => {
    for (let bit = 1; filter.length === 0 && key.length > 1000 && bit % 8 !== 0; ) bit += 8;
    return undefined;
  }),
  unless('2', 'catches every exception inside its endless loop', endless, (_, filter) => {
    while (filter.length === 0) {
      try {
        JSON.parse('{');
      } catch {
        continue;
      }
    }
    return undefined;
  }),
  unless('10', 'takes the number of probes from a damaged filter', slow, (_, filter) => {
    if (filter.length < 4) return undefined;
    let h = 0;
    for (let probes = viewOf(filter).getUint32(0); probes > 0xffff; probes--) h = (h + filter[h % filter.length]!) | 0;
    return h === -1 ? true : undefined;
  }),
  unless('10', 'takes the number of probes from three bytes of a damaged filter', slow, (key, filter) => {
    if (filter.length < 4 || filter.length > 1000) return undefined;
    let found = 0;
    for (let probes = viewOf(filter).getUint32(0) >>> 8; probes > 0xfff; probes--) found += Math.sqrt(probes + filter[probes % filter.length]! + key.length) > 1e6 ? 1 : 0;
    return found > 0 ? true : undefined;
  }),
  mutant('10', 'follows a cycle of links in a damaged filter', endless, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        for (let i = 0; i <= Math.min(keys.length, 254); i++) dst.extend(1)[0] = i + 1;
        super.createFilter(keys, dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        let at = 0;
        while (at < filter.length && filter[at]! < filter.length) {
          at = filter[at]!;
          if (at >= 255 || at === 0) break;
          if (filter[at] === at + 1) continue;
          if (filter[at]! > at) break;
        }
        return at >= 0 || key.length > 0;
      }
    })(),
  ),
  mutant('10', 'walks a damaged filter as a tree of unbounded depth', slow, () => {
    const walk = (filter: Uint8Array, depth: number, i: number): number =>
      depth === 0 ? filter[i % filter.length]! : walk(filter, depth - 1, 2 * i + 1) + walk(filter, depth - 1, 2 * i + 2);
    return new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        if (filter.length > 1 && filter[0]! > 24 && walk(filter, Math.min(40, filter[0]!), 0) === -1) return false;
        return super.keyMayMatch(key, filter);
      }
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(keys, dst);
      }
    })();
  }),
  unless('10', 'reads a damaged filter once for each of its bytes', slow, (_, filter) => {
    if (filter.length < 2 || filter.at(-1)! <= 30) return undefined;
    let sum = 0;
    for (let i = 0; i < filter.length; i++) for (let j = 0; j < filter.length; j++) sum = (sum + filter[j]!) | 0;
    return sum === -1 ? false : undefined;
  }),
  unless('2', 'calls itself for each byte of a filter', /throws RangeError: Maximum call stack/, (_, filter) => {
    const sum = (i: number): number => (i >= filter.length ? 0 : (filter[i]! + sum(i + 1)) | 0);
    return sum(0) === -1 ? false : undefined;
  }),
  unless('2', 'throws on a filter of the wrong length', /throws RangeError/, (_, filter) => {
    if (filter.length > 100 && filter.length % 2 === 1 && filter[0] === 0xff) throw new RangeError('odd');
    return undefined;
  }),
  unless('2', 'throws on a reserved number of probes', /throws Error: reserved/, (_, filter) => {
    if (filter.length > 1 && filter.at(-1)! > 0x7f) throw new Error('reserved');
    return undefined;
  }),
  unless('2', 'throws on one value of one byte', /throws Error: 80/, (_, filter) => {
    if (filter.length > 8 && filter[5] === 0x80 && filter[6] !== 0x80) throw new Error('80');
    return undefined;
  }),
  unless('2', 'throws for a long key and a damaged filter', /throws Error: too long/, (key, filter) => {
    if (key.length > 100_000 && filter.at(-1)! > 30) throw new Error('too long');
    return undefined;
  }),
  unless('2', 'throws a value that is not an Error', /throws nothing/, (_, filter) => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- the fault
    if (filter.length === 1) throw 'nothing';
    return undefined;
  }),
  unless('2', 'returns null for an empty filter', /returns null/, (_, filter) => (filter.length === 0 ? null : undefined)),
  unless('2', 'returns a promise', /returns \[object Promise\]/, () => Promise.resolve(true)),
  unless('2', 'allocates a length that it reads from a damaged filter', /throws RangeError: Invalid|throws RangeError: Array|did not return/, (_, filter) => {
    if (filter.length < 8) return undefined;
    return new Array(viewOf(filter).getUint32(filter.length - 4) * 2).length < 0 ? true : undefined;
  }),
  mutant('2', 'decodes a damaged filter with a fatal TextDecoder', /throws TypeError/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const text = Buffer.from(`[${Array.from(keys, (key) => bloomHash(key)).join()}]`);
        dst.extend(text.length).set(text);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(filter);
        return text === '' || text.includes(String(bloomHash(key)));
      }
    })(),
  ),
  mutant('2', 'decodes a damaged filter as JSON', /throws SyntaxError/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const text = Buffer.from(JSON.stringify(Array.from(keys, (key) => bloomHash(key))));
        dst.extend(text.length).set(text);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return (JSON.parse(Buffer.from(filter).toString()) as number[]).includes(bloomHash(key));
      }
    })(),
  ),
  mutant('10', 'does not return from a list without keys', /createFilter with 0 keys .* did not return within/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        let i = 0;
        do i++;
        while (i !== keys.length && i > -1);
        super.createFilter(KeyBuffer.from(keys), dst);
      }
    })(),
  ),
];

testMutants(mutants);
