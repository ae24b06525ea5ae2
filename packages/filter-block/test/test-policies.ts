import { vectors } from '@bloom/fixtures';
import { type FilterPolicy } from '@bloom/policy';

export const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** LevelDB's hash, with seed 1, of the words in its own tests, as measured from LevelDB: key in hex → hash. */
const hashes = new Map(
  vectors()
    .hashes.filter(({ seed }) => seed === 1)
    .map(({ data, hash }) => [hex(data), hash]),
);

function hashOf(key: Uint8Array): number {
  const hash = hashes.get(hex(key));
  if (hash === undefined) throw new Error(`no hash is known of <${hex(key)}>`);
  return hash;
}

/** Four bytes per key: its hash, little-endian. Source: LevelDB, table/filter_block_test.cc, `TestHashFilter`. */
export const testHashPolicy: FilterPolicy = {
  name: 'TestHashFilter',
  createFilter(keys, dst) {
    for (const key of keys) {
      const part = dst.extend(4);
      new DataView(part.buffer, part.byteOffset, part.byteLength).setUint32(0, hashOf(key), true);
    }
  },
  keyMayMatch(key, filter) {
    const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
    for (let at = 0; at + 4 <= filter.length; at += 4) if (view.getUint32(at, true) === hashOf(key)) return true;
    return false;
  },
};

/** The filter lists its keys, each preceded by its length, so it has no false positives. Keys have fewer than 256 bytes. */
export const listPolicy: FilterPolicy = {
  name: 'test.List',
  createFilter(keys, dst) {
    for (const key of keys) dst.extend(key.length + 1).set([key.length, ...key]);
  },
  keyMayMatch(key, filter) {
    const wanted = hex(key);
    for (let at = 0; at < filter.length; at += filter[at]! + 1) {
      if (hex(filter.subarray(at + 1, at + 1 + filter[at]!)) === wanted) return true;
    }
    return false;
  },
};
