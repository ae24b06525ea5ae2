import { LOG_BLOCK_LENGTH, LOG_HEADER_LENGTH, LogWriter } from '@bloom/log';
import type { FolderFile } from './folder.js';
import type { WritableFile } from './writable-folder.js';

const NO_BYTES = new Uint8Array(0);

/**
 * Whether records can be added to a file: it ends with its last whole record, or with the trailer of a block after it. Records after anything
 * else, such as a part of a record or zeros, would be lost, because readers skip the rest of that block.
 *
 * @param recordsEnd the end of the last whole record.
 */
export function canBeContinued({ byteLength }: Pick<FolderFile, 'byteLength'>, recordsEnd: number): boolean {
  return byteLength === recordsEnd || (byteLength % LOG_BLOCK_LENGTH === 0 && byteLength - recordsEnd < LOG_HEADER_LENGTH);
}

/** A log or a MANIFEST that is being written. */
export class RecordFile {
  readonly number: bigint;
  readonly name: string;
  /** Whether everything written is on disk. */
  isSynced: boolean;
  readonly #file: WritableFile;
  readonly #writer: LogWriter;
  /** The encoded record. */
  #bytes: Uint8Array = NO_BYTES;

  /** @param byteLength of the file that is appended to. */
  constructor(number: bigint, name: string, file: WritableFile, byteLength = 0) {
    this.number = number;
    this.name = name;
    this.#file = file;
    // The program that wrote to the file before may not have synced it.
    this.isSynced = byteLength === 0;
    this.#writer = new LogWriter({ append: (bytes) => (this.#bytes = bytes), isLent: true }, byteLength);
  }

  get byteLength(): number {
    return this.#writer.byteLength;
  }

  /**
   * Appends a record.
   *
   * REQUIRES: the previous record is written, and no record has failed: after a failure the file may end in part of a record.
   */
  addRecord(record: Uint8Array): void | Promise<void> {
    this.isSynced = false;
    this.#writer.addRecord(record);
    const bytes = this.#bytes;
    this.#bytes = NO_BYTES;
    return this.#file.append(bytes);
  }

  async sync(): Promise<void> {
    await this.#file.sync();
    this.isSynced = true;
  }

  /** Fails when written bytes are lost. */
  check(): void | Promise<void> {
    return this.#file.check?.();
  }

  close(): void | Promise<void> {
    return this.#file.close();
  }
}
