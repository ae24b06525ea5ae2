/**
 * Opening a table: reads the tail of the file, and from there footer, index, metaindex and filter.
 *
 * Source: LevelDB, table/table.cc, `Table::Open` and `ReadMeta`.
 */
import { CorruptionError, mustBeWhole, type Place, type Structure, UnsupportedError } from '@bloom/bytes';
import { FilterBlockReader } from '@bloom/filter-block';
import type { FilterPolicy } from '@bloom/policy';
import type { BlockHandle } from '../format/block-handle.js';
import { bytewiseComparator, type Comparator, type CompareRange, compareRangeOf } from '../format/comparator.js';
import { decodeFooter, FOOTER_LENGTH } from '../format/footer.js';
import { IndexBlock } from '../format/index-block.js';
import { decodeMetaindex, isForeignFilter, policyNameOf } from '../format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock } from '../format/stored-block.js';
import type { FilterStatus } from './filter-status.js';
import { decodingFor, DEFAULT_TAIL_BYTES, policiesFor, type TableOptions } from './options.js';
import type { Reading } from './reading.js';
import type { Source } from './source.js';

/** What opening a table reads: all of it but the data blocks. */
export interface OpenTable extends OpenFilter {
  /** Bytes of the file. */
  readonly byteLength: number;
  /** The file's name, where the source has one. */
  readonly file: string | undefined;
  readonly comparator: Comparator;
  /** The comparator's order, without views. */
  readonly compare: CompareRange;
  /** How blocks are to be decoded. */
  readonly decoding: BlockDecoding;
  readonly index: IndexBlock;
  readonly metaindexHandle: BlockHandle;
  /** Bytes that were read from the source. */
  readonly bytesRead: number;
}

/** The filter, and why there is none. */
interface OpenFilter {
  readonly filter: FilterBlockReader | undefined;
  readonly filterStatus: FilterStatus;
}

/**
 * Opens a table.
 *
 * @throws RangeError for an option that is wrong.
 * @throws CorruptionError when the footer or the index cannot be read. Damage to metaindex or filter costs the filter,
 *   not the table.
 */
export function* openTable(source: Source, options: TableOptions): Reading<OpenTable> {
  const comparator = options.comparator ?? bytewiseComparator;
  const policies = policiesFor(options, comparator);
  const decoding = decodingFor(options);
  const tailBytes = mustBeWhole('tailBytes', options.tailBytes ?? DEFAULT_TAIL_BYTES, FOOTER_LENGTH);
  const tail = yield* Tail.read(source, tailBytes, decoding);
  const { footer, footerOffset } = tail;
  const indexContents = yield* tail.readBlock(footer.index, 'index block');
  const indexPlace: Place = { structure: 'index block', offset: footer.index.offset, file: source.name };
  const blocksEnd = footerOffset - BLOCK_TRAILER_LENGTH;
  const index = IndexBlock.decode(indexContents, indexPlace, blocksEnd);
  const { filter, filterStatus } = yield* readFilter(tail, policies);
  return {
    byteLength: source.byteLength,
    file: source.name,
    comparator,
    compare: compareRangeOf(comparator),
    decoding,
    index,
    metaindexHandle: footer.metaindex,
    filter,
    filterStatus,
    bytesRead: tail.bytesRead,
  };
}

/** The end of the file, read at once in the hope that all that opening needs is there. */
class Tail {
  readonly file: string | undefined;
  readonly footer: { readonly metaindex: BlockHandle; readonly index: BlockHandle };
  readonly footerOffset: number;
  /** Bytes that were read so far. */
  bytesRead: number;
  readonly #bytes: Uint8Array;
  readonly #offset: number;
  readonly #decoding: BlockDecoding;

  private constructor({ name, byteLength }: Source, bytes: Uint8Array, decoding: BlockDecoding) {
    this.file = name;
    this.footerOffset = byteLength - FOOTER_LENGTH;
    this.bytesRead = bytes.length;
    this.#bytes = bytes;
    this.#offset = byteLength - bytes.length;
    this.#decoding = decoding;
    this.footer = decodeFooter(bytes.subarray(-FOOTER_LENGTH), this.#footerPlace);
  }

  static *read(source: Source, tailBytes: number, decoding: BlockDecoding): Reading<Tail> {
    const { byteLength, name: file } = source;
    if (byteLength < FOOTER_LENGTH) {
      const problem = `not a LevelDB table: ${byteLength} bytes are fewer than the ${FOOTER_LENGTH} of a footer`;
      throw new CorruptionError('BLOOM_NOT_A_TABLE', { structure: 'file', offset: 0, file }, problem);
    }
    const offset = Math.max(0, byteLength - tailBytes);
    return new Tail(source, yield { offset, length: byteLength - offset }, decoding);
  }

  /** The contents of the block that `handle` points to, out of the tail where they are there. */
  *readBlock({ offset, size }: BlockHandle, structure: Structure): Reading<Uint8Array> {
    const length = size + BLOCK_TRAILER_LENGTH;
    if (offset + length > this.footerOffset) {
      const problem = `the handle of the ${structure} (offset ${offset}, size ${size}) points outside the file`;
      throw new CorruptionError('BLOOM_BAD_HANDLE', this.#footerPlace, problem);
    }
    let stored: Uint8Array;
    if (offset >= this.#offset) {
      stored = this.#bytes.subarray(offset - this.#offset, offset - this.#offset + length);
    } else {
      stored = yield { offset, length };
      this.bytesRead += length;
    }
    return decodeStoredBlock(stored, { structure, offset, file: this.file }, this.#decoding);
  }

  get #footerPlace(): Place {
    return { structure: 'footer', offset: this.footerOffset, file: this.file };
  }
}

/** Reads the metaindex, and the filter block of the first policy there that is one of `policies`. */
function* readFilter(tail: Tail, policies: readonly FilterPolicy[]): Reading<OpenFilter> {
  const { footer, file } = tail;
  let policyName: string | undefined;
  try {
    const contents = yield* tail.readBlock(footer.metaindex, 'metaindex block');
    const place: Place = { structure: 'metaindex block', offset: footer.metaindex.offset, file };
    const policyNames: string[] = [];
    const names: string[] = [];
    for (const entry of decodeMetaindex(contents, place)) {
      policyName = policyNameOf(entry);
      if (isForeignFilter(entry)) names.push(entry.name);
      if (policyName === undefined) continue;
      policyNames.push(policyName);
      const policy = policies.find(({ name }) => name === policyName);
      if (policy === undefined) continue;
      if (entry.handle === undefined) {
        throw new CorruptionError('BLOOM_BAD_HANDLE', place, `the handle of ${entry.name} cannot be read`);
      }
      const filter = new FilterBlockReader(policy, yield* tail.readBlock(entry.handle, 'filter block'));
      return { filter, filterStatus: { state: 'used', policyName } };
    }
    if (policyNames.length > 0) return { filter: undefined, filterStatus: { state: 'unknown-policy', policyNames } };
    return { filter: undefined, filterStatus: names.length > 0 ? { state: 'unsupported', names } : { state: 'absent' } };
  } catch (error) {
    if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
    const filterStatus: FilterStatus = { state: 'corrupt', ...(policyName !== undefined && { policyName }), error };
    return { filter: undefined, filterStatus };
  }
}
