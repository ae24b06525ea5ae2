/**
 * Writes the records of a log file.
 *
 * Source: LevelDB, db/log_writer.cc.
 */
import { mustBeBytes, mustBeWhole, PrefixViews } from '@bloom/bytes/internal';
import { FIRST, FULL, LAST, LOG_BLOCK_LENGTH, LOG_HEADER_LENGTH, MIDDLE, putFragment } from './log-format.js';

/** Where the bytes of a log go. */
export interface LogSink {
  /**
   * Takes the next bytes of the file: one call for each record, however many blocks it covers. The sink may keep them,
   * unless `isLent`.
   */
  append(bytes: Uint8Array): void;
  /** Whether the bytes are only needed until the next record is added: one array then serves many records. Default: false. */
  readonly isLent?: boolean | undefined;
}

/** A longer array is not kept for the next record. */
const MAX_KEPT_BYTES = 2 ** 20;

/**
 * Writes records to the end of a log.
 *
 * @example
 * ```ts
 * const writer = new LogWriter({ append: (bytes) => writeSync(fd, bytes) });
 * writer.addRecord(utf8('foo')); // dd5fb37a 0300 01 666f6f
 * ```
 */
export class LogWriter {
  readonly #sink: LogSink;
  #byteLength: number;
  /** The array that is lent to the sink, for one record after another. */
  #lent = new PrefixViews(new Uint8Array(0));

  /** @param byteLength of the file that is appended to, whatever its last bytes are. */
  constructor(sink: LogSink, byteLength = 0) {
    this.#sink = sink;
    this.#byteLength = mustBeWhole('byteLength', byteLength, 0);
  }

  /** Bytes of the file once everything that was appended has arrived. */
  get byteLength(): number {
    return this.#byteLength;
  }

  /** Adds a record, which may be empty. If the sink throws, the error is passed on and the record does not count as added. */
  addRecord(record: Uint8Array): void {
    mustBeBytes('record', record);
    const bytes = this.#allocate(lengthOf(record.length, this.#byteLength % LOG_BLOCK_LENGTH));
    let position = 0;
    let start = 0;
    let begun = false;
    do {
      const left = this.#leftAt(position);
      if (left < LOG_HEADER_LENGTH) {
        bytes.fill(0, position, position + left);
        position += left;
      }
      const end = Math.min(record.length, start + this.#leftAt(position) - LOG_HEADER_LENGTH);
      const ends = end === record.length;
      const type = begun ? (ends ? LAST : MIDDLE) : ends ? FULL : FIRST;
      position = putFragment(bytes, position, type, record, start, end);
      begun = true;
      start = end;
    } while (start < record.length);
    this.#sink.append(bytes);
    this.#byteLength += bytes.length;
  }

  /** An array of `length` bytes with arbitrary contents. */
  #allocate(length: number): Uint8Array {
    if (this.#sink.isLent !== true || length > MAX_KEPT_BYTES) return new Uint8Array(length);
    const { byteLength } = this.#lent.bytes;
    if (length > byteLength) this.#lent = new PrefixViews(new Uint8Array(Math.max(length, byteLength * 2)));
    return this.#lent.of(length);
  }

  /** Bytes to the end of the block, `position` bytes on from the end of the file. */
  #leftAt(position: number): number {
    return LOG_BLOCK_LENGTH - ((this.#byteLength + position) % LOG_BLOCK_LENGTH);
  }
}

/** Bytes that a record of `recordLength` takes from `blockPosition` of a block on: trailers, headers and payloads. */
function lengthOf(recordLength: number, blockPosition: number): number {
  const left = LOG_BLOCK_LENGTH - blockPosition;
  const trailer = left < LOG_HEADER_LENGTH ? left : 0;
  const firstRoom = (trailer > 0 ? LOG_BLOCK_LENGTH : left) - LOG_HEADER_LENGTH;
  const rest = Math.max(0, recordLength - firstRoom);
  const fragments = 1 + Math.ceil(rest / (LOG_BLOCK_LENGTH - LOG_HEADER_LENGTH));
  return trailer + fragments * LOG_HEADER_LENGTH + recordLength;
}
