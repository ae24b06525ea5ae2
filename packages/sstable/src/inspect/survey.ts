import type { BlockHandle } from '../format/block-handle.js';
import { readBlockHandle } from '../format/block-handle.js';
import { WholeBlockWalk } from '../format/whole-block-walk.js';
import { CorruptionError, type CorruptionCode, type Place, type Structure, UnsupportedError, type UnsupportedCode, VarintReader } from '@bloom/bytes';
import { decodeFooter, type Footer, FOOTER_LENGTH } from '../format/footer.js';
import { decodeMetaindex, type MetaindexEntry, policyNameOf } from '../format/metaindex-block.js';
import type { Reading } from '../read/reading.js';
import type { Source } from '../read/source.js';
import { BLOCK_TRAILER_LENGTH, type BlockDecoding, decodeStoredBlock } from '../format/stored-block.js';

/**
 * What only a look at the whole table can find.
 *
 * - `BLOOM_OVERLAP`: two blocks share bytes of the file.
 * - `BLOOM_OUT_OF_ORDER`: a key is not after the key before it.
 * - `BLOOM_BAD_SEPARATOR`: an index key is not between the keys of its block and those of the next.
 * - `BLOOM_BAD_RESTART`: a block's restarts are not at the starts of entries, in order.
 * - `BLOOM_FILTER_MISS`: a key that is in the table is denied by its filter.
 */
export type FindingCode =
  | CorruptionCode
  | UnsupportedCode
  | 'BLOOM_OVERLAP'
  | 'BLOOM_OUT_OF_ORDER'
  | 'BLOOM_BAD_SEPARATOR'
  | 'BLOOM_BAD_RESTART'
  | 'BLOOM_FILTER_MISS';

/** Something wrong with a table. */
export interface Finding {
  readonly code: FindingCode;
  readonly structure: Structure;
  /** Bytes from the start of the file to the start of the structure. */
  readonly offset: number;
  readonly problem: string;
}

/** A block that a table says it has. */
export interface SurveyedBlock {
  readonly structure: Structure;
  /** Its name in the metaindex, if that is where it is listed. */
  readonly name?: string;
  readonly handle: BlockHandle;
  /** The index's key for it, if it is a data block. */
  readonly separator?: Uint8Array;
}

/**
 * How many bytes of blocks may be read: a file's own, several times over. Handles that all lead to the same large
 * stretch would cost without end otherwise.
 */
export class ReadBudget {
  #left: number;

  constructor({ byteLength }: Source) {
    this.#left = 8 * byteLength + 2 ** 20;
  }

  /** Takes a block's bytes out of it. @returns false when there are not enough left. */
  take({ size }: BlockHandle): boolean {
    this.#left -= size;
    return this.#left >= 0;
  }
}

/** What can be found out about a table without trusting any of it. */
export interface Survey {
  /** Absent when the footer cannot be read. */
  readonly footer: Footer | undefined;
  /** The metaindex, in its order. */
  readonly metaindex: readonly MetaindexEntry[];
  /** All blocks inside the file that a handle was found for, each once, in the order in which they are listed. */
  readonly listed: readonly SurveyedBlock[];
  /** The same in the order of the file. */
  readonly blocks: readonly SurveyedBlock[];
  /** What was wrong on the way. */
  readonly findings: readonly Finding[];
}

/** What an error says, without being one. @throws the error, if it is not about the table. */
export function findingOf(error: unknown): Finding {
  if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
  const { code, structure, offset, problem } = error;
  return { code, structure, offset, problem };
}

/** Reads footer, metaindex and index, and goes on past damage as far as there is anything to go by. */
export function* survey(source: Source, decoding: BlockDecoding): Reading<Survey> {
  const { byteLength, name: file } = source;
  const findings: Finding[] = [];
  const footerOffset = byteLength - FOOTER_LENGTH;
  if (footerOffset < 0) {
    const problem = `not a LevelDB table: ${byteLength} bytes are fewer than the ${FOOTER_LENGTH} of a footer`;
    return { footer: undefined, metaindex: [], listed: [], blocks: [], findings: [{ code: 'BLOOM_NOT_A_TABLE', structure: 'file', offset: 0, problem }] };
  }
  let footer: Footer;
  try {
    const bytes = yield { offset: footerOffset, length: FOOTER_LENGTH };
    footer = decodeFooter(bytes, { structure: 'footer', offset: footerOffset, file });
  } catch (error) {
    return { footer: undefined, metaindex: [], listed: [], blocks: [], findings: [findingOf(error)] };
  }

  let metaindex: readonly MetaindexEntry[] = [];
  const listed: SurveyedBlock[] = [];
  /** How many handles lead to each block, by offset and by size. */
  const uses = new Map<number, Map<number, number>>();
  const isInside = ({ offset, size }: BlockHandle): boolean => offset + size + BLOCK_TRAILER_LENGTH <= footerOffset;
  /** Lists a block; false when it cannot be one. */
  const list = (block: SurveyedBlock, at: Place): boolean => {
    const { offset, size } = block.handle;
    if (isInside(block.handle)) {
      let bySize = uses.get(offset);
      if (bySize === undefined) uses.set(offset, (bySize = new Map<number, number>()));
      const count = (bySize.get(size) ?? 0) + 1;
      bySize.set(size, count);
      if (count === 1) listed.push(block);
      return true;
    }
    const problem = `the handle of the ${block.name ?? block.structure} (offset ${offset}, size ${size}) points outside the file`;
    findings.push(badHandle(at, problem));
    return false;
  };
  const readStored = function* ({ offset, size }: BlockHandle): Reading<Uint8Array> {
    return yield { offset, length: size + BLOCK_TRAILER_LENGTH };
  };
  const footerPlace: Place = { structure: 'footer', offset: footerOffset, file };

  if (list({ structure: 'metaindex block', handle: footer.metaindex }, footerPlace)) {
    const place: Place = { structure: 'metaindex block', offset: footer.metaindex.offset, file };
    try {
      const contents = decodeStoredBlock(yield* readStored(footer.metaindex), place, decoding);
      metaindex = decodeMetaindex(contents, place);
      for (const entry of metaindex) {
        const { name, handle } = entry;
        if (handle !== undefined) {
          list({ structure: policyNameOf(entry) === undefined ? 'meta block' : 'filter block', name, handle }, place);
        } else if (policyNameOf(entry) !== undefined) {
          findings.push(badHandle(place, `the handle of ${name} cannot be read`));
        }
      }
    } catch (error) {
      findings.push(findingOf(error));
    }
  }

  if (list({ structure: 'index block', handle: footer.index }, footerPlace)) {
    const place: Place = { structure: 'index block', offset: footer.index.offset, file };
    const stored = yield* readStored(footer.index);
    let contents: Uint8Array | undefined;
    try {
      contents = decodeStoredBlock(stored, place, decoding);
    } catch (error) {
      findings.push(findingOf(error));
      // Its handles may be good all the same: each data block has a checksum of its own.
      contents = undamagedEnough(stored, place, decoding);
    }
    if (contents !== undefined) listDataBlocks(contents, place, findings, (block) => list(block, place));
  }
  for (const { structure, handle } of listed) {
    const count = uses.get(handle.offset)!.get(handle.size)!;
    if (count > 1) {
      findings.push({ code: 'BLOOM_OVERLAP', structure, offset: handle.offset, problem: `${count} handles lead to it` });
    }
  }
  const blocks = [...listed].sort((a, b) => a.handle.offset - b.handle.offset || a.handle.size - b.handle.size);
  return { footer, metaindex, listed, blocks, findings };
}

/** The contents of a block whose checksum is wrong, where they can be had at all. */
function undamagedEnough(stored: Uint8Array, place: Place, decoding: BlockDecoding): Uint8Array | undefined {
  const contents = stored.subarray(0, -BLOCK_TRAILER_LENGTH);
  const codec = decoding.codecs.get(stored[contents.length]!);
  if (codec === undefined) return contents;
  try {
    return codec.decompress(contents, decoding.maxBlockBytes);
  } catch {
    return undefined;
  }
}

/** Lists what an index points to. Behind a damaged entry it goes on at the next restart. */
function listDataBlocks(
  contents: Uint8Array,
  place: Place,
  findings: Finding[],
  list: (block: SurveyedBlock) => boolean,
): void {
  const cursor = new WholeBlockWalk(place.structure, place.file);
  const reader = new VarintReader(contents);
  /** The first restart, in the order of their numbers, that no entry was found at yet. */
  let restart = 0;
  const take = (): void => {
    if (restart < cursor.restartCount && cursor.restartOffset(restart) === cursor.entryStart) restart++;
    reader.position = cursor.valueStart;
    reader.end = cursor.valueEnd;
    const handle = readBlockHandle(reader);
    if (handle !== undefined) list({ structure: 'data block', handle, separator: cursor.key.slice() });
    else findings.push(badHandle(place, `the handle in the entry at byte ${cursor.entryStart} cannot be read`));
  };
  try {
    cursor.reset(contents, place.offset);
  } catch (error) {
    findings.push(findingOf(error));
    return;
  }
  const { restartCount } = cursor;
  const restarts = Array.from({ length: restartCount }, (_, number) => ({ number, offset: cursor.restartOffset(number) }));
  restarts.sort((a, b) => a.offset - b.offset);
  let reached = -1;
  let damaged = false;
  for (const { number, offset } of restarts) {
    if (offset <= reached) continue;
    try {
      for (let more = cursor.seekToRestart(number); more; more = cursor.next()) {
        reached = cursor.entryStart;
        take();
      }
      reached = contents.length;
    } catch (error) {
      reached = Math.max(reached, offset);
      damaged = true;
      const finding = findingOf(error);
      findings.push(finding);
      if (finding.code === 'BLOOM_TOO_LARGE') return;
    }
  }
  // The one restart of a block without entries is at no entry.
  if (restart < restartCount && !damaged && !(restart === 0 && cursor.totalKeyBytes === 0 && restartCount === 1)) {
    const problem = `restart ${restart} is at byte ${cursor.restartOffset(restart)}, where no entry starts or an earlier one did`;
    findings.push({ code: 'BLOOM_BAD_RESTART', structure: place.structure, offset: place.offset, problem });
  }
}

function badHandle({ structure, offset }: Place, problem: string): Finding {
  return { code: 'BLOOM_BAD_HANDLE', structure, offset, problem };
}
