import type { LogReader, LogTail } from '@bloom/log';
import { PIECE_LENGTH } from './file-pieces.js';
import type { FolderFile } from './folder.js';
import { type FolderReading, othersTurn, readBytes } from './folder-reading.js';
import { type KnownPrefix, type Piece, PrefixChecksum } from './known-prefix.js';
import { Pacer } from './pacer.js';

/** How much is read between two checks of the clock: some hundred entries take less than a millisecond. */
const PUSHED_LENGTH = 32 * 2 ** 10;

/** The records of a log or a MANIFEST, read a piece of the file at a time. */
export class StoredRecords {
  /**
   * The incomplete record at the end of the file, if there is one. It is no damage: the writer was stopped, or is still writing. Known once
   * everything is read.
   */
  tail: LogTail | undefined;
  readonly #reader: LogReader;
  readonly #file: FolderFile;
  readonly #end: number;
  readonly #checksum: PrefixChecksum | undefined;
  readonly #pacer = new Pacer(1);
  #piece: Piece;
  /** Where the next piece starts. */
  #offset: number;

  /**
   * @param reader receives the pieces, the first of them from the end of what `checksum` covers, or from the start.
   * @param checksum is updated with the whole records that were read. Omitted if no one continues reading later.
   * @param end by default the end that the file had when it was opened.
   */
  constructor(reader: LogReader, file: FolderFile, checksum?: PrefixChecksum, end = file.byteLength) {
    this.#reader = reader;
    this.#file = file;
    this.#checksum = checksum;
    this.#end = end;
    this.#offset = checksum?.byteLength ?? 0;
    this.#piece = { offset: this.#offset, bytes: new Uint8Array(0) };
  }

  /** The end of the last whole record so far. */
  get recordsEnd(): number {
    return this.#reader.resumeOffset;
  }

  /** Gives the reader the next piece, or reports the end to it. @returns whether there may be more. */
  *readPiece(): FolderReading<boolean> {
    const offset = this.#offset;
    const isOver = offset >= this.#end;
    if (isOver) {
      this.tail = this.#reader.finish();
    } else {
      this.#piece = { offset, bytes: yield* readBytes(this.#file, offset, Math.min(PIECE_LENGTH, this.#end - offset)) };
      this.#offset += this.#piece.bytes.length;
      yield* this.#push(this.#piece.bytes);
    }
    if (this.#checksum !== undefined) yield* this.#checksum.moveTo(this.#reader.resumeOffset, this.#file, this.#piece);
    return !isOver;
  }

  *readAll(): FolderReading<void> {
    while (yield* this.readPiece());
  }

  *#push(bytes: Uint8Array): FolderReading<void> {
    for (let start = 0; start < bytes.length; start += PUSHED_LENGTH) {
      this.#reader.push(bytes.subarray(start, start + PUSHED_LENGTH));
      if (this.#pacer.isDue()) {
        yield* othersTurn();
        this.#pacer.restart();
      }
    }
  }
}

interface Records {
  /** What was read, up to the end of the last whole record. */
  readonly prefix: KnownPrefix;
  readonly tail: LogTail | undefined;
}

/** Reads all records of a log or MANIFEST, from the end of what was read `before` to `end`. */
export function* readRecords(reader: LogReader, file: FolderFile, before?: KnownPrefix, end?: number): FolderReading<Records> {
  const checksum = new PrefixChecksum(before);
  const records = new StoredRecords(reader, file, checksum, end);
  yield* records.readAll();
  return { prefix: checksum.prefixOf(file), tail: records.tail };
}
