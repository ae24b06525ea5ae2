import type { Random } from '@bloom/fixtures';
import { deflateRawSync, deflateSync } from 'node:zlib';
import { BlockWalk } from '../src/format/block-walk.js';
import { type BlockHandle, encodeBlockHandle, readBlockHandle } from '../src/format/block-handle.js';
import type { Codec } from '../src/format/codec.js';
import { maskedCrc32c } from '@bloom/crc32c';
import { decodeFooter, encodeFooter, FOOTER_LENGTH } from '../src/format/footer.js';
import { snappyCodec } from '../src/compression/snappy.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from '../src/format/stored-block.js';
import { VarintReader } from '@bloom/bytes';
import { blockOf } from './assemble-table.js';
import { utf8 } from './entries.js';
import { zlibCodecs } from './zlib-codecs.js';

/** A block as stored in a file, without its checksum. */
export interface StoredPart {
  readonly kind: 'data' | 'meta';
  /** The index key, or the name in the metaindex. */
  readonly key: Uint8Array;
  readonly payload: Uint8Array;
  readonly type: number;
}

/** A table taken apart into blocks, which can be changed and put together again with correct checksums. */
export interface TakenApart {
  readonly parts: readonly StoredPart[];
}

const codecs = new Map([snappyCodec, ...zlibCodecs].map((codec) => [codec.type, codec]));
const decoding = { codecs, maxBlockBytes: 2 ** 28 };

function entriesOf(contents: Uint8Array): [Uint8Array, Uint8Array][] {
  const cursor = new BlockWalk('index block');
  cursor.reset(contents, 0);
  const entries: [Uint8Array, Uint8Array][] = [];
  for (let more = cursor.seekToFirst(); more; more = cursor.next()) entries.push([cursor.key.slice(), cursor.value.slice()]);
  return entries;
}

/** Takes an undamaged table apart. */
export function takeApart(bytes: Uint8Array): TakenApart {
  const offset = bytes.length - FOOTER_LENGTH;
  const { metaindex, index } = decodeFooter(bytes.subarray(offset), { structure: 'footer', offset });
  const stored = (handle: BlockHandle): Uint8Array =>
    bytes.subarray(handle.offset, handle.offset + handle.size + BLOCK_TRAILER_LENGTH);
  const listed = (kind: StoredPart['kind'], handle: BlockHandle): (StoredPart & { readonly at: number })[] =>
    entriesOf(decodeStoredBlock(stored(handle), { structure: 'index block', offset: handle.offset }, decoding)).map(
      ([key, value]) => {
        const part = readBlockHandle(new VarintReader(value))!;
        const block = stored(part);
        return { kind, key, payload: block.subarray(0, part.size), type: block[part.size]!, at: part.offset };
      },
    );
  return { parts: [...listed('meta', metaindex), ...listed('data', index)].sort((a, b) => a.at - b.at) };
}

/** Stored contents and type, followed by a correct checksum. */
export function sealed(payload: Uint8Array, type: number): Uint8Array {
  const block = new Uint8Array(payload.length + BLOCK_TRAILER_LENGTH);
  block.set(payload);
  block[payload.length] = type;
  new DataView(block.buffer).setUint32(payload.length + 1, maskedCrc32c(block.subarray(0, payload.length + 1)), true);
  return block;
}

/** Entries of an index or metaindex, to be changed before they are written. */
type Listing = [key: Uint8Array, value: Uint8Array][];

/** Changes to a file while it is put together. */
export interface Changes {
  readonly listings?: (index: Listing, metaindex: Listing, handles: readonly BlockHandle[]) => void;
  /** Compresses index and metaindex. */
  readonly codec?: Codec | undefined;
  /** Replaces the contents of index and metaindex that were made of the listings. */
  readonly blocks?: (index: Uint8Array, metaindex: Uint8Array) => { index: Uint8Array; metaindex: Uint8Array };
  readonly footer?: (handles: { metaindex: BlockHandle; index: BlockHandle }, all: readonly BlockHandle[]) => {
    metaindex: BlockHandle;
    index: BlockHandle;
  };
}

/** Puts a table together with correct checksums. */
export function putTogether(parts: readonly StoredPart[], changes: Changes = {}): Uint8Array {
  const blocks: Uint8Array[] = [];
  let length = 0;
  const append = (payload: Uint8Array, type: number): BlockHandle => {
    blocks.push(sealed(payload, type));
    const handle = { offset: length, size: payload.length };
    length += payload.length + BLOCK_TRAILER_LENGTH;
    return handle;
  };
  const index: Listing = [];
  const metaindex: Listing = [];
  const handles: BlockHandle[] = [];
  for (const { kind, key, payload, type } of parts) {
    const handle = append(payload, type);
    handles.push(handle);
    (kind === 'data' ? index : metaindex).push([key, encodeBlockHandle(handle)]);
  }
  changes.listings?.(index, metaindex, handles);
  let contents = { index: blockOf(index), metaindex: blockOf(metaindex) };
  contents = changes.blocks?.(contents.index, contents.metaindex) ?? contents;
  const { codec } = changes;
  const appendContents = (own: Uint8Array): BlockHandle => (codec === undefined ? append(own, 0) : append(codec.compress!(own), codec.type));
  let footer = { metaindex: appendContents(contents.metaindex), index: appendContents(contents.index) };
  footer = changes.footer?.(footer, [...handles, footer.metaindex, footer.index]) ?? footer;
  blocks.push(encodeFooter(footer));
  const file = new Uint8Array(length + FOOTER_LENGTH);
  let position = 0;
  for (const block of blocks) {
    file.set(block, position);
    position += block.length;
  }
  return file;
}

/** A Snappy stream: the length that it claims, one literal byte, and copies of that byte. */
export function snappyBomb(byteLength: number, claimed = byteLength): Uint8Array {
  const bytes: number[] = [];
  for (let rest = claimed; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest < 128 ? rest : (rest % 128) | 0x80);
    if (rest < 128) break;
  }
  bytes.push(0x00, 0x61);
  for (let left = byteLength - 1; left > 0; left -= 64) bytes.push(((Math.min(left, 64) - 1) << 2) | 2, 1, 0);
  return Uint8Array.from(bytes);
}

const zeros = new Uint8Array(2 ** 21);
/** Small blocks that expand to 2 MiB or more. */
const bombs: readonly (readonly [payload: Uint8Array, type: number])[] = [
  [new Uint8Array(deflateSync(zeros, { level: 9 })), 2],
  [new Uint8Array(deflateRawSync(zeros, { level: 9 })), 4],
  [snappyBomb(2 ** 21), 1],
  [snappyBomb(100, 2 ** 32 - 1), 1],
];

function pickInt(random: Random): number {
  return random.pick([0, 1, 4, 0x7f, 0x80, 0xff, 0xffff, 2 ** 31, 2 ** 32 - 1, random.below(5000)]);
}

function changedBytes(random: Random, bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice();
  const times = 1 + random.below(3);
  for (let i = 0; i < times && changed.length > 0; i++) {
    const tail = Math.min(changed.length, 40);
    const at = random.below(2) === 0 ? changed.length - 1 - random.below(tail) : random.below(changed.length);
    changed[at] = random.pick([0x00, 0x7f, 0x80, 0xff, changed[at]! ^ (1 << random.below(8)), random.below(256)]);
  }
  return changed;
}

/** Contents that may still be a valid block, with wrong entries. */
function changedContents(random: Random, contents: Uint8Array): Uint8Array {
  switch (random.below(6)) {
    case 0:
      return contents.subarray(0, random.below(contents.length + 1));
    case 1:
      return new Uint8Array(Buffer.concat([contents, random.bytes(1 + random.below(12))]));
    case 2: {
      // A restart, or their number.
      const changed = contents.slice();
      const words = Math.floor(contents.length / 4);
      if (words === 0) return changed;
      const word = Math.min(words, 1 + random.below(6));
      new DataView(changed.buffer).setUint32(changed.length - 4 * word, pickInt(random), true);
      return changed;
    }
    case 3:
      return random.bytes(random.below(60));
    default:
      return changedBytes(random, contents);
  }
}

function changedHandle(random: Random, handles: readonly BlockHandle[], value: Uint8Array): Uint8Array {
  const handle = readBlockHandle(new VarintReader(value)) ?? { offset: 0, size: 0 };
  switch (random.below(8)) {
    case 0:
      return random.bytes(random.below(22));
    case 1:
      return value.subarray(0, random.below(value.length + 1));
    case 2:
      return encodeBlockHandle({ offset: handle.offset, size: handle.size + 1 + random.below(300) });
    case 3:
      return encodeBlockHandle({ offset: random.pick([2 ** 31, 2 ** 40, 2 ** 53 - 1]), size: pickInt(random) });
    case 4:
      return encodeBlockHandle({ offset: handle.offset, size: random.pick([2 ** 31, 2 ** 32, 2 ** 52]) });
    case 5:
      return Uint8Array.of(...value, ...random.bytes(10));
    default:
      return handles.length === 0 ? value : encodeBlockHandle(random.pick(handles));
  }
}

function withPart(parts: readonly StoredPart[], i: number, part: Partial<StoredPart>): StoredPart[] {
  return parts.map((other, j) => (i === j ? { ...other, ...part } : other));
}

function contentsOf({ payload, type }: StoredPart): Uint8Array {
  return type === 0 ? payload : codecs.get(type)!.decompress(payload, 2 ** 28);
}

/** Kinds of damage that checksums detect. */
const damages: Readonly<Record<string, (random: Random, bytes: Uint8Array, other: Uint8Array) => Uint8Array>> = {
  'flipped bits'(random, bytes) {
    const damaged = bytes.slice();
    for (let i = 1 + random.below(4); i > 0; i--) {
      const start = random.below(2) === 0 ? 0 : Math.max(0, bytes.length - 300);
      damaged[start + random.below(bytes.length - start)]! ^= 1 << random.below(8);
    }
    return damaged;
  },
  'cut end': (random, bytes) => bytes.slice(0, random.below(bytes.length)),
  'cut start': (random, bytes) => bytes.slice(1 + random.below(bytes.length - 1)),
  'cut out'(random, bytes) {
    const start = random.below(bytes.length);
    return new Uint8Array(Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 1 + random.below(500))]));
  },
  'put in'(random, bytes) {
    const at = random.below(bytes.length + 1);
    return new Uint8Array(Buffer.concat([bytes.subarray(0, at), random.bytes(1 + random.below(200)), bytes.subarray(at)]));
  },
  overwritten(random, bytes) {
    const damaged = bytes.slice();
    const start = random.below(bytes.length);
    const end = Math.min(bytes.length, start + 1 + random.below(600));
    if (random.below(2) === 0) damaged.fill(0, start, end);
    else damaged.set(random.bytes(end - start), start);
    return damaged;
  },
  'part of another table'(random, bytes, other) {
    const damaged = bytes.slice();
    const length = 1 + random.below(Math.min(bytes.length, other.length, 4000));
    const from = random.below(other.length - length + 1);
    damaged.set(other.subarray(from, from + length), random.below(bytes.length - length + 1));
    return damaged;
  },
  'another footer': (_, bytes, other) =>
    new Uint8Array(Buffer.concat([bytes.subarray(0, bytes.length - FOOTER_LENGTH), other.subarray(other.length - FOOTER_LENGTH)])),
};

/** Kinds of damage with correct checksums. */
const lies: Readonly<Record<string, (random: Random, table: TakenApart) => Uint8Array>> = {
  'contents of a block'(random, { parts }) {
    if (parts.length === 0) return putTogether(parts);
    const i = random.below(parts.length);
    return putTogether(withPart(parts, i, { payload: changedContents(random, contentsOf(parts[i]!)), type: 0 }));
  },
  'contents of the filter'(random, { parts }) {
    const i = parts.findIndex(({ kind }) => kind === 'meta');
    if (i < 0) return putTogether(parts);
    return putTogether(withPart(parts, i, { payload: changedContents(random, contentsOf(parts[i]!)), type: 0 }));
  },
  'compressed contents'(random, { parts }) {
    if (parts.length === 0) return putTogether(parts);
    const i = random.below(parts.length);
    const part = parts[i]!;
    const codec = random.pick([snappyCodec, ...zlibCodecs]);
    const [payload, type] = part.type === 0 ? [codec.compress!(part.payload), codec.type] : [part.payload, part.type];
    const changed = random.below(4) === 0 ? payload.subarray(0, random.below(payload.length + 1)) : changedBytes(random, payload);
    return putTogether(withPart(parts, i, { payload: changed, type }));
  },
  'compression type'(random, { parts }) {
    if (parts.length === 0) return putTogether(parts);
    return putTogether(withPart(parts, random.below(parts.length), { type: random.pick([0, 1, 2, 3, 4, 5, 7, 255]) }));
  },
  bomb(random, { parts }) {
    if (parts.length === 0) return putTogether(parts);
    const [payload, type] = random.pick(bombs);
    return putTogether(withPart(parts, random.below(parts.length), { payload, type }));
  },
  'index or metaindex'(random, { parts }) {
    const blocks: Changes['blocks'] = (index, metaindex) =>
      random.below(3) > 0
        ? { index: changedContents(random, index), metaindex }
        : { index, metaindex: changedContents(random, metaindex) };
    return putTogether(parts, { blocks });
  },
  handles(random, { parts }) {
    return putTogether(parts, {
      listings(index, metaindex, handles) {
        for (let i = 1 + random.below(2); i > 0; i--) {
          const listing = metaindex.length > 0 && random.below(3) === 0 ? metaindex : index;
          if (listing.length === 0) continue;
          const entry = random.pick(listing);
          entry[1] = changedHandle(random, handles, entry[1]);
        }
      },
    });
  },
  'an index that loops'(random, { parts }) {
    return putTogether(parts, {
      listings(index, _, handles) {
        if (handles.length === 0) return;
        const value = encodeBlockHandle(random.pick(handles));
        for (const entry of index) if (random.below(3) > 0) entry[1] = value;
      },
    });
  },
  'order of the index'(random, { parts }) {
    return putTogether(parts, {
      listings(index) {
        if (index.length === 0) return;
        switch (random.below(5)) {
          case 0:
            random.shuffle(index);
            break;
          case 1:
            index.splice(random.below(index.length), 1);
            break;
          case 2:
            index.splice(random.below(index.length), 0, [...random.pick(index)]);
            break;
          case 3:
            random.pick(index)[0] = random.bytes(random.below(12));
            break;
          default: {
            const entry = random.pick(index);
            entry[0] = changedBytes(random, entry[0]);
          }
        }
      },
    });
  },
  'names in the metaindex'(random, { parts }) {
    const name = utf8('filter.leveldb.BuiltinBloomFilter2');
    return putTogether(parts, {
      listings(_, metaindex, handles) {
        const value = (): Uint8Array => (handles.length === 0 ? Uint8Array.of(0, 0) : encodeBlockHandle(random.pick(handles)));
        switch (random.below(4)) {
          case 0:
            metaindex.unshift([name, value()]);
            break;
          case 1:
            metaindex.push([name, value()]);
            break;
          case 2:
            for (const entry of metaindex) entry[0] = random.pick([name, utf8('fullfilter.x'), utf8('rocksdb.properties')]);
            break;
          default:
            metaindex.push([utf8('filter.other.Policy'), value()], [random.bytes(3), random.bytes(3)]);
        }
      },
    });
  },
  footer(random, { parts }) {
    return putTogether(parts, {
      footer: ({ metaindex, index }, all) => {
        const other = (handle: BlockHandle): BlockHandle =>
          random.pick([random.pick(all), handle, { offset: handle.offset, size: pickInt(random) }, { offset: 2 ** 40, size: 5 }]);
        return random.below(2) === 0 ? { metaindex: other(metaindex), index } : { metaindex, index: other(index) };
      },
    });
  },
};

/** The names of all kinds of damage. */
export const damageKinds: readonly string[] = [...Object.keys(damages), ...Object.keys(lies)];

/** A table, damaged. */
export interface Damaged {
  readonly kind: string;
  /** Whether the damage has correct checksums, so that entries may differ from those that were written. */
  readonly isSealed: boolean;
  readonly bytes: Uint8Array;
}

/** Damages a table in a random way. */
export function damage(random: Random, bytes: Uint8Array, table: TakenApart, other: Uint8Array): Damaged {
  const kind = random.pick(damageKinds);
  const raw = damages[kind];
  // A part of another table can be a whole block with a correct checksum.
  if (raw !== undefined) return { kind, isSealed: kind === 'part of another table', bytes: raw(random, bytes, other) };
  const lied = lies[kind]!(random, table);
  // Some are damaged a second time.
  const isFlipped = random.below(10) === 0;
  return { kind, isSealed: true, bytes: isFlipped ? damages['flipped bits']!(random, lied, other) : lied };
}
