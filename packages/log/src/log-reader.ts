/**
 * Reads the records of a log file, and reports what was dropped and why.
 *
 * After damage, the rest of its block is dropped, and so is a record that crosses into or out of that block. Reading continues at the next
 * block; with `resumesInBlock`, where whole fragments follow in the same one.
 *
 * A record that is truncated by the end of the file is not damage: the writer was stopped, or is still writing. Neither is a record that turns
 * into zeros, up to the end of the file, at a multiple of 512 bytes: after a power failure some file systems have the length of a file, but not
 * its last bytes. In space that was allocated ahead, it can turn into zeros at any byte: the writer was killed. If anything follows the zeros,
 * they are damage, although LevelDB skips them without a report. A length that was changed to one past the end of the file is damage, and so
 * are last bytes that no writer begins a record with, although LevelDB takes both for a truncated record, and drops what follows without a
 * report.
 *
 * Source: LevelDB, db/log_reader.cc.
 */
import { GIT_LFS_POINTER, isGitLfsPointer, joinedBytes, mustBeBoolean, mustBeBytes, mustBeOptions, mustBeWhole } from '@bloom/bytes/internal';
import { isZeroedEnd, isZeroFrom, mayBeTruncated } from './log-end.js';
import { resumePosition } from './log-resumption.js';
import { FIRST, FragmentReader, FULL, LAST, LOG_BLOCK_LENGTH, type LogDropReason, MIDDLE } from './log-format.js';

/** Bytes of a log that are not part of any readable record. */
export interface LogDrop {
  /** Where the first of them is, in bytes from the start of the file. */
  readonly offset: number;
  /** How many bytes LevelDB reports as dropped. Headers count only where the rest of a block is dropped as a whole. */
  readonly byteLength: number;
  /** In LevelDB's words, if it has any. */
  readonly reason: LogDropReason;
  /** Present for a record that a killed process began, in a log that another process continued, as LevelDB does with `reuse_logs`: not damage. */
  readonly isInterrupted?: true;
}

/** The end of a log that stops in the middle of a record, or has zeros from there on. */
export interface LogTail {
  /** Bytes from the start of the file to the record that is truncated. */
  readonly offset: number;
  /** Bytes from there to the end of the file. */
  readonly byteLength: number;
  readonly problem: 'cut header' | 'cut payload' | 'cut record' | 'zeroed end';
}

/** The most bytes of a record: 1 GiB. A larger one is dropped as soon as that many bytes of it were read. */
export const MAX_RECORD_LENGTH = 2 ** 30;

/** The least bytes of a fragment in the middle of a record of which a view is kept, with its block. LevelDB's have nearly a whole block. */
const LEAST_KEPT = LOG_BLOCK_LENGTH / 2;

/** How a {@link LogReader} reads. */
export interface LogReaderOptions {
  /** The most bytes of a record. Default: {@link MAX_RECORD_LENGTH}. */
  readonly maxRecordLength?: number | undefined;
  /**
   * Whether to go on in the same block after damage, where whole fragments follow that reach its end, or that start where the damaged one says
   * that it ends. Default: false, as in LevelDB, which goes on at the next block.
   */
  readonly resumesInBlock?: boolean | undefined;
}

/** Receives what a {@link LogReader} finds. */
export interface LogReading {
  /**
   * Receives a record.
   *
   * @param record the bytes that were added. A record in one fragment is a view of what was pushed, or of a copy of its block.
   * @param offset bytes from the start of the file to the record's first header.
   */
  record(record: Uint8Array, offset: number): void;
  /** Receives dropped bytes. */
  drop?(drop: LogDrop): void;
  /**
   * Whether a record can begin with `bytes`, the part of the last record that the file has; if not, it is damage. Zeros at the end of `bytes`
   * can be those of a power failure. Without this method, a record can begin with any bytes.
   *
   * @param recordLength of the whole record; undefined when it is not known, because the record has more than one fragment.
   */
  mayBegin?(bytes: Uint8Array, recordLength: number | undefined): boolean;
}

/** Zeros that are damage once anything else follows. */
interface Zeroed {
  /** The record that they are in; undefined if they are between records. */
  readonly recordOffset: number | undefined;
  /** Where they begin, if that is at a fragment; undefined if it is within one. */
  readonly start: number | undefined;
  /** What else is dropped then. */
  readonly drops: readonly LogDrop[];
}

/**
 * Reads a log in chunks, as they are read from a file.
 *
 * @example
 * ```ts
 * const reader = new LogReader({ record: (record) => console.log(record.length) });
 * for await (const chunk of chunks) reader.push(chunk);
 * reader.finish(); // the incomplete record at the end, if there is one
 * ```
 */
export class LogReader {
  readonly #reading: LogReading;
  readonly #fragment = new FragmentReader();
  /** The bytes so far of a block that is incomplete. The first of them is at `#position` of the file. */
  #block = new Uint8Array(0);
  #blockLength = 0;
  #position: number;
  #resumeOffset: number;
  /** The fragments so far of a record; undefined when none is being put together. */
  #fragments: Uint8Array[] | undefined;
  /** Small fragments that follow them. A view of each would keep its block in memory. */
  #small: Uint8Array | undefined;
  #smallLength = 0;
  /** Bytes of all fragments. */
  #partialLength = 0;
  #recordOffset = 0;
  readonly #maxRecordLength: number;
  private readonly resumesInBlock: boolean;
  /** Whether the fragments that follow are those of a record that is too large. */
  private isTooLarge = false;
  /** Zeros to the end of a block, if only zeros follow so far. */
  private zeroed: Zeroed | undefined;
  private finished = false;

  /**
   * @param start bytes from the start of the file to the first byte that will be pushed: 0, or the
   *   {@link resumeOffset} of an earlier reader of the same file.
   */
  constructor(reading: LogReading, start = 0, options: LogReaderOptions = {}) {
    mustBeOptions('LogReader', options, { maxRecordLength: true, resumesInBlock: true });
    const { resumesInBlock = false } = options;
    mustBeBoolean('resumesInBlock', resumesInBlock);
    this.resumesInBlock = resumesInBlock;
    this.#maxRecordLength = mustBeWhole('maxRecordLength', options.maxRecordLength ?? MAX_RECORD_LENGTH, LOG_BLOCK_LENGTH);
    this.#reading = reading;
    this.#position = this.#resumeOffset = mustBeWhole('start', start, 0);
  }

  /** Where to start again once the file has grown: the end of the last whole record. */
  get resumeOffset(): number {
    return this.#resumeOffset;
  }

  /** Takes the next bytes of the file; views of them are lent to `record`, so they must not change. */
  push(bytes: Uint8Array): void {
    mustBeBytes('bytes', bytes);
    if (this.finished) throw new TypeError('the reader is finished: read on with a new one');
    for (let taken = 0; taken < bytes.length; ) {
      const missing = LOG_BLOCK_LENGTH - (this.#position % LOG_BLOCK_LENGTH) - this.#blockLength;
      const part = bytes.subarray(taken, taken + missing);
      taken += part.length;
      if (part.length === missing && this.#blockLength === 0) {
        this.#readBlock(part, false);
        continue;
      }
      this.#keep(part, missing);
      if (part.length < missing) return;
      const block = this.#block.subarray(0, this.#blockLength);
      this.#blockLength = 0;
      this.#readBlock(block, false);
    }
  }

  /** Reads the last block: the file has no more bytes. @returns the incomplete end of the file, if there is one. */
  finish(): LogTail | undefined {
    if (this.finished) throw new TypeError('the reader is finished');
    this.finished = true;
    const end = this.#position + this.#blockLength;
    const cut = this.#readBlock(this.#block.subarray(0, this.#blockLength), true);
    if (this.zeroed !== undefined) {
      const { recordOffset: offset } = this.zeroed;
      return offset === undefined ? undefined : { offset, byteLength: end - offset, problem: 'zeroed end' };
    }
    if (this.#fragments !== undefined) return { offset: this.#recordOffset, byteLength: end - this.#recordOffset, problem: 'cut record' };
    return cut && { ...cut, byteLength: end - cut.offset };
  }

  /** Whether a record can begin with the payload of the fragment that the end of `block` truncates, unless it continues one. */
  #mayBegin(block: Uint8Array): boolean {
    const { type, start, end } = this.#fragment;
    if (type !== FULL && type !== FIRST) return true;
    return this.#reading.mayBegin?.(block.subarray(start), type === FULL ? end - start : undefined) ?? true;
  }

  /** Whether the next fragment can be one that continues a record. */
  private get isInRecord(): boolean {
    return this.#fragments !== undefined || this.isTooLarge;
  }

  /** Copies a part of a block to those before it. Records are views of the copy, so each block gets an array of its own. */
  #keep(part: Uint8Array, missing: number): void {
    if (this.#blockLength === 0) this.#block = new Uint8Array(missing);
    this.#block.set(part, this.#blockLength);
    this.#blockLength += part.length;
  }

  /** @param isCut whether the file ends before the block is full: a record that is truncated there is not damage. */
  #readBlock(block: Uint8Array, isCut: boolean): Pick<LogTail, 'offset' | 'problem'> | undefined {
    const blockOffset = this.#position;
    const end = block.length;
    const fragment = this.#fragment;
    this.#position += end;
    if (this.zeroed !== undefined) {
      if (isZeroFrom(block, 0)) return undefined;
      const { start, drops } = this.zeroed;
      this.zeroed = undefined;
      if (start !== undefined) this.#drop(start, blockOffset - start, 'zeros in the middle');
      this.#report(drops);
    }
    for (let position = 0, next; ; position = next) {
      const offset = blockOffset + position;
      const state = fragment.read(block, position, end);
      next = fragment.end;
      switch (state) {
        case 'fragment':
          this.#take(block, offset, blockOffset + fragment.end);
          break;
        case 'trailer':
          return isCut && position < end ? { offset, problem: 'cut header' } : undefined;
        case 'bad length':
          // LevelDB would take it for a truncated record, and the log for an empty one.
          if (offset === 0 && isGitLfsPointer(block)) {
            this.#drop(offset, end, GIT_LFS_POINTER);
            return undefined;
          }
          if (isCut && mayBeTruncated(block, position, fragment, blockOffset, this.isInRecord) && this.#mayBegin(block)) return { offset, problem: 'cut payload' };
          next = this.#dropRest(block, position, blockOffset, isCut, 'bad record length', false);
          break;
        case 'zeros':
          next = this.#dropRest(block, position, blockOffset, isCut, 'zeros in the middle', isZeroFrom(block, next - 1));
          break;
        case 'bad checksum':
          next = this.#dropRest(block, position, blockOffset, isCut, 'checksum mismatch', isZeroedEnd(block, position, next, blockOffset));
          break;
      }
    }
  }

  /**
   * Drops the rest of a block, or the part of it that is damaged, and the record that is being put together.
   *
   * @param position of the fragment at which the rest starts.
   * @param isZeroed whether the block has only zeros from within this fragment on.
   * @returns the position at which reading goes on: the end of the block, unless it goes on inside.
   */
  #dropRest(block: Uint8Array, position: number, blockOffset: number, isCut: boolean, reason: LogDropReason, isZeroed: boolean): number {
    const resumed = this.resumesInBlock && !isZeroed ? resumePosition(block, position, this.#fragment, blockOffset, isCut) : undefined;
    const next = resumed ?? block.length;
    const offset = blockOffset + position;
    this.#endBlock(offset, isZeroed, { offset, byteLength: next - position, reason });
    return next;
  }

  /**
   * Drops the rest of a block, and the record that is being put together.
   *
   * @param offset of the fragment at which the rest starts.
   * @param isZeroed whether the block has only zeros from within this fragment on.
   */
  #endBlock(offset: number, isZeroed: boolean, rest: LogDrop): void {
    const drops: LogDrop[] = [];
    const isBetweenRecords = rest.reason === 'zeros in the middle';
    if (!isZeroed || !isBetweenRecords) drops.push(rest);
    if (this.#fragments !== undefined) drops.push({ offset: this.#recordOffset, byteLength: this.#partialLength, reason: 'error in middle of record' });
    const recordOffset = this.#fragments !== undefined ? this.#recordOffset : isBetweenRecords ? undefined : offset;
    this.isTooLarge = false;
    this.#forget();
    if (isZeroed) this.zeroed = { recordOffset, start: isBetweenRecords ? offset : undefined, drops };
    else this.#report(drops);
  }

  /** Takes a fragment that is at `offset` of the file and ends at `end` of it. */
  #take(block: Uint8Array, offset: number, end: number): void {
    const { type, start, end: payloadEnd } = this.#fragment;
    const payload = block.subarray(start, payloadEnd);
    if (this.isTooLarge) {
      if (type === MIDDLE) return;
      this.isTooLarge = false;
      if (type === LAST) return;
    }
    switch (type) {
      case FULL:
        // Writers before LevelDB 1.0 left an empty FIRST at the end of a block.
        if (this.#partialLength > 0) this.#abandon('partial record without end(1)', offset);
        this.#forget();
        this.#give(payload, offset, end);
        break;
      case FIRST:
        if (this.#partialLength > 0) this.#abandon('partial record without end(2)', offset);
        this.#forget();
        this.#fragments = [payload];
        this.#partialLength = payload.length;
        this.#recordOffset = offset;
        break;
      case MIDDLE:
        if (this.#fragments === undefined) this.#drop(offset, payload.length, 'missing start of fragmented record(1)');
        else {
          this.#append(this.#fragments, payload);
          if (this.#partialLength > this.#maxRecordLength) {
            this.#abandon('record too large');
            this.isTooLarge = true;
          }
        }
        break;
      case LAST: {
        if (this.#fragments === undefined) {
          this.#drop(offset, payload.length, 'missing start of fragmented record(2)');
          break;
        }
        const length = this.#partialLength + payload.length;
        if (length > this.#maxRecordLength) {
          this.#abandon('record too large');
          break;
        }
        this.#keepSmall(this.#fragments);
        const record = joinedBytes([...this.#fragments, payload]);
        this.#forget();
        this.#give(record, this.#recordOffset, end);
        break;
      }
      default:
        this.#drop(this.#fragments === undefined ? offset : this.#recordOffset, payload.length + this.#partialLength, `unknown record type ${type}`);
        this.#forget();
    }
  }

  #append(fragments: Uint8Array[], payload: Uint8Array): void {
    this.#partialLength += payload.length;
    if (payload.length >= LEAST_KEPT || this.#smallLength + payload.length > LOG_BLOCK_LENGTH) this.#keepSmall(fragments);
    if (payload.length >= LEAST_KEPT) {
      fragments.push(payload);
      return;
    }
    this.#small ??= new Uint8Array(LOG_BLOCK_LENGTH);
    this.#small.set(payload, this.#smallLength);
    this.#smallLength += payload.length;
  }

  #keepSmall(fragments: Uint8Array[]): void {
    if (this.#small !== undefined) fragments.push(this.#small.subarray(0, this.#smallLength));
    this.#small = undefined;
    this.#smallLength = 0;
  }

  /** Ends the record that is being put together. */
  #forget(): void {
    this.#fragments = this.#small = undefined;
    this.#smallLength = this.#partialLength = 0;
  }

  #give(record: Uint8Array, offset: number, end: number): void {
    this.#resumeOffset = end;
    this.#reading.record(record, offset);
  }

  /**
   * Drops the record that is being put together, if there is one, and stops skipping fragments of one that is too large.
   *
   * @param nextOffset of the whole fragment that follows; undefined if the record is dropped for another reason.
   */
  #abandon(reason: LogDropReason, nextOffset?: number): void {
    this.isTooLarge = false;
    if (this.#fragments !== undefined) {
      const drop = { offset: this.#recordOffset, byteLength: this.#partialLength, reason };
      // A log that ended with a block, in the middle of a record, is continued in the next block.
      const isInterrupted = nextOffset !== undefined && nextOffset % LOG_BLOCK_LENGTH === 0;
      this.#reading.drop?.(isInterrupted ? { ...drop, isInterrupted } : drop);
    }
    this.#forget();
  }

  #report(drops: readonly LogDrop[]): void {
    for (const drop of drops) this.#reading.drop?.(drop);
  }

  #drop(offset: number, byteLength: number, reason: LogDropReason): void {
    this.#reading.drop?.({ offset, byteLength, reason });
  }
}

/** A record of a log. */
export interface LogRecord {
  readonly bytes: Uint8Array;
  /** Bytes from the start of the file to the record's first header. */
  readonly offset: number;
}

/**
 * All records of a log in memory, the dropped bytes, and the tail.
 *
 * @example
 * ```ts
 * const { records, drops } = readLog(readFileSync('000004.log'));
 * ```
 */
export function readLog(bytes: Uint8Array): {
  readonly records: LogRecord[];
  readonly drops: LogDrop[];
  readonly tail: LogTail | undefined;
} {
  const records: LogRecord[] = [];
  const drops: LogDrop[] = [];
  const reader = new LogReader({
    record: (record, offset) => records.push({ bytes: record, offset }),
    drop: (drop) => drops.push(drop),
  });
  reader.push(bytes);
  return { records, drops, tail: reader.finish() };
}
