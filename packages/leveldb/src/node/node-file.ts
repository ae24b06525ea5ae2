/**
 * Files of a database folder that are read.
 *
 * A file is kept open unless too many are. Beyond that limit, and when the system has no descriptor left, a file is opened for each
 * read, as LevelDB does: a database of any number of tables can be read with few descriptors.
 */
import { statSync } from 'node:fs';
import type { Bytes, Signal } from '@bloom/bytes';
import type { FileIdentity } from '@bloom/sstable';
import { fileIdentity, FileSource, type ReadPace, SyncFileSource } from '@bloom/sstable/node';
import { FolderError, type FolderFile, isSameState, type SyncFolderFile } from '../folder/folder.js';
import { giveBackDescriptor, takeDescriptor } from './open-file-limit.js';
import { codeOf } from './system-error.js';

/** @throws the system's error when the file cannot be opened, or is not a regular file. */
export async function openForReading(path: string, readsAtOnce: ReadPace | false): Promise<FolderFile> {
  if (!takeDescriptor()) return new ReopenedFile(path);
  try {
    return new KeptFile(await FileSource.open(path, { readsAtOnce }));
  } catch (error) {
    giveBackDescriptor();
    if (!isOutOfDescriptors(error)) throw error;
    return new ReopenedFile(path);
  }
}

/** The synchronous {@link openForReading}. */
export function openForReadingSync(path: string): SyncFolderFile {
  if (!takeDescriptor()) return new ReopenedFile(path);
  try {
    return new SyncKeptFile(SyncFileSource.open(path));
  } catch (error) {
    giveBackDescriptor();
    if (!isOutOfDescriptors(error)) throw error;
    return new ReopenedFile(path);
  }
}

/** A file that stays open until it is closed. */
abstract class OpenFile<Source extends FileSource | SyncFileSource> {
  readonly name: string;
  readonly byteLength: number;
  readonly identity: FileIdentity;
  protected readonly source: Source;
  #isClosed = false;

  constructor(source: Source) {
    this.source = source;
    this.name = source.name;
    this.byteLength = source.byteLength;
    this.identity = source.identity;
  }

  hasChanged(): boolean {
    return this.source.hasChanged();
  }

  close(): ReturnType<Source['close']> {
    if (!this.#isClosed) giveBackDescriptor();
    this.#isClosed = true;
    return this.source.close() as ReturnType<Source['close']>;
  }
}

class KeptFile extends OpenFile<FileSource> implements FolderFile {
  read(offset: number, length: number, signal?: Signal): Promise<Uint8Array> {
    return this.source.read(offset, length, signal);
  }

  readSync(offset: number, length: number, into?: Bytes): Uint8Array {
    return this.source.readSync(offset, length, into);
  }

  readAtOnce(offset: number, length: number, into?: Bytes): Uint8Array | undefined {
    return this.source.readAtOnce(offset, length, into);
  }
}

/** The synchronous {@link KeptFile}. */
class SyncKeptFile extends OpenFile<SyncFileSource> implements SyncFolderFile {
  read(offset: number, length: number): Uint8Array {
    return this.source.read(offset, length);
  }

  readInto(offset: number, bytes: Uint8Array): number {
    return this.source.readInto(offset, bytes);
  }
}

/**
 * A file that is opened for each read, synchronously: each read is of a few blocks. The file must not be written to or replaced, as far as the
 * system can report that.
 */
class ReopenedFile implements SyncFolderFile {
  readonly name: string;
  readonly byteLength: number;
  readonly identity: FileIdentity;

  /** @throws the system's error when there is no such file. */
  constructor(path: string) {
    const { size } = statSync(path);
    const identity = fileIdentity(path);
    if (identity === undefined) throw Object.assign(new Error(`EINVAL: not a regular file, open '${path}'`), { code: 'EINVAL', path, syscall: 'open' });
    this.name = path;
    this.byteLength = size;
    this.identity = identity;
  }

  read(offset: number, length: number): Uint8Array {
    return this.#opened((source) => source.read(offset, length));
  }

  readInto(offset: number, bytes: Uint8Array): number {
    return this.#opened((source) => source.readInto(offset, bytes));
  }

  hasChanged(): boolean {
    return !isSameState(this.identity, fileIdentity(this.name));
  }

  #opened<T>(use: (source: SyncFileSource) => T): T {
    let source: SyncFileSource | undefined;
    try {
      source = SyncFileSource.open(this.name);
      if (source.identity.file === this.identity.file && source.byteLength >= this.byteLength) return use(source);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    } finally {
      source?.close();
    }
    throw new FolderError('BLOOM_FOLDER_CHANGED', `${this.name} was deleted or replaced`, { file: this.name });
  }
}

function isOutOfDescriptors(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'EMFILE' || code === 'ENFILE';
}
