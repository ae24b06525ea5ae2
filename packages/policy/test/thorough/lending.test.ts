import { type FilterPolicy, type FilterSink, KeyBuffer, type KeyList } from '@bloom/policy';
import { bloomHash } from '@bloom/hash';
import { bloomOf, type Mutant, Right, RightList, testMutants } from './right-policy.js';

function mutant(law: string, fault: string, says: RegExp, make: () => FilterPolicy): Mutant {
  return { fault, law, says, make: () => make };
}

/** A correct policy, except that it does something to the list or the sink. */
function firstDoing(law: string, fault: string, says: RegExp, act: (keys: KeyList, dst: FilterSink) => void): Mutant {
  return mutant(law, fault, says, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const filter = bloomOf(keys);
        act(keys, dst);
        dst.extend(filter.length).set(filter);
      }
    })(),
  );
}

/** A correct policy, except that it does something to the key or the filter. */
function whenAsked(law: string, fault: string, says: RegExp, act: (key: Uint8Array, filter: Uint8Array, answer: boolean) => void): Mutant {
  return mutant(law, fault, says, () =>
    new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        const answer = super.keyMayMatch(key, filter);
        act(key, filter, answer);
        return answer;
      }
    })(),
  );
}

const mutants: Mutant[] = [
  firstDoing('5', 'sorts the bytes of its keys', /createFilter changed the keys' bytes/, (keys) => {
    for (const key of keys) key.sort();
  }),
  firstDoing('5', 'clears long keys', /createFilter changed the keys' bytes/, (keys) => {
    for (const key of keys) if (key.length > 1000) key.fill(0);
  }),
  firstDoing('5', 'reverses lists of more than 10,000 keys', /createFilter changed the keys' bytes/, (keys) => {
    if (keys.length > 10_000) keys.bytes.reverse();
  }),
  firstDoing('5', 'turns offsets into lengths', /createFilter changed the keys' offsets/, ({ offsets, length }) => {
    for (let i = length; i > 0; i--) offsets[i]! -= offsets[i - 1]!;
  }),
  firstDoing('5', 'pads the last key', /createFilter changed the keys' bytes/, ({ bytes, offsets, length }) => {
    bytes.fill(0, offsets[length], offsets[length]! + 3);
  }),
  firstDoing('5', 'writes before the list', /createFilter changed the keys' bytes/, ({ bytes }) => {
    new Uint8Array(bytes.buffer)[0]! ^= 1;
  }),
  firstDoing('5', 'empties the list', /createFilter changed the list's own members/, (keys) => {
    (keys as { length: number }).length = 0;
  }),
  whenAsked('5', 'clears an absent key', /keyMayMatch changed the key/, (key, _, answer) => {
    if (!answer) key.fill(0);
  }),
  {
    ...whenAsked('5', 'sorts what should be a copy of the key', /keyMayMatch changed the key .* when lent in an array whose slices share its memory/, (key) => {
      key.slice().sort();
    }),
    options: { lendBuffers: true },
  },
  whenAsked('5', 'sets the last byte of a filter that matches', /keyMayMatch changed the filter/, (_, filter, answer) => {
    if (answer && filter.length > 20) filter[filter.length - 1] = 6 ^ 1;
  }),
  whenAsked('5', 'changes the byte after a filter', /keyMayMatch changed bytes around/, (_, filter) => {
    const whole = new Uint8Array(filter.buffer);
    const behind = filter.byteOffset + filter.length;
    if (behind < whole.length) whole[behind]! ^= 1;
  }),
  whenAsked('5', "stores the hash as a property of the key's array", /added a property to the key's array/, (key) => {
    (key as Uint8Array & { hash?: number }).hash = 1;
  }),
  mutant('5', "stores what follows a header of 24 bytes as a property of the filter's array", /added a property to the filter's array/, () => {
    type Parsed = Uint8Array & { parsed?: Uint8Array };
    return new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        dst.extend(24).fill(0);
        super.createFilter(keys, dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Parsed): boolean {
        return filter.length < 24 || super.keyMayMatch(key, (filter.parsed ??= filter.subarray(24)));
      }
    })();
  }),
  ...[24, 48, 63, 300].map((least) =>
    whenAsked('5', `stores the hash of keys of ${least} bytes or more as a property of their arrays`, /added a property to the key's array/, (key) => {
      if (key.length >= least) (key as Uint8Array & { hash?: number }).hash = 1;
    }),
  ),
  whenAsked('5', 'counts the matches of long filters in a property of their arrays', /added a property to the filter's array/, (_, filter, answer) => {
    if (answer && filter.length > 40) (filter as Uint8Array & { matches?: number }).matches = 1;
  }),
  mutant('6', 'extends the sink of an earlier call', /createFilter extends a sink that was lent to an earlier call/, () => {
    let last: FilterSink | undefined;
    return new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        last = dst;
        super.createFilter(keys, dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        last?.extend(1);
        return super.keyMayMatch(key, filter);
      }
    })();
  }),
  mutant('6', 'writes to its part in keyMayMatch', /the policy writes to a part that was lent to an earlier call/, () => {
    let part: Uint8Array | undefined;
    return new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(keys, { extend: (byteLength) => (part = dst.extend(byteLength)) });
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        part?.fill(1);
        return super.keyMayMatch(key, filter);
      }
    })();
  }),
  mutant('6', 'keeps the filter that it was lent', /in arrays that held others before|answers differently/, () => {
    let kept: Uint8Array | undefined;
    return new (class extends Right {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        kept = kept?.length === filter.length ? kept : filter;
        return super.keyMayMatch(key, kept);
      }
    })();
  }),
  mutant('1', 'is asynchronous', /returns a promise/, () =>
    new (class extends Right {
      // eslint-disable-next-line @typescript-eslint/no-misused-promises -- the fault
      override async createFilter(keys: KeyList, dst: FilterSink): Promise<void> {
        await Promise.resolve();
        super.createFilter(keys, dst);
      }
    })(),
  ),
  firstDoing('7', 'writes before its part', /outside the part/, (_, dst) => {
    const part = dst.extend(1);
    new Uint8Array(part.buffer)[part.byteOffset - 1]! ^= 1;
  }),
  mutant('7', 'assumes that parts are adjacent', /outside the part/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const filter = bloomOf(keys);
        const part = dst.extend(filter.length >> 1);
        dst.extend(filter.length - part.length);
        new Uint8Array(part.buffer).set(filter, part.byteOffset);
      }
    })(),
  ),
  mutant('7', 'makes no filter of empty keys', /no byte for [0-9]+ keys?/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        if (keys.offsets[keys.length] !== keys.offsets[0]) super.createFilter(keys, dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return filter.length === 0 || super.keyMayMatch(key, filter);
      }
    })(),
  ),
  mutant('7', 'makes no filter of very many keys', /no byte for 70000 keys/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        if (keys.length < 66_000) super.createFilter(keys, dst);
      }
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return filter.length === 0 || super.keyMayMatch(key, filter);
      }
    })(),
  ),
  mutant('7', 'changes the previous filter', /lent to an earlier call|outside the part/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(keys, {
          extend: (byteLength) => {
            const part = dst.extend(byteLength);
            const before = new Uint8Array(part.buffer, 0, part.byteOffset);
            if (before.length > 40) before[20]! ^= 0xff;
            return part;
          },
        });
      }
    })(),
  ),
  // These lose only keys of one kind.
  mutant('1', 'loses keys with a high first byte', /was added and does not match/, () =>
    new (class extends RightList {
      override keyMayMatch(key: Uint8Array, filter: Uint8Array): boolean {
        return key[0]! < 0xf0 && super.keyMayMatch(key, filter);
      }
    })(),
  ),
  mutant('1', 'cuts keys off at a zero byte', /was added and does not match/, () =>
    new (class extends RightList {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from(Array.from(keys, (key) => key.subarray(0, (key.indexOf(0) + 1 || key.length + 1) - 1))), dst);
      }
    })(),
  ),
  mutant('1', 'loses the empty key', /<> was added and does not match/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from([...keys].filter((key) => key.length > 0)), dst);
      }
    })(),
  ),
  mutant('1', 'stores keys as UTF-8, which not all are', /was added and does not match/, () =>
    new (class extends RightList {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        super.createFilter(KeyBuffer.from(Array.from(keys, (key) => new TextEncoder().encode(new TextDecoder().decode(key)))), dst);
      }
    })(),
  ),
  mutant('1', 'loses a byte order mark', /was added and does not match/, () =>
    new (class extends RightList {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const unmarked = (key: Uint8Array): Uint8Array => (key[0] === 0xef && key[1] === 0xbb && key[2] === 0xbf ? key.subarray(3) : key);
        super.createFilter(KeyBuffer.from(Array.from(keys, unmarked)), dst);
      }
    })(),
  ),
  mutant('1', 'loses all but one of the keys whose hashes agree in 16 bits', /was added and does not match/, () =>
    new (class extends RightList {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const once = new Map(Array.from(keys, (key) => [bloomHash(key) & 0xffff, key.slice()]));
        super.createFilter(KeyBuffer.from(once.values()), dst);
      }
    })(),
  ),
  mutant('1', 'loses keys that were added three times', /was added and does not match/, () =>
    new (class extends Right {
      override createFilter(keys: KeyList, dst: FilterSink): void {
        const counts = new Map<number, number>();
        for (const key of keys) counts.set(bloomHash(key), (counts.get(bloomHash(key)) ?? 0) + 1);
        super.createFilter(KeyBuffer.from([...keys].filter((key) => counts.get(bloomHash(key))! < 3)), dst);
      }
    })(),
  ),
];

testMutants(mutants);
