import { CorruptionError, type Place, type Structure, VarintReader } from '@bloom/bytes';
import { mustBeOptions, numberOf } from '@bloom/bytes/internal';
import { type BlockHandle, readBlockHandle } from '../format/block-handle.js';
import { BlockWalk } from '../format/block-walk.js';
import { NO_COMPRESSION } from '../format/codec.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock } from '../format/stored-block.js';
import type { Source } from '../read/source.js';
import { type Finding, findingOf } from './finding.js';
import { INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';

/** An entry has at least its three lengths. */
const MIN_ENTRY_BYTES = 3;

/** An entry of a block, with its position, restart and shared bytes. */
export interface InspectedEntry {
  /** Bytes from the start of the block's contents to the entry. */
  readonly offset: number;
  /** The number of the restart that points here, if one does. */
  readonly restart: number | undefined;
  /** How many bytes of the key are shared with the previous key. */
  readonly shared: number;
  /** A copy of the whole key. */
  readonly key: Uint8Array;
  /** A view of the block's contents. */
  readonly value: Uint8Array;
}

/** A block, decoded as far as possible. Its entries are accessed by number. */
export class InspectedBlock {
  readonly #walk: BlockWalk;
  /** Where each entry starts. */
  readonly #starts: Uint32Array;
  /** The number of the restart that points to each entry, or -1. */
  readonly #restarts: Int32Array;
  readonly structure: Structure;
  readonly handle: BlockHandle;
  /** The type byte of the trailer. */
  readonly compressionType: number;
  /** The name of the codec of that type; undefined when there is no such codec. */
  readonly codecName: string | undefined;
  /** The decompressed contents; undefined when they cannot be decoded. Do not trust them if there is a `problem`. */
  readonly contents: Uint8Array | undefined;
  /** Why the block cannot be used: its checksum, its codec, its size. */
  readonly problem: Finding | undefined;
  /** Why there are no entries after the last one. */
  readonly entryProblem: Finding | undefined;
  readonly entryCount: number;
  readonly restartCount: number;
  /** Bytes from the start of the contents to where the entries end and the restarts start; 0 when there are no entries. */
  readonly entriesEnd: number;

  /** Made by {@link inspectBlock}, from the trailer alone where the block is too large to be read. */
  constructor(place: Place, stored: Uint8Array, decoding: BlockDecoding, size = stored.length - BLOCK_TRAILER_LENGTH) {
    this.structure = place.structure;
    this.handle = { offset: place.offset, size };
    this.compressionType = stored[stored.length - BLOCK_TRAILER_LENGTH]!;
    const codec = decoding.codecs.get(this.compressionType);
    this.codecName = this.compressionType === NO_COMPRESSION ? 'none' : codec?.name;
    try {
      const { maxBlockBytes } = decoding;
      if (size > maxBlockBytes) throw new CorruptionError('BLOOM_TOO_LARGE', place, `it has ${size} bytes, the limit is ${maxBlockBytes}`);
      this.contents = decodeStoredBlock(stored, place, decoding);
    } catch (error) {
      this.problem = findingOf(error);
      if (this.problem.code === 'BLOOM_BAD_CHECKSUM') this.contents = contentsDespiteChecksum(stored, decoding);
    }
    this.#walk = new BlockWalk(place.structure, place.file);
    let starts = new Uint32Array(0);
    let entryCount = 0;
    let restartCount = 0;
    let entriesEnd = 0;
    // Other blocks do not consist of entries.
    if (this.contents !== undefined && place.structure !== 'filter block' && place.structure !== 'meta block') {
      try {
        this.#walk.reset(this.contents, place.offset);
        ({ restartCount, entriesEnd } = this.#walk);
        starts = new Uint32Array(Math.ceil(this.contents.length / MIN_ENTRY_BYTES));
        for (let more = this.#walk.seekToFirst(); more; more = this.#walk.next()) starts[entryCount++] = this.#walk.entryStart;
      } catch (error) {
        this.entryProblem = findingOf(error);
      }
    }
    this.restartCount = restartCount;
    this.entriesEnd = entriesEnd;
    this.#starts = starts.slice(0, entryCount);
    this.entryCount = entryCount;
    this.#restarts = new Int32Array(entryCount).fill(-1);
    for (let restart = 0; restart < restartCount; restart++) {
      const i = this.#entryAt(this.#walk.restartOffset(restart));
      if (i >= 0) this.#restarts[i] = restart;
    }
  }

  /** Bytes from the start of the contents to where restart `i` points. */
  restartOffset(i: number): number {
    return this.#walk.restartOffset(i);
  }

  /** The entries [start, end), or fewer if the block has fewer. */
  entries(start: number, end: number): InspectedEntry[] {
    const last = Math.min(end, this.entryCount);
    if (start >= last) return [];
    const walk = this.#walk;
    // A key depends on the previous ones, back to a restart.
    let i = start;
    while (i > 0 && !this.#isAtRestart(i)) i--;
    if (i > 0) walk.seekToRestart(this.#restarts[i]!);
    else walk.seekToFirst();
    const entries: InspectedEntry[] = [];
    for (; i < last; i++) {
      if (i >= start) {
        const { entryStart, shared, key, value } = walk;
        const restart = this.#restarts[i]!;
        entries.push({ offset: entryStart, restart: restart < 0 ? undefined : restart, shared, key: key.slice(), value });
      }
      if (i + 1 < last) walk.next();
    }
    return entries;
  }

  /** Whether a restart points to entry `i`, and its key is whole. A damaged restart may point to an entry that shares bytes. */
  #isAtRestart(i: number): boolean {
    return this.#restarts[i]! >= 0 && this.contents![this.#starts[i]!] === 0;
  }

  /** The number of the entry that starts at `offset`; -1 if there is none. */
  #entryAt(offset: number): number {
    let left = 0;
    let right = this.entryCount - 1;
    while (left <= right) {
      const middle = (left + right) >>> 1;
      const start = this.#starts[middle]!;
      if (start === offset) return middle;
      if (start < offset) left = middle + 1;
      else right = middle - 1;
    }
    return -1;
  }
}

/**
 * Reads one block and decodes it as far as possible. Of a block of more than `maxBlockBytes`, it reads only the trailer.
 *
 * @param handle from `outlineTable`, or any other range inside the file that leaves room for a trailer.
 * @throws RangeError when the handle points outside the file.
 * @throws TypeError or RangeError for a wrong option.
 * @throws the source's errors, and the reason of `signal`; never an error about the bytes of the block.
 */
export async function inspectBlock(
  source: Source,
  structure: Structure,
  handle: BlockHandle,
  options: InspectionOptions = {},
): Promise<InspectedBlock> {
  mustBeOptions('inspectBlock', options, INSPECTION_OPTIONS);
  const blocks = new StoredBlocks(source, options);
  const { offset, size } = handle;
  const length = size + BLOCK_TRAILER_LENGTH;
  if (!(offset >= 0 && size >= 0 && offset + length <= source.byteLength)) {
    throw new RangeError(`handle must be that of a block inside the ${numberOf(source.byteLength, 'byte')}, got offset ${offset}, size ${size}`);
  }
  const isTooLarge = size > blocks.decoding.maxBlockBytes;
  const stored = isTooLarge ? await blocks.bytes(offset + size, BLOCK_TRAILER_LENGTH) : await blocks.bytes(offset, length);
  return new InspectedBlock({ structure, offset, file: source.name }, stored, blocks.decoding, size);
}

/** The handle in the value of an index or metaindex entry; undefined when it cannot be read. */
export function handleInValue(value: Uint8Array): BlockHandle | undefined {
  return readBlockHandle(new VarintReader(value));
}

/** The contents of a stored block, ignoring its checksum; undefined when they cannot be decompressed. */
export function contentsDespiteChecksum(stored: Uint8Array, decoding: BlockDecoding): Uint8Array | undefined {
  const contents = stored.subarray(0, -BLOCK_TRAILER_LENGTH);
  const type = stored[contents.length]!;
  if (type === NO_COMPRESSION) return contents;
  try {
    return decoding.codecs.get(type)?.decompress(contents, decoding.maxBlockBytes);
  } catch {
    return undefined;
  }
}
