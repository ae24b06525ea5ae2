import { crc32c, maskCrc } from '@bloom/crc32c';
import { readBlockHandle } from '../format/block-handle.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { bytewiseComparator, type Comparator } from '../format/comparator.js';
import { type Structure, VarintReader } from '@bloom/bytes';
import { FOOTER_LENGTH } from '../format/footer.js';
import { readRange, type Reading, runAsync } from '../read/reading.js';
import type { Source } from '../read/source.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock } from '../format/stored-block.js';
import { type Finding, findingOf, ReadBudget, survey } from './survey.js';
import { decodingFor, type TableOptions } from '../read/options.js';

/** How to salvage a table. All of it has a default. */
export interface SalvageOptions extends Pick<TableOptions, 'codecs' | 'maxBlockBytes'> {
  /**
   * The order of the keys; entries out of this order are left out. Null where it is not known: entries are kept in the
   * order of the file. Default: bytewise.
   */
  readonly comparator?: Comparator | null | undefined;
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
}

/** A part of the file that gave no entries although it should have. */
export interface LostRange {
  /** Bytes from the start of the file. */
  readonly offset: number;
  readonly byteLength: number;
  readonly problem: string;
}

/** What was saved of a table, and what was not. */
export interface SalvageReport {
  readonly entries: number;
  readonly dataBlocks: number;
  /** Data blocks that no index entry led to: found by their checksums. */
  readonly foundBlocks: number;
  /** Entries that were left out because their key is not after the key before it. */
  readonly outOfOrder: number;
  /** In the order of the file. */
  readonly lost: readonly LostRange[];
  /** What is wrong with footer, metaindex and index. */
  readonly findings: readonly Finding[];
}

/**
 * Passes all entries of a damaged table that can still be read to `take`, in the order of the file.
 *
 * Every block has a checksum, so only what was written is passed on. Blocks are found through the index and, where it
 * is damaged or gone, by searching the bytes for the checksum that ends a block.
 *
 * @param take a `TableBuilder`'s `add`, for example. Key and value are lent for the call.
 *
 * @example
 * ```ts
 * const builder = new TableBuilder(sink);
 * const report = await salvageTable(source, (key, value) => builder.add(key, value));
 * builder.finish();
 * ```
 */
export function salvageTable(
  source: Source,
  take: (key: Uint8Array, value: Uint8Array) => void,
  options: SalvageOptions = {},
): Promise<SalvageReport> {
  return runAsync(source, salvage(source, options, take), options.signal);
}

/**
 * The entries that `salvageTable` passes on, as copies; the generator returns the report.
 *
 * @example
 * ```ts
 * await writeTable('saved.ldb', salvagedEntries(source));
 * ```
 */
export async function* salvagedEntries(
  source: Source,
  options: SalvageOptions = {},
): AsyncGenerator<[Uint8Array, Uint8Array], SalvageReport, undefined> {
  let saved: [Uint8Array, Uint8Array][] = [];
  const reading = salvage(source, options, (key, value) => saved.push([key.slice(), value.slice()]));
  let step = reading.next();
  for (;;) {
    // The entries of one block are handed on before the next block is read.
    yield* saved;
    saved = [];
    if (step.done === true) return step.value;
    step = reading.next(await readRange(source, step.value, options.signal));
  }
}

function* salvage(
  source: Source,
  options: SalvageOptions,
  take: (key: Uint8Array, value: Uint8Array) => void,
): Reading<SalvageReport> {
  const comparator = options.comparator === null ? undefined : (options.comparator ?? bytewiseComparator);
  const decoding = decodingFor(options);
  const { name: file } = source;
  const { footer, blocks, findings } = yield* survey(source, decoding);

  /** Blocks whose contents are whole, by offset. */
  const found = new Map<number, { readonly size: number; readonly isListed: boolean }>();
  const lost: LostRange[] = [];
  const kinds = new Map<number, Structure>();

  // What the index leads to.
  const budget = new ReadBudget(source);
  for (const { handle, structure } of blocks) {
    const { offset, size } = handle;
    if (!budget.take(handle)) {
      lost.push({ offset, byteLength: size, problem: 'so many blocks overlap that it was not looked at' });
      break;
    }
    const stored = yield { offset, length: size + BLOCK_TRAILER_LENGTH };
    try {
      decodeStoredBlock(stored, { structure, offset, file }, decoding);
    } catch (error) {
      const { problem } = findingOf(error);
      if (structure === 'data block') lost.push({ offset, byteLength: stored.length, problem });
      continue;
    }
    found.set(offset, { size, isListed: true });
    kinds.set(offset, structure);
  }

  const indexServes = [...kinds.values()].includes('data block');

  // What lies between: from the end of each good block, and from the start of the file.
  const end = footer === undefined ? source.byteLength : source.byteLength - FOOTER_LENGTH;
  const good = [...found].sort(([a], [b]) => a - b);
  let position = 0;
  for (const [offset, size] of [...good.map(([start, { size: length }]) => [start, length] as const), [end, 0] as const]) {
    if (offset > position) {
      for (const block of yield* scan(source, position, offset, lost)) {
        found.set(block.offset, { size: block.size, isListed: false });
      }
    }
    position = Math.max(position, offset + size + BLOCK_TRAILER_LENGTH);
  }

  const cursor = new WholeBlockWalk('data block', file);
  let lastKey: Uint8Array | undefined;
  let entries = 0;
  let dataBlocks = 0;
  let foundBlocks = 0;
  let outOfOrder = 0;
  for (const [offset, { size, isListed }] of [...found].sort(([a], [b]) => a - b)) {
    const kind = kinds.get(offset);
    if (kind === 'filter block' || kind === 'meta block' || (kind === 'index block' && indexServes)) continue;
    const stored = yield { offset, length: size + BLOCK_TRAILER_LENGTH };
    let saved = 0;
    try {
      const contents = decodeStoredBlock(stored, { structure: 'data block', offset, file }, decoding);
      // A footer that is damaged can lead to any block.
      const endsFile = offset + stored.length === source.byteLength - FOOTER_LENGTH;
      if (kind !== 'data block' && leadsToBlocks(contents, endsFile, found)) continue;
      cursor.reset(contents, offset);
      for (let more = cursor.seekToFirst(); more; more = cursor.next()) {
        const { key } = cursor;
        if (lastKey !== undefined && comparator !== undefined && comparator.compare(lastKey, key) >= 0) {
          outOfOrder++;
          continue;
        }
        lastKey = key.slice();
        take(lastKey, cursor.value);
        saved++;
      }
    } catch (error) {
      lost.push({ offset, byteLength: stored.length, problem: findingOf(error).problem });
    }
    entries += saved;
    if (saved > 0 && isListed) dataBlocks++;
    if (saved > 0 && !isListed) foundBlocks++;
  }
  lost.sort((a, b) => a.offset - b.offset);
  return { entries, dataBlocks: dataBlocks + foundBlocks, foundBlocks, outOfOrder, lost, findings };
}

/** Bytes that are read at a time in search of a block's end. */
const SCAN_BYTES = 2 ** 16;

/** The blocks that lie one behind the other from `start` on, as far as checksums fit, and not past `end`. */
function* scan(source: Source, start: number, end: number, lost: LostRange[]): Reading<{ offset: number; size: number }[]> {
  const blocks: { offset: number; size: number }[] = [];
  let offset = start;
  while (end - offset >= BLOCK_TRAILER_LENGTH) {
    const size: number = yield* sizeOfBlockAt(source, offset, end);
    if (size < 0) break;
    blocks.push({ offset, size });
    offset += size + BLOCK_TRAILER_LENGTH;
  }
  // Bytes of a block that the index leads to, and that is damaged, are accounted for already.
  const isKnown = lost.some((range) => range.offset <= offset && offset < range.offset + range.byteLength);
  if (offset < end && !isKnown) lost.push({ offset, byteLength: end - offset, problem: 'no block can be found in these bytes' });
  return blocks;
}

/** The size of the block that starts at `offset`: the least with which its checksum fits. Negative when none does. */
function* sizeOfBlockAt(source: Source, offset: number, end: number): Reading<number> {
  let crc = 0;
  const byte = new Uint8Array(1);
  for (let start = offset; start < end; start += SCAN_BYTES) {
    // Four bytes more: the checksum behind the last byte of the part.
    const length = Math.min(SCAN_BYTES + 4, end - start);
    const bytes = yield { offset: start, length };
    for (let i = 0; i < Math.min(SCAN_BYTES, length - 4); i++) {
      byte[0] = bytes[i]!;
      crc = crc32c(byte, crc);
      const stored = (bytes[i + 1]! | (bytes[i + 2]! << 8) | (bytes[i + 3]! << 16) | (bytes[i + 4]! << 24)) >>> 0;
      if (maskCrc(crc) === stored) return start + i - offset;
    }
  }
  return -1;
}

/** What the names in a metaindex begin with. */
const META_NAMES = /^(filter|fullfilter|rocksdb)\./;

/**
 * Whether a block that nothing vouches for is an index or a metaindex: all its values are handles, and they lead to
 * blocks that were found, or to blocks one behind the other; or its keys are names of a metaindex; or it is the last
 * block of the file, where the index is.
 */
function leadsToBlocks(
  contents: Uint8Array,
  endsFile: boolean,
  found: ReadonlyMap<number, { readonly size: number }>,
): boolean {
  const cursor = new WholeBlockWalk('index block');
  cursor.reset(contents, 0);
  let entries = 0;
  let areFound = true;
  let areNeighbours = true;
  let areNames = true;
  let end: number | undefined;
  const reader = new VarintReader(contents);
  for (let more = cursor.seekToFirst(); more; more = cursor.next(), entries++) {
    reader.position = cursor.valueStart;
    reader.end = cursor.valueEnd;
    const handle = readBlockHandle(reader);
    // The Java port pads handles with zeros.
    if (handle === undefined) return false;
    for (let i = reader.position; i < cursor.valueEnd; i++) if (contents[i] !== 0) return false;
    if (found.get(handle.offset)?.size !== handle.size) areFound = false;
    if (end !== undefined && handle.offset !== end) areNeighbours = false;
    end = handle.offset + handle.size + BLOCK_TRAILER_LENGTH;
    // A name is short; a key need not be.
    if (areNames && !META_NAMES.test(String.fromCharCode(...cursor.key.subarray(0, 16)))) areNames = false;
  }
  return areFound || areNames || endsFile || (areNeighbours && entries > 1);
}
