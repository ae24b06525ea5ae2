import type { LabelledRange, Structure } from '@bloom/bytes';
import { mustBeOptions } from '@bloom/bytes/internal';
import { type Footer, FOOTER_LENGTH, footerLayout } from '../format/footer.js';
import type { MetaindexEntry } from '../format/metaindex-block.js';
import type { Source } from '../read/source.js';
import { DEFAULT_MAX_FINDINGS, type Finding, FindingList } from './finding.js';
import { INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';
import { structureOf, survey } from './survey.js';

/** The kinds of block, in the order of their numbers in {@link TableOutline.kinds}. */
export const BLOCK_KINDS = ['data block', 'filter block', 'meta block', 'metaindex block', 'index block'] as const satisfies readonly Structure[];

/**
 * Where the blocks of a table are. The arrays are flat because a table of 1 GiB has a quarter of a million blocks. Block
 * `i` is a `BLOCK_KINDS[kinds[i]]`; its stored contents are the `sizes[i]` bytes at `offsets[i]`, followed by a trailer
 * of 5 bytes.
 */
export interface TableOutline {
  readonly byteLength: number;
  /** Undefined when the footer cannot be read; then there are no blocks, and `findings` says why. */
  readonly footer: Footer | undefined;
  /** The last 48 bytes of the file, or all of a shorter one. */
  readonly footerBytes: Uint8Array;
  /** The labels of those bytes; empty for a file too short to have a footer. */
  readonly footerLayout: readonly LabelledRange[];
  readonly metaindex: readonly MetaindexEntry[];
  /** In file order, with each block once. */
  readonly kinds: Uint8Array;
  readonly offsets: Float64Array;
  readonly sizes: Float64Array;
  /** What is wrong with footer, metaindex and index. The other blocks are not read. */
  readonly findings: readonly Finding[];
}

/**
 * Finds where the blocks of a table are, whatever state it is in. Reads only footer, metaindex and index.
 *
 * @throws the source's errors, and the reason of `signal`; never an error about the bytes of the table.
 * @example
 * ```ts
 * const { offsets, sizes, findings } = await outlineTable(source);
 * ```
 */
export async function outlineTable(source: Source, options: InspectionOptions = {}): Promise<TableOutline> {
  mustBeOptions('outlineTable', options, INSPECTION_OPTIONS);
  const stored = new StoredBlocks(source, options);
  const { byteLength } = source;
  const footerOffset = Math.max(0, byteLength - FOOTER_LENGTH);
  const footerBytes = byteLength === 0 ? new Uint8Array(0) : await stored.bytes(footerOffset, byteLength - footerOffset);
  const findings = new FindingList(DEFAULT_MAX_FINDINGS);
  const { footer, metaindex = [], metaBlocks, blocks, fileOrder, isRepeated } = await survey(stored, findings);
  const order = fileOrder.filter((i) => isRepeated[i] === 0);
  return {
    byteLength,
    footer,
    footerBytes: footerBytes.slice(),
    footerLayout: byteLength < FOOTER_LENGTH ? [] : footerLayout(footerBytes, footerOffset),
    metaindex,
    kinds: Uint8Array.from(order, (i) => BLOCK_KINDS.indexOf(structureOf(metaBlocks, i) as (typeof BLOCK_KINDS)[number])),
    offsets: Float64Array.from(order, (i) => blocks.offsetOf(i)),
    sizes: Float64Array.from(order, (i) => blocks.sizeOf(i)),
    findings: findings.findings,
  };
}
