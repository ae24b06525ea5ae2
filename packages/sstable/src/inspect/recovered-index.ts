import { type Structure, VarintReader } from '@bloom/bytes';
import { BloomFilterPolicy } from '@bloom/policy';
import { type BlockHandle, readBlockHandle } from '../format/block-handle.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock, storedEnd } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { BlockList } from './block-list.js';
import { isBlock, shapesOf, WINDOW_BYTES } from './block-scan.js';
import { checksumPairs } from './checksum-search.js';
import { findingOf } from './finding.js';
import type { StoredBlocks } from './stored-blocks.js';

/** What was found at the end of a file whose footer does not lead to an index. */
export interface RecoveredTail {
  /** The data blocks that an index lists; undefined when no index was found. */
  readonly dataBlocks: BlockList | undefined;
  /** The metaindex, and the blocks that it lists. */
  readonly metaBlocks: BlockList;
}

/** How many of the last blocks to inspect: RocksDB has some between the index and the end. */
const MAX_BLOCKS = 8;
/** The most bytes of blocks to read to find out whether handles are right. */
const MAX_PROBED_BYTES = 2 ** 23;
/** The most names of a metaindex that is recognized without a footer: those of RocksDB and Pebble have about ten. */
const MAX_META_BLOCKS = 64;
/** What the names in a metaindex begin with. */
const META_NAMES = /^(filter|fullfilter|partitionedfilter|rocksdb)\./;

/** Searches the end of a file for the index, which is there in all tables, by means of its checksum and contents. */
export async function recoverTail(stored: StoredBlocks): Promise<RecoveredTail> {
  const { byteLength } = stored.source;
  const walk = new WholeBlockWalk('index block');
  // Ever more of the end of the file, until a block is found.
  for (const length of WINDOW_BYTES) {
    const start = Math.max(0, byteLength - length);
    const bytes = await stored.bytes(start, byteLength - start);
    const pairs = await checksumPairs(bytes, shapesOf(stored), () => stored.pause());
    let end = bytes.length;
    let found = 0;
    const metaBlocks = new BlockList();
    for (let k = (pairs?.length ?? 0) - 1; k >= 0 && found < MAX_BLOCKS; k--) {
      const [from, typeAt] = [pairs!.starts[k]!, pairs!.typesAt[k]!];
      if (typeAt + BLOCK_TRAILER_LENGTH > end) continue;
      const handle: BlockHandle = { offset: start + from, size: typeAt - from };
      const contents = decoded(stored, bytes.subarray(from, typeAt + BLOCK_TRAILER_LENGTH));
      if (contents === undefined || !isBlock(walk, contents)) continue;
      found++;
      end = from;
      const listed = await metaBlocksOf(stored, contents, handle);
      if (listed !== undefined) {
        metaBlocks.push(handle);
        for (let i = 0; i < listed.length; i++) metaBlocks.push(listed.at(i));
        continue;
      }
      const handles = handlesOf(contents);
      if (handles !== undefined && (await leadsToBlocks(stored, handles))) {
        return { dataBlocks: handles, metaBlocks };
      }
    }
    if (found > 0 || start === 0) return { dataBlocks: undefined, metaBlocks };
  }
  return { dataBlocks: undefined, metaBlocks: new BlockList() };
}

/**
 * The blocks that a metaindex lists, as far as they were found; undefined for any other block. Entries of a data block can look like those of a
 * metaindex, so one of three things must be true: it has the name of LevelDB's filter, a listed block was found, or the last listed block ends
 * where the metaindex starts.
 */
export async function metaBlocksOf(stored: StoredBlocks, contents: Uint8Array, { offset }: BlockHandle): Promise<BlockList | undefined> {
  const listed = metaHandlesOf(contents);
  if (listed === undefined) return undefined;
  const { handles, isNamed } = listed;
  const found = new BlockList();
  // These blocks end where the metaindex starts. If bytes before them are missing, all of them are nearer the start.
  for (const shift of new Set([0, offset - handles.end])) {
    if (handles.end + shift > offset) continue;
    for (let i = 0; i < handles.length; i++) {
      const handle = { offset: handles.offsetOf(i) + shift, size: handles.sizeOf(i) };
      if (await leadsToBlock(stored, handle)) found.push(handle);
    }
  }
  return isNamed || found.length > 0 || handles.end === offset ? found : undefined;
}

function decoded(stored: StoredBlocks, bytes: Uint8Array): Uint8Array | undefined {
  try {
    return decodeStoredBlock(bytes, { structure: 'index block', offset: 0 }, stored.decoding);
  } catch (error) {
    findingOf(error);
    return undefined;
  }
}

/**
 * The handles of a block that may be an index: all of its values are handles, followed at most by zeros, of blocks in
 * ascending order that do not overlap. Undefined for any other block, and for an empty one.
 */
export function handlesOf(contents: Uint8Array): BlockList | undefined {
  const handles = new BlockList();
  const isIndex = everyEntry('index block', contents, (walk) => {
    const handle = readWholeHandle(walk.value);
    if (handle === undefined || handle.offset < handles.end) return false;
    handles.push(handle);
    return true;
  });
  return isIndex && handles.length > 0 ? handles : undefined;
}

/** The handle in a whole value, which the Java port pads with zeros; undefined if there is anything else. */
function readWholeHandle(value: Uint8Array): BlockHandle | undefined {
  const reader = new VarintReader(value);
  const handle = readBlockHandle(reader);
  return value.subarray(reader.position).every((byte) => byte === 0) ? handle : undefined;
}

/** Whether `holds` is true of all entries of a block, all of which can be read. Stops at the first of which it is false. */
function everyEntry(structure: Structure, contents: Uint8Array, holds: (walk: WholeBlockWalk) => boolean): boolean {
  const walk = new WholeBlockWalk(structure);
  try {
    walk.reset(contents, 0);
    for (let more = walk.seekToFirst(); more; more = walk.next()) if (!holds(walk)) return false;
    return true;
  } catch (error) {
    findingOf(error);
    return false;
  }
}

/** Whether a metaindex may have an entry of this name. */
export function isMetaName(name: string): boolean {
  return META_NAMES.test(name);
}

/**
 * The handles of a block that may be a metaindex, in file order: it has a few known names, with handles of blocks that do not overlap.
 * Undefined for any other block, and for an empty one.
 */
function metaHandlesOf(contents: Uint8Array): { readonly handles: BlockList; readonly isNamed: boolean } | undefined {
  const handles: BlockHandle[] = [];
  // No data is likely to have the name of LevelDB's filter as a key.
  const bloomName = `filter.${new BloomFilterPolicy().name}`;
  let isNamed = false;
  const isWhole = everyEntry('metaindex block', contents, (walk) => {
    // Names are short, but a key of a data block need not be.
    const name = String.fromCharCode(...walk.key.subarray(0, 64));
    if (handles.length === MAX_META_BLOCKS || !isMetaName(name)) return false;
    isNamed ||= name === bloomName;
    const handle = readWholeHandle(walk.value);
    if (handle !== undefined) handles.push(handle);
    return handle !== undefined;
  });
  if (!isWhole || handles.length === 0) return undefined;
  const inOrder = new BlockList();
  for (const handle of handles.sort((a, b) => a.offset - b.offset)) {
    if (handle.offset < inOrder.end) return undefined;
    inOrder.push(handle);
  }
  return { handles: inOrder, isNamed };
}

/** Whether a block has no entries. */
export function isEmptyBlock(contents: Uint8Array): boolean {
  return everyEntry('metaindex block', contents, () => false);
}

/** Two names that are in every properties block of RocksDB and Pebble. Its other names can be anything. */
const PROPERTIES = ['rocksdb.data.size', 'rocksdb.num.entries'];

/** Whether a block is the properties block of RocksDB or Pebble. */
export function isProperties(contents: Uint8Array): boolean {
  let found = 0;
  everyEntry('meta block', contents, (walk) => {
    const name = PROPERTIES[found]!;
    if (walk.keyLength === name.length && String.fromCharCode(...walk.key) === name) found++;
    return found < PROPERTIES.length;
  });
  return found === PROPERTIES.length;
}

/** Whether one of the first handles leads to a block with a right checksum. By chance, one in four billion would. */
export async function leadsToBlocks(stored: StoredBlocks, handles: BlockList): Promise<boolean> {
  let bytes = 0;
  for (let i = 0; i < handles.length && (i === 0 || bytes <= MAX_PROBED_BYTES); i++) {
    if (await leadsToBlock(stored, handles.at(i))) return true;
    bytes += handles.sizeOf(i);
  }
  return false;
}

async function leadsToBlock(stored: StoredBlocks, handle: BlockHandle): Promise<boolean> {
  if (handle.offset < 0 || storedEnd(handle) > stored.source.byteLength) return false;
  try {
    await stored.contents(handle, { structure: 'data block' });
    return true;
  } catch (error) {
    findingOf(error);
    return false;
  }
}
