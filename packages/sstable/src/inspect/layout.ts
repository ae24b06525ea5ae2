import type { LabelledRange, Structure } from '@bloom/bytes';
import { mustBeOptions, numberOf, shownValue } from '@bloom/bytes/internal';
import { filterBlockLayout } from '@bloom/filter-block';
import { BloomFilterPolicy } from '@bloom/policy';
import { blockLayout } from '../format/block.js';
import { NO_COMPRESSION } from '../format/codec.js';
import { FOOTER_LENGTH, footerLayout } from '../format/footer.js';
import { policyNameOf } from '../format/metaindex-block.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock, storedBlockTrailerLayout } from '../format/stored-block.js';
import type { Source } from '../read/source.js';
import { FindingList, findingOf } from './finding.js';
import { handleInValue } from './inspected-block.js';
import { ENTRIES_PER_PAUSE, INSPECTION_OPTIONS, type InspectionOptions, StoredBlocks } from './stored-blocks.js';
import { type MetaBlock, survey } from './survey.js';

/** How to lay a table out. */
export interface LayoutOptions extends InspectionOptions {
  /** `'blocks'`: one range per block. `'fields'`: also one per field of each uncompressed block. Default: `'fields'`. */
  readonly detail?: 'blocks' | 'fields' | undefined;
}

/** A name in the metaindex is part of each label, and can have a megabyte. */
const MAX_NAME_LENGTH = 100;

/**
 * Labels every byte of a table's file, whatever state it is in: each byte once, in order.
 *
 * A generator, because the ranges of all fields take many times the memory of the file. It takes memory for one block and
 * the index, each at most a few times `maxBlockBytes`, and 21 bytes per block.
 *
 * @throws the source's errors, and the reason of `signal`; never an error about the bytes of the table.
 *
 * @example
 * ```ts
 * for await (const { offset, byteLength, label, value } of tableLayout(source)) console.log(offset, byteLength, label, value);
 * ```
 */
export async function* tableLayout(
  source: Source,
  options: LayoutOptions = {},
): AsyncGenerator<LabelledRange, void, undefined> {
  mustBeOptions('tableLayout', options, { ...INSPECTION_OPTIONS, detail: true });
  const { detail = 'fields' } = options;
  if (!['blocks', 'fields'].includes(detail)) throw new RangeError(`detail must be 'blocks' or 'fields', got ${shownValue(detail)}`);
  const stored = new StoredBlocks(source, options);
  const hasFields = detail === 'fields';
  const { footer, blocks, fileOrder, isRepeated, metaBlocks } = await survey(stored, new FindingList(0));
  let position = 0;
  let dataBlocks = 0;
  let ranges = 0;
  for (const i of fileOrder) {
    if (isRepeated[i] === 1) continue;
    const handle = blocks.at(i);
    const meta = metaBlocks[i];
    const label = meta === undefined ? `data block ${dataBlocks++}` : (meta.name ?? meta.structure).slice(0, MAX_NAME_LENGTH);
    // Its bytes already have labels. `verifyTable` reports the overlap.
    if (handle.offset < position) continue;
    if (handle.offset > position) yield gap(position, handle.offset);
    const byteLength = handle.size + BLOCK_TRAILER_LENGTH;
    position = handle.offset + byteLength;
    if (!hasFields) {
      yield { offset: handle.offset, byteLength, label };
      continue;
    }
    for (const range of await fieldsOf(stored, { structure: 'data block', ...meta, handle })) {
      if (++ranges % ENTRIES_PER_PAUSE === 0) await stored.pause();
      yield { ...range, label: `${label}: ${range.label}` };
    }
  }
  if (footer !== undefined) {
    const offset = source.byteLength - FOOTER_LENGTH;
    if (offset > position) yield gap(position, offset);
    if (hasFields) {
      const bytes = await stored.bytes(offset, FOOTER_LENGTH);
      for (const range of footerLayout(bytes, offset)) yield { ...range, label: `footer: ${range.label}` };
    } else {
      yield { offset, byteLength: FOOTER_LENGTH, label: 'footer' };
    }
    position = source.byteLength;
  }
  if (source.byteLength > position) yield gap(position, source.byteLength);
}

function gap(start: number, end: number): LabelledRange {
  return { offset: start, byteLength: end - start, label: 'bytes that nothing points to' };
}

/** Labels the bytes of a stored block. */
async function fieldsOf(stored: StoredBlocks, block: MetaBlock): Promise<Iterable<LabelledRange>> {
  const { structure, handle, name } = block;
  const { offset, size } = handle;
  const { name: file } = stored.source;
  let bytes: Uint8Array;
  try {
    bytes = await stored.stored(handle, { structure, file });
  } catch (error) {
    return [{ offset, byteLength: size + BLOCK_TRAILER_LENGTH, label: 'not read', value: findingOf(error).problem }];
  }
  const trailer = storedBlockTrailerLayout(bytes, offset, stored.decoding.codecs);
  const whole = (label: string, value?: string): LabelledRange[] => [
    ...(size > 0 ? [{ offset, byteLength: size, label, ...(value !== undefined && { value }) }] : []),
    ...trailer,
  ];
  let contents: Uint8Array;
  try {
    contents = decodeStoredBlock(bytes, { structure, offset, file }, stored.decoding);
  } catch (error) {
    return whole('damaged', findingOf(error).problem);
  }
  if (bytes[size] !== NO_COMPRESSION) return whole('compressed contents', numberOf(contents.length, 'byte'));
  return structure === 'meta block' ? whole('contents') : contentsAndTrailer(structure, name, contents, offset, trailer);
}

/** Whether the filters of a policy are laid out in detail. */
function isBloom(policyName: string | undefined): boolean {
  return policyName === new BloomFilterPolicy().name || policyName === 'leveldb.BuiltinBloomFilter';
}

function* contentsAndTrailer(
  structure: Structure,
  name: string | undefined,
  contents: Uint8Array,
  offset: number,
  trailer: LabelledRange[],
): Generator<LabelledRange, void, undefined> {
  if (structure === 'filter block') {
    const policyName = policyNameOf({ name: name!, handle: undefined });
    yield* filterBlockLayout(contents, offset, isBloom(policyName));
  } else {
    yield* blockLayout(contents, offset, structure === 'data block' ? undefined : describeHandle);
  }
  yield* trailer;
}

function describeHandle(value: Uint8Array): string | undefined {
  const handle = handleInValue(value);
  return handle && `offset ${handle.offset}, size ${handle.size}`;
}
