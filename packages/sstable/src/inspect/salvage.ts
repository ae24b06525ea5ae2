import type { Bytes } from '@bloom/bytes';
import { mustBeFunction, mustBeOptions, mustBeWhole } from '@bloom/bytes/internal';
import { internalKeyComparator } from '../format/internal-key.js';
import type { CompareRange } from '../format/bytewise-order.js';
import { comparatorOf, compareRangeOf } from '../format/checked-comparator.js';
import type { Comparator } from '../format/comparator.js';
import type { BlockHandle } from '../format/block-handle.js';
import type { BlockWalk } from '../format/block-walk.js';
import { type Footer, FOOTER_LENGTH } from '../format/footer.js';
import { BLOCK_TRAILER_LENGTH, storedEnd } from '../format/stored-block.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import type { Source } from '../read/source.js';
import { BlockList } from './block-list.js';
import { BlockScan } from './block-scan.js';
import { DEFAULT_MAX_FINDINGS, type Finding, type FindingCode, FindingList, findingOf } from './finding.js';
import { mayBeInternalEntry } from './internal-entry.js';
import { handlesOf, isEmptyBlock, isMetaName, isProperties, leadsToBlocks, metaBlocksOf, type RecoveredTail, recoverTail } from './recovered-index.js';
import { ENTRIES_PER_PAUSE, INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';
import { survey, type Survey } from './survey.js';

/** How to salvage a table. Every option has a default. */
export interface SalvageOptions extends InspectionOptions {
  /**
   * The order of the keys; entries that are out of order are left out. Null when the order is unknown: then all entries are
   * kept, in file order. Default: bytewise order; and as long as all keys look like the internal keys of a LevelDB
   * database, a key may instead be in the order of internal keys.
   */
  readonly comparator?: Comparator | null | undefined;
  /** The most findings to list, and the most lost ranges; further ones are counted. Default: 10,000. */
  readonly maxFindings?: number | undefined;
}

/** A part of the file that should have entries, but none could be read. */
export interface LostRange {
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly byteLength: number;
  readonly code: FindingCode;
  readonly problem: string;
}

type Loss = Pick<LostRange, 'code' | 'problem'>;

/** What was saved from a table, and what was lost. */
export interface SalvageReport {
  readonly entries: number;
  readonly dataBlocks: number;
  /** Data blocks that were found by means of their checksums, not through the index. */
  readonly foundBlocks: number;
  /** Entries that were left out because their key is not after the previous key. */
  readonly outOfOrder: number;
  /** Lost parts in file order, at most `maxFindings`. */
  readonly lost: readonly LostRange[];
  /** Bytes of all lost ranges, including those that are not listed. */
  readonly lostBytes: number;
  /** The number of lost ranges that are not listed. */
  readonly moreLost: number;
  /** What is wrong with footer, metaindex and index, at most `maxFindings`. */
  readonly findings: readonly Finding[];
  /** The number of findings that are not listed. */
  readonly moreFindings: number;
  /** Whether all keys look like internal keys, as in a table of a LevelDB database. */
  readonly isDatabaseTable: boolean;
}

/**
 * Passes all entries of a damaged table that can still be read to `take`, in file order.
 *
 * Every block has a checksum, so only entries that were written are passed on. Blocks are found through the index. If
 * footer or index is damaged, the end of the file is searched for the index, and if there is none, the file is searched
 * for blocks by means of their checksums, even after damage. A block that is found after damage has at most 32 MiB.
 *
 * Takes memory for one block, at most a few times `maxBlockBytes`, for 2 MiB of the file, and about 130 MiB for a search
 * without an index; time in proportion to the bytes of the file and of its decompressed blocks.
 *
 * @param take for example a `TableBuilder`'s `add`. Key and value are valid only during the call.
 * @throws the errors of `take` and of the source, the reason of `signal`, and ComparatorError; never an error about the bytes of the table.
 *
 * @example
 * ```ts
 * const builder = new TableBuilder(sink);
 * const report = await salvageTable(source, (key, value) => builder.add(key, value));
 * builder.finish();
 * ```
 */
export async function salvageTable(
  source: Source,
  take: (key: Uint8Array, value: Uint8Array) => void,
  options: SalvageOptions = {},
): Promise<SalvageReport> {
  mustBeFunction('take', take);
  const salvage = new Salvage('salvageTable', source, options);
  for await (const block of salvage.dataBlocks()) {
    let entries = 0;
    for (const walk of salvage.entriesOf(block)) {
      take(walk.key, walk.value);
      if (++entries % ENTRIES_PER_PAUSE === 0) await salvage.stored.pause();
    }
  }
  return salvage.report();
}

/**
 * Yields copies of the entries that `salvageTable` passes on, and returns the report.
 *
 * @example
 * ```ts
 * await writeTable('saved.ldb', salvagedEntries(source));
 * ```
 */
export async function* salvagedEntries(
  source: Source,
  options: SalvageOptions = {},
): AsyncGenerator<[Bytes, Bytes], SalvageReport, undefined> {
  const salvage = new Salvage('salvagedEntries', source, options);
  for await (const block of salvage.dataBlocks()) {
    let entries = 0;
    for (const walk of salvage.entriesOf(block)) {
      yield [walk.key.slice(), walk.value.slice()];
      if (++entries % ENTRIES_PER_PAUSE === 0) await salvage.stored.pause();
    }
  }
  return salvage.report();
}

/** A data block whose checksum is right. */
interface DataBlock {
  readonly offset: number;
  readonly size: number;
  readonly contents: Uint8Array;
  /** Whether it was found by means of its checksum. */
  readonly isFound: boolean;
}

/** What an untrusted handle may lead to. This one: a data block, if the checksum there is right. */
const DATA_HINT = 0;
/** The index, if other handles turn out to be right. */
const INDEX_HINT = 1;
/** A block without entries. */
const META_HINT = 2;

class Salvage {
  readonly stored: StoredBlocks;
  private readonly file: string | undefined;
  private readonly order: AscendingKeys | undefined;
  private readonly walk: WholeBlockWalk;
  private readonly maxFindings: number;
  private readonly findings: FindingList;
  private readonly lost: LostRange[] = [];
  private lostBytes = 0;
  private moreLost = 0;
  private entries = 0;
  private internalEntries = 0;
  #dataBlocks = 0;
  private foundBlocks = 0;
  private outOfOrder = 0;
  /** Where the last block that is neither data nor an index ends. No data follows it. */
  private metaEnd = -1;
  /** The sizes of the blocks that a metaindex at the end of the file lists, by offset. */
  private readonly metaBlocks = new Map<number, number>();

  constructor(call: string, source: Source, options: SalvageOptions) {
    mustBeOptions(call, options, { ...INSPECTION_OPTIONS, comparator: true, maxFindings: true });
    this.stored = new StoredBlocks(source, options);
    this.file = source.name;
    this.walk = new WholeBlockWalk('data block', source.name);
    this.maxFindings = mustBeWhole('maxFindings', options.maxFindings ?? DEFAULT_MAX_FINDINGS, 0);
    this.findings = new FindingList(this.maxFindings);
    if (options.comparator !== null) this.order = new AscendingKeys(options.comparator);
  }

  report(): SalvageReport {
    return {
      entries: this.entries,
      dataBlocks: this.#dataBlocks,
      foundBlocks: this.foundBlocks,
      outOfOrder: this.outOfOrder,
      lost: this.lost,
      lostBytes: this.lostBytes,
      moreLost: this.moreLost,
      findings: this.findings.findings,
      moreFindings: this.findings.more,
      isDatabaseTable: this.entries > 0 && this.internalEntries === this.entries,
    };
  }

  /** The data blocks whose checksums are right, in file order. */
  async *dataBlocks(): AsyncGenerator<DataBlock, void, undefined> {
    const found = await survey(this.stored, this.findings);
    const listed = await this.#trustedBlocks(found);
    if (listed !== undefined) {
      yield* this.#listedBlocks(listed, found);
      return;
    }
    const tail = await recoverTail(this.stored);
    // The blocks to which an index in partitions leads are indexes.
    if (tail.dataBlocks !== undefined && !found.isPartitioned) yield* this.#listedBlocks(tail.dataBlocks, found);
    else yield* this.#searchedBlocks(found, tail);
  }

  /** Goes through the entries of a block that are in order. Records a damaged block as lost. */
  *entriesOf({ offset, size, contents, isFound }: DataBlock): Generator<BlockWalk, void, undefined> {
    const walk = this.walk;
    let saved = 0;
    try {
      walk.reset(contents, offset);
      for (let more = walk.seekToFirst(); more; more = walk.next()) {
        const isInternal = mayBeInternalEntry(walk);
        if (this.order?.accept(walk, isInternal) === false) {
          this.outOfOrder++;
          continue;
        }
        if (saved++ === 0) {
          this.#dataBlocks++;
          if (isFound) this.foundBlocks++;
        }
        this.entries++;
        if (isInternal) this.internalEntries++;
        yield walk;
      }
    } catch (error) {
      this.#lose(offset, size + BLOCK_TRAILER_LENGTH, findingOf(error));
    }
  }

  #lose(offset: number, length: number, { code, problem }: Loss): void {
    const byteLength = Math.min(length, this.stored.source.byteLength - offset);
    if (byteLength <= 0) return;
    this.lostBytes += byteLength;
    if (this.lost.length < this.maxFindings) this.lost.push({ offset, byteLength, code, problem });
    else this.moreLost++;
  }

  /** The data blocks of the index that the footer leads to, if the whole index is right. */
  async #trustedBlocks({ isIndexWhole, blocks, metaBlocks }: Survey): Promise<BlockList | undefined> {
    if (!isIndexWhole) return undefined;
    const listed = new BlockList();
    for (let i = metaBlocks.length; i < blocks.length; i++) {
      const handle = blocks.at(i);
      if (handle.offset < listed.end) return undefined;
      listed.push(handle);
    }
    if (listed.length === 0) return undefined;
    // A damaged footer can lead to any block.
    const isWhole = listed.offsetOf(0) === 0 && listed.isWithoutGaps;
    return isWhole || (await leadsToBlocks(this.stored, listed)) ? listed : undefined;
  }

  /** The blocks that a correct index lists. Nothing else in the file is a data block. */
  async *#listedBlocks(blocks: BlockList, { blocksEnd, footer }: Survey): AsyncGenerator<DataBlock, void, undefined> {
    /** Damaged blocks since the last intact one. */
    let damaged: DamagedBlock[] = [];
    let position = 0;
    for (let i = 0; i < blocks.length; i++) {
      const handle = blocks.at(i);
      const contents = await this.#read(handle, damaged);
      if (contents === undefined) continue;
      yield* this.#damagedBlocks(position, handle.offset, damaged, footer);
      damaged = [];
      position = storedEnd(handle);
      yield { ...handle, contents, isFound: false };
    }
    yield* this.#damagedBlocks(position, blocksEnd, damaged, footer);
  }

  /**
   * The blocks in `[start, end)` that an index lists, but that are not where it says: bytes may have been removed from the
   * file or inserted.
   */
  async *#damagedBlocks(
    start: number,
    end: number,
    damaged: readonly DamagedBlock[],
    footer: Footer | undefined,
  ): AsyncGenerator<DataBlock, void, undefined> {
    const [only] = damaged;
    if (only === undefined) return;
    const isOne = damaged.length === 1 && only.start === start && only.end === end;
    const sizes = new Set(damaged.map((block) => block.end - block.start - BLOCK_TRAILER_LENGTH));
    let found = 0;
    let position = start;
    for await (const { offset, size, contents } of isOne ? [] : new BlockScan(this.stored, start, end)) {
      if (contents === undefined || !sizes.has(size) || (await this.#isListing(contents, { offset, size }, footer))) continue;
      if (offset > position) this.#lose(position, offset - position, NOTHING_FOUND);
      position = offset + size + BLOCK_TRAILER_LENGTH;
      found++;
      yield { offset, size, contents, isFound: true };
    }
    if (found === 0) for (const block of damaged) this.#lose(block.start, block.end - block.start, block.loss);
    else if (position < end) this.#lose(position, end - position, NOTHING_FOUND);
  }

  /** The contents of the block that a handle leads to. If they cannot be decoded, adds the block to `damaged`. */
  async #read(handle: BlockHandle, damaged: DamagedBlock[]): Promise<Uint8Array | undefined> {
    const [start, end] = [handle.offset, storedEnd(handle)];
    if (end > this.stored.source.byteLength) {
      damaged.push({ start, end, loss: { code: 'BLOOM_BAD_HANDLE', problem: 'the file ends inside it' } });
      return undefined;
    }
    try {
      return await this.stored.contents(handle, { structure: 'data block', file: this.file });
    } catch (error) {
      damaged.push({ start, end, loss: findingOf(error) });
      return undefined;
    }
  }

  /** The blocks that untrusted handles lead to, and between them those that are found by means of their checksums. */
  async *#searchedBlocks(found: Survey, tail: RecoveredTail): AsyncGenerator<DataBlock, void, undefined> {
    const { blocks, hints } = hintsOf(found);
    for (let i = 0; i < tail.metaBlocks.length; i++) this.metaBlocks.set(tail.metaBlocks.offsetOf(i), tail.metaBlocks.sizeOf(i));
    /** Damaged blocks since the last intact one. */
    let damaged: DamagedBlock[] = [];
    let position = 0;
    let areHandlesRight = false;
    for (const i of blocks.inFileOrder()) {
      const handle = blocks.at(i);
      const hint = hints[i];
      if (handle.offset < position) continue;
      const contents = hint === META_HINT ? undefined : await this.#read(handle, hint === DATA_HINT ? damaged : []);
      if (contents === undefined && hint !== META_HINT) continue;
      yield* this.#gap(position, handle.offset, damaged, found.footer);
      damaged = [];
      position = storedEnd(handle);
      if (contents === undefined) this.metaEnd = position;
      if (contents === undefined || (hint === INDEX_HINT && areHandlesRight)) continue;
      if (await this.#isListing(contents, handle, found.footer)) continue;
      if (hint === DATA_HINT) areHandlesRight = true;
      yield { ...handle, contents, isFound: false };
    }
    yield* this.#gap(position, this.stored.source.byteLength, damaged, found.footer);
  }

  /** The blocks in `[start, end)`, where no handle is right. */
  async *#gap(
    start: number,
    end: number,
    damaged: readonly DamagedBlock[],
    footer: Footer | undefined,
  ): AsyncGenerator<DataBlock, void, undefined> {
    const [only] = damaged;
    // A footer inside a block may be that of another table.
    const lostEnd = end === this.stored.source.byteLength && footer !== undefined ? end - FOOTER_LENGTH : end;
    if (only?.start === start && only.end === lostEnd) {
      // The handles on both sides are right, so the block is where it should be.
      this.#lose(start, lostEnd - start, only.loss);
      return;
    }
    let position = start;
    for await (const { offset, size, contents, problem } of new BlockScan(this.stored, start, end)) {
      if (offset > position) this.#lose(position, offset - position, NOTHING_FOUND);
      position = offset + size + BLOCK_TRAILER_LENGTH;
      if (problem !== undefined) this.#lose(offset, size + BLOCK_TRAILER_LENGTH, { code: 'BLOOM_UNSUPPORTED_CODEC', problem });
      if (contents === undefined) {
        if (problem === undefined) this.metaEnd = position;
      } else if (!(await this.#isListing(contents, { offset, size }, footer))) {
        yield { offset, size, contents, isFound: true };
      }
    }
    if (position < lostEnd) this.#lose(position, lostEnd - position, NOTHING_FOUND);
  }

  /** Whether a block that no trusted handle leads to is an index or a metaindex, and not data that looks like one. */
  async #isListing(contents: Uint8Array, handle: BlockHandle, footer: Footer | undefined): Promise<boolean> {
    const { offset } = handle;
    const fromEnd = this.stored.source.byteLength - offset;
    if (footer !== undefined) {
      // Even if earlier bytes are missing, its distance from the end is the same.
      const { index, metaindex } = footer;
      const byteLength = Math.max(storedEnd(index), storedEnd(metaindex)) + FOOTER_LENGTH;
      const isThere = (other: BlockHandle): boolean => fromEnd === byteLength - other.offset && handle.size === other.size;
      if (isThere(index) || isThere(metaindex)) return true;
    }
    const isMeta = this.metaBlocks.get(offset) === handle.size || isEmptyBlock(contents) || isProperties(contents);
    if (isMeta || (await metaBlocksOf(this.stored, contents, handle)) !== undefined) {
      this.metaEnd = storedEnd(handle);
      return true;
    }
    const handles = handlesOf(contents);
    if (handles === undefined) return false;
    if (this.metaEnd === offset || (await this.#isAfterEmptyBlock(handle))) return true;
    if (handles.isWithoutGaps) {
      // The data that it lists ends where it starts, or where an empty metaindex before it starts.
      if (handles.offsetOf(0) === 0 && (handles.end === offset || handles.end === offset - EMPTY_STORED_LENGTH)) return true;
      const isLast = fromEnd === handle.size + BLOCK_TRAILER_LENGTH + FOOTER_LENGTH;
      if (isLast && handles.length > 1) return true;
      // The only block that it lists is lost.
      if (handles.length === 1 && handles.offsetOf(0) === 0 && offset > 0 && this.entries === 0) return true;
    }
    return leadsToBlocks(this.stored, handles);
  }

  /** Whether an empty metaindex, which a search does not find, ends where the block starts. */
  async #isAfterEmptyBlock({ offset }: BlockHandle): Promise<boolean> {
    if (offset < EMPTY_STORED_LENGTH) return false;
    const contents = await this.#read({ offset: offset - EMPTY_STORED_LENGTH, size: EMPTY_BLOCK_LENGTH }, []);
    return contents !== undefined && isEmptyBlock(contents);
  }
}

/** A block without entries: one restart and the number of restarts. */
const EMPTY_BLOCK_LENGTH = 8;
const EMPTY_STORED_LENGTH = EMPTY_BLOCK_LENGTH + BLOCK_TRAILER_LENGTH;

const NOTHING_FOUND: Loss = { code: 'BLOOM_BAD_CHECKSUM', problem: 'no block can be found in these bytes' };

/** A block that a handle leads to, but that cannot be read. */
interface DamagedBlock {
  readonly start: number;
  readonly end: number;
  readonly loss: Loss;
}

/** All handles, and what each may lead to. */
function hintsOf({ blocks: listed, metaBlocks, metaindex, isRepeated }: Survey): {
  readonly blocks: BlockList;
  readonly hints: Uint8Array;
} {
  const blocks = new BlockList();
  const hints = new Uint8Array(listed.length);
  const add = (i: number, hint: number): void => {
    hints[blocks.length] = hint;
    blocks.push(listed.at(i));
  };
  // A damaged footer can lead to any block.
  const isMetaindexRight = metaindex?.every(({ name }) => isMetaName(name)) === true;
  for (let i = 0; i < listed.length; i++) {
    if (isRepeated[i] === 1) continue;
    const structure = metaBlocks[i]?.structure;
    if (structure === 'index block') add(i, INDEX_HINT);
    else add(i, structure !== undefined && isMetaindexRight ? META_HINT : DATA_HINT);
  }
  return { blocks, hints };
}

/** Accepts keys in ascending order, and reports those that are not. */
class AscendingKeys {
  readonly #compare: CompareRange;
  /** The order of internal keys, as long as all keys look like internal keys; undefined if the caller gave an order. */
  #compareInternal: CompareRange | undefined;
  #lastKey = new Uint8Array(64);
  #lastKeyLength = -1;

  constructor(comparator: Comparator | undefined) {
    this.#compare = compareRangeOf(comparatorOf('comparator', comparator));
    if (comparator === undefined) this.#compareInternal = compareRangeOf(internalKeyComparator());
  }

  /** Whether the key that `walk` is on comes after the last accepted key. */
  accept({ keyBytes, keyLength }: BlockWalk, isInternal: boolean): boolean {
    if (!isInternal) this.#compareInternal = undefined;
    const last = this.#lastKey;
    const lastLength = this.#lastKeyLength;
    if (lastLength >= 0 && this.#compare(last, 0, lastLength, keyBytes, 0, keyLength) >= 0) {
      const compareInternal = this.#compareInternal;
      if (compareInternal === undefined || compareInternal(last, 0, lastLength, keyBytes, 0, keyLength) >= 0) return false;
    }
    if (keyLength > last.length) this.#lastKey = new Uint8Array(keyLength * 2);
    this.#lastKey.set(keyBytes.subarray(0, keyLength));
    this.#lastKeyLength = keyLength;
    return true;
  }
}
