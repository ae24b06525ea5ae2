import type { LabelledRange } from '@bloom/bytes';
import { joinedBytes, mustBeBytes } from '@bloom/bytes/internal';
import { isZeroedEnd, mayBeTruncated } from './log-end.js';
import { FIRST, FragmentReader, FULL, LAST, LOG_BLOCK_LENGTH, MIDDLE, TYPE_NAMES } from './log-format.js';

/**
 * What the bytes of a record are: each byte once, in order, with offsets from the start of the record.
 *
 * @param number of the record in the log, from 0.
 */
export type RecordLayout = (record: Uint8Array, number: number) => readonly LabelledRange[];

/**
 * Labels every byte of a log once, in order. A damaged or truncated fragment is one range.
 *
 * @param recordLayout says what is in a whole record. Default: the payload of each fragment is one range.
 * @throws TypeError when `bytes` is not a `Uint8Array`.
 */
export function logLayout(bytes: Uint8Array, recordLayout?: RecordLayout): LabelledRange[] {
  return [...logRanges(bytes, recordLayout)];
}

/** {@link logLayout}, one range after another: memory holds the ranges of at most one record. */
export function* logRanges(bytes: Uint8Array, recordLayout?: RecordLayout): Generator<LabelledRange, void, undefined> {
  mustBeBytes('bytes', bytes);
  const fragment = new FragmentReader();
  /** The ranges of the record that is being put together. */
  let ranges: LabelledRange[] = [];
  /** Which of them are its payload; undefined when no record is being put together. */
  let payloads: Set<LabelledRange> | undefined;
  let fragments = 0;
  let records = 0;
  for (let blockStart = 0; blockStart < bytes.length; blockStart += LOG_BLOCK_LENGTH) {
    const blockEnd = Math.min(bytes.length, blockStart + LOG_BLOCK_LENGTH);
    const isCut = blockEnd - blockStart < LOG_BLOCK_LENGTH;
    for (let position = blockStart; position < blockEnd; position = fragment.end) {
      const state = fragment.read(bytes, position, blockEnd);
      if (state !== 'fragment') {
        const label = {
          trailer: isCut ? 'cut header' : 'trailer',
          'bad length': isCut && mayBeTruncated(bytes, position, fragment, 0, payloads !== undefined) ? 'cut payload' : 'rest of the block: bad record length',
          zeros: 'zeros, allocated ahead',
          'bad checksum': isZeroedEnd(bytes, position, fragment.end, 0) ? 'zeroed end' : 'rest of the block: checksum mismatch',
        }[state];
        ranges.push({ offset: position, byteLength: blockEnd - position, label });
        if (state !== 'trailer') payloads = undefined;
        break;
      }
      const { type, start, end } = fragment;
      if (type === FULL || type === FIRST) {
        yield* ranges;
        ranges = [];
        payloads = new Set();
      } else if (type !== MIDDLE && type !== LAST) {
        payloads = undefined;
      }
      const name = `fragment ${fragments++}`;
      ranges.push(
        { offset: position, byteLength: 4, label: `${name}: masked checksum` },
        { offset: position + 4, byteLength: 2, label: `${name}: length`, value: String(end - start) },
        { offset: position + 6, byteLength: 1, label: `${name}: type`, value: TYPE_NAMES[type] ?? `unknown: ${type}` },
      );
      if (end > start) {
        const payload = { offset: start, byteLength: end - start, label: `${name}: payload` };
        ranges.push(payload);
        payloads?.add(payload);
      }
      if (payloads === undefined || type === FULL || type === LAST) {
        if (payloads === undefined || recordLayout === undefined) yield* ranges;
        else yield* withRecord(bytes, ranges, payloads, `record ${records}`, (record) => recordLayout(record, records));
        if (payloads !== undefined) records++;
        ranges = [];
        payloads = undefined;
      }
    }
    if (payloads === undefined) {
      yield* ranges;
      ranges = [];
    }
  }
  yield* ranges;
}

/** `ranges` with what is in the record in place of its payloads. A range that crosses from one fragment into the next is split in two. */
function* withRecord(
  bytes: Uint8Array,
  ranges: readonly LabelledRange[],
  payloads: ReadonlySet<LabelledRange>,
  name: string,
  layout: (record: Uint8Array) => readonly LabelledRange[],
): Generator<LabelledRange, void, undefined> {
  const fields = layout(joinedBytes([...payloads].map(({ offset, byteLength }) => bytes.subarray(offset, offset + byteLength))));
  let next = 0;
  /** Of the record, how many bytes are in the fragments so far. */
  let position = 0;
  for (const range of ranges) {
    if (!payloads.has(range)) {
      yield range;
      continue;
    }
    const end = position + range.byteLength;
    for (; next < fields.length && fields[next]!.offset < end; next++) {
      const { offset, byteLength, label, value } = fields[next]!;
      const isStart = offset >= position;
      const from = isStart ? offset : position;
      const to = Math.min(offset + byteLength, end);
      yield {
        offset: range.offset + from - position,
        byteLength: to - from,
        label: `${name}: ${label}${isStart ? '' : ' (continued)'}`,
        ...(isStart && value !== undefined && { value }),
      };
      if (offset + byteLength > end) break;
    }
    position = end;
  }
}
