import type { Place, Structure, UnsupportedError } from '@bloom/bytes';
import type { BlockHandle } from '../format/block-handle.js';
import { decodeFooter, type Footer, FOOTER_LENGTH } from '../format/footer.js';
import { isFormatError } from '../format/is-format-error.js';
import { decodeMetaindex, type MetaindexEntry, policyNameOf } from '../format/metaindex-block.js';
import { partitionedIndexError, propertiesHandle } from '../format/partitioned-index.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock, storedEnd } from '../format/stored-block.js';
import { mustHaveFooter, withEncryption } from '../read/open.js';
import { BlockList } from './block-list.js';
import type { FindingList } from './finding.js';
import { indexEntries } from './index-entries.js';
import { contentsDespiteChecksum } from './inspected-block.js';
import { ENTRIES_PER_PAUSE, type StoredBlocks } from './stored-blocks.js';

/** A block that the footer or the metaindex points to. */
export interface MetaBlock {
  readonly structure: Structure;
  /** Its name in the metaindex, if it is listed there. */
  readonly name?: string;
  readonly handle: BlockHandle;
}

/** What a table claims to consist of, as far as it can be read. None of it is trusted. */
export interface Survey {
  /** Undefined when it cannot be read. */
  readonly footer: Footer | undefined;
  /** Where the blocks end: at the footer or, if it cannot be read, at the end of the file. */
  readonly blocksEnd: number;
  /** The entries of the metaindex; undefined when it cannot be read. */
  readonly metaindex: readonly MetaindexEntry[] | undefined;
  /** Metaindex, index, and the blocks that the metaindex lists, without those whose handles point outside the file. */
  readonly metaBlocks: readonly MetaBlock[];
  /** The contents of the index, even if damaged; undefined when they cannot be decoded, or are in partitions. */
  readonly index: Uint8Array | undefined;
  /** Whether the index is one of RocksDB's in partitions: it is not read then. */
  readonly isPartitioned: boolean;
  /** Whether the checksum of the index is right and all of its handles point inside the file. */
  readonly isIndexWhole: boolean;
  /** All blocks: the meta blocks, then a data block for each index entry whose handle points inside the file. */
  readonly blocks: BlockList;
  /** The numbers of `blocks` in file order. */
  readonly fileOrder: Uint32Array;
  /** For each of `blocks`, 1 if an earlier handle leads to the same block. */
  readonly isRepeated: Uint8Array;
}

/** Reads footer, metaindex and index, and continues past damage as far as possible. */
export async function survey(stored: StoredBlocks, findings: FindingList): Promise<Survey> {
  const { byteLength, name: file } = stored.source;
  const blocks = new BlockList();
  const metaBlocks: MetaBlock[] = [];
  const footer = await readFooter(stored, findings);
  const blocksEnd = footer === undefined ? byteLength : byteLength - FOOTER_LENGTH;
  const footerPlace: Place = { structure: 'footer', offset: blocksEnd, file };

  const isInside = (handle: BlockHandle): boolean => storedEnd(handle) <= blocksEnd;
  /** Lists a meta block. @returns false when its handle points outside the file. */
  const listMeta = (block: MetaBlock, at: Place): boolean => {
    if (isInside(block.handle)) {
      metaBlocks.push(block);
      blocks.push(block.handle);
      return true;
    }
    addOutside(findings, at, block.name ?? block.structure, block.handle);
    return false;
  };

  let metaindex: readonly MetaindexEntry[] | undefined;
  let isPartitioned = false;
  if (footer !== undefined && listMeta({ structure: 'metaindex block', handle: footer.metaindex }, footerPlace)) {
    const place: Place = { structure: 'metaindex block', offset: footer.metaindex.offset, file };
    try {
      metaindex = decodeMetaindex(await stored.contents(footer.metaindex, place), place);
    } catch (error) {
      findings.addError(error);
    }
    for (const entry of metaindex ?? []) {
      const { name, handle } = entry;
      const isFilter = policyNameOf(entry) !== undefined;
      if (handle !== undefined) listMeta({ structure: isFilter ? 'filter block' : 'meta block', name, handle }, place);
      else if (isFilter) findings.add('BLOOM_BAD_HANDLE', place, () => `the handle of ${name} cannot be read`);
    }
    const partitioned = await partitionedIndexErrorOf(stored, metaindex ?? [], isInside);
    isPartitioned = partitioned !== undefined;
    if (partitioned !== undefined) findings.addError(partitioned);
  }

  let index: Uint8Array | undefined;
  let isIndexWhole = false;
  if (footer !== undefined && listMeta({ structure: 'index block', handle: footer.index }, footerPlace)) {
    const place: Place = { structure: 'index block', offset: footer.index.offset, file };
    const problems = findings.count;
    // What it leads to are not data blocks.
    if (!isPartitioned) index = await readIndex(stored, footer.index, place, findings);
    if (index !== undefined) await listDataBlocks(stored, index, place, blocks, isInside, findings);
    isIndexWhole = index !== undefined && findings.count === problems;
  }
  const fileOrder = blocks.inFileOrder();
  const isRepeated = markRepeated(blocks, fileOrder, (i) => structureOf(metaBlocks, i), findings);
  return { footer, blocksEnd, metaindex, metaBlocks, index, isPartitioned, isIndexWhole, blocks, fileOrder, isRepeated };
}

/** The structure of block `i` of a survey. */
export function structureOf(metaBlocks: readonly MetaBlock[], i: number): Structure {
  return metaBlocks[i]?.structure ?? 'data block';
}

async function readFooter(stored: StoredBlocks, findings: FindingList): Promise<Footer | undefined> {
  const { byteLength, name: file } = stored.source;
  const offset = byteLength - FOOTER_LENGTH;
  try {
    mustHaveFooter(stored.source);
    return decodeFooter(await stored.bytes(offset, FOOTER_LENGTH), { structure: 'footer', offset, file });
  } catch (error) {
    const reading = withEncryption(stored.source, error);
    let step = reading.next();
    while (step.done !== true) step = reading.next(await stored.bytes(step.value.offset, step.value.length));
    findings.addError(step.value);
    return undefined;
  }
}

/** {@link partitionedIndexError}; undefined if the properties cannot be read. */
async function partitionedIndexErrorOf(
  stored: StoredBlocks,
  metaindex: readonly MetaindexEntry[],
  isInside: (handle: BlockHandle) => boolean,
): Promise<UnsupportedError | undefined> {
  const handle = propertiesHandle(metaindex);
  if (handle === undefined || !isInside(handle)) return undefined;
  const place: Place = { structure: 'meta block', offset: handle.offset, file: stored.source.name };
  try {
    return partitionedIndexError(await stored.contents(handle, place), place);
  } catch (error) {
    // Damage is found where the block itself is checked.
    if (!isFormatError(error)) throw error;
    return undefined;
  }
}

/** The contents of the index, even if their checksum is wrong, because each data block has its own checksum. */
async function readIndex(
  stored: StoredBlocks,
  handle: BlockHandle,
  place: Place,
  findings: FindingList,
): Promise<Uint8Array | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await stored.stored(handle, place);
  } catch (error) {
    findings.addError(error);
    return undefined;
  }
  try {
    return decodeStoredBlock(bytes, place, stored.decoding);
  } catch (error) {
    const { code } = findings.addError(error);
    // Undamaged bytes of an unknown codec are no index.
    if (code === 'BLOOM_TOO_LARGE' || code === 'BLOOM_UNSUPPORTED_CODEC') return undefined;
    // A type that no codec has is damaged too, most likely of an index that is not compressed.
    const isKnown = stored.decoding.codecs.has(bytes.at(-BLOCK_TRAILER_LENGTH)!);
    return isKnown ? contentsDespiteChecksum(bytes, stored.decoding) : bytes.subarray(0, -BLOCK_TRAILER_LENGTH);
  }
}

async function listDataBlocks(
  stored: StoredBlocks,
  index: Uint8Array,
  place: Place,
  blocks: BlockList,
  isInside: (handle: BlockHandle) => boolean,
  findings: FindingList,
): Promise<void> {
  // There is no room for more blocks that do not overlap.
  const maxBlocks = Math.floor(stored.source.byteLength / BLOCK_TRAILER_LENGTH);
  let entries = 0;
  for (const { handle, entryStart } of indexEntries(index, place, findings)) {
    if (++entries % ENTRIES_PER_PAUSE === 0) await stored.pause();
    if (handle === undefined) {
      findings.add('BLOOM_BAD_HANDLE', place, () => `the handle in the entry at byte ${entryStart} cannot be read`);
    } else if (!isInside(handle)) {
      addOutside(findings, place, 'data block', handle);
    } else if (blocks.length < maxBlocks) {
      blocks.push(handle);
    } else {
      findings.add('BLOOM_OVERLAP', place, () => `it lists more than ${maxBlocks} blocks, more than the file has room for`);
      return;
    }
  }
}

function addOutside(findings: FindingList, at: Place, name: string, { offset, size }: BlockHandle): void {
  findings.add('BLOOM_BAD_HANDLE', at, () => `the handle of the ${name} (offset ${offset}, size ${size}) points outside the file`);
}

/**
 * Marks every handle that leads to the same block as an earlier one. That is damage, except in the metaindex, which may list a block of
 * an unknown kind by several names: Pebble lists range deletions as `rocksdb.range_del` and `rocksdb.range_del2`.
 */
function markRepeated(
  blocks: BlockList,
  fileOrder: Uint32Array,
  structure: (i: number) => Structure,
  findings: FindingList,
): Uint8Array {
  const isRepeated = new Uint8Array(blocks.length);
  for (let k = 0; k < fileOrder.length; ) {
    const i = fileOrder[k]!;
    let count = 1;
    let isNamedOnly = structure(i) === 'meta block';
    for (let j: number | undefined; (j = fileOrder[k + count]) !== undefined; count++) {
      if (blocks.offsetOf(j) !== blocks.offsetOf(i) || blocks.sizeOf(j) !== blocks.sizeOf(i)) break;
      isRepeated[j] = 1;
      isNamedOnly &&= structure(j) === 'meta block';
    }
    if (count > 1 && !isNamedOnly) {
      const place = { structure: structure(i), offset: blocks.offsetOf(i) };
      findings.add('BLOOM_OVERLAP', place, () => `${count} handles point to it`);
    }
    k += count;
  }
  return isRepeated;
}
