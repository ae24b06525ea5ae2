import { filterBlockLayout } from '@bloom/filter-block';
import { type LabelledRange, VarintReader } from '@bloom/bytes';
import { BloomFilterPolicy } from '@bloom/policy';
import { readBlockHandle } from '../format/block-handle.js';
import { blockLayout } from '../format/block.js';
import { FOOTER_LENGTH, footerLayout } from '../format/footer.js';
import { policyNameOf } from '../format/metaindex-block.js';
import { type Reading, runAsync } from '../read/reading.js';
import type { Source } from '../read/source.js';
import { BLOCK_TRAILER_LENGTH, decodeStoredBlock, storedBlockTrailerLayout } from '../format/stored-block.js';
import { findingOf, survey, type SurveyedBlock } from './survey.js';
import { decodingFor, type TableOptions } from '../read/options.js';

/** How to lay a table out. */
export interface LayoutOptions extends Pick<TableOptions, 'codecs' | 'maxBlockBytes'> {
  /** `'blocks'`: one range for each block; `'fields'`: one for each field of a block that is not compressed. Default: `'fields'`. */
  readonly detail?: 'blocks' | 'fields' | undefined;
  /** Ends the work early. */
  readonly signal?: AbortSignal | undefined;
}

/** The policies whose filters are laid out bit by bit. */
const BLOOM_NAMES = [new BloomFilterPolicy().name, 'leveldb.BuiltinBloomFilter'];

/** What every byte of a table's file is, whatever state it is in: each byte once, in order. */
export function tableLayout(source: Source, options: LayoutOptions = {}): Promise<LabelledRange[]> {
  return runAsync(source, layout(source, options), options.signal);
}

function* layout(source: Source, options: LayoutOptions): Reading<LabelledRange[]> {
  const decoding = decodingFor(options);
  const fields = (options.detail ?? 'fields') === 'fields';
  const { footer, blocks } = yield* survey(source, decoding);
  const ranges: LabelledRange[] = [];
  let position = 0;
  const fillTo = (offset: number): void => {
    if (offset > position) ranges.push({ offset: position, byteLength: offset - position, label: 'bytes that nothing points to' });
    position = Math.max(position, offset);
  };
  const counts = new Map<string, number>();
  for (const block of blocks) {
    const { structure, handle, name } = block;
    const number = counts.get(structure) ?? 0;
    counts.set(structure, number + 1);
    const label = structure === 'data block' ? `data block ${number}` : (name ?? structure);
    const length = handle.size + BLOCK_TRAILER_LENGTH;
    // Its bytes are labelled already: an overlap is for verify to report.
    if (handle.offset < position) continue;
    fillTo(handle.offset);
    position = handle.offset + length;
    if (!fields) {
      ranges.push({ offset: handle.offset, byteLength: length, label });
      continue;
    }
    const stored = yield { offset: handle.offset, length };
    for (const range of fieldsOf(block, stored)) ranges.push({ ...range, label: `${label}: ${range.label}` });
  }
  if (footer !== undefined) {
    const offset = source.byteLength - FOOTER_LENGTH;
    fillTo(offset);
    const bytes = yield { offset, length: FOOTER_LENGTH };
    if (fields) ranges.push(...footerLayout(bytes, offset).map((range) => ({ ...range, label: `footer: ${range.label}` })));
    else ranges.push({ offset, byteLength: FOOTER_LENGTH, label: 'footer' });
    position = source.byteLength;
  }
  fillTo(source.byteLength);
  return ranges;

  function fieldsOf({ structure, handle, name }: SurveyedBlock, stored: Uint8Array): LabelledRange[] {
    const { offset, size } = handle;
    const trailer = storedBlockTrailerLayout(stored, offset, decoding.codecs);
    const whole = (label: string, value?: string): LabelledRange[] => [
      ...(size > 0 ? [{ offset, byteLength: size, label, ...(value !== undefined && { value }) }] : []),
      ...trailer,
    ];
    let contents: Uint8Array;
    try {
      contents = decodeStoredBlock(stored, { structure, offset }, decoding);
    } catch (error) {
      return whole('damaged', findingOf(error).problem);
    }
    if (stored[size] !== 0) return whole('compressed contents', `${contents.length} bytes`);
    if (structure === 'meta block') return whole('contents');
    if (structure === 'filter block') {
      const policyName = policyNameOf({ name: name!, handle });
      return [...filterBlockLayout(contents, offset, BLOOM_NAMES.includes(policyName!)), ...trailer];
    }
    const describe = structure === 'data block' ? undefined : describeHandle;
    return [...blockLayout(contents, offset, describe), ...trailer];
  }
}

function describeHandle(value: Uint8Array): string | undefined {
  const handle = readBlockHandle(new VarintReader(value));
  return handle && `offset ${handle.offset}, size ${handle.size}`;
}
