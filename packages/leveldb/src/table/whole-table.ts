import { CorruptionError, type Signal } from '@bloom/bytes';
import { GIT_LFS_POINTER, isGitLfsPointer, isPromise, MAX_POINTER_LENGTH, numberOf } from '@bloom/bytes/internal';
import type { SyncSource } from '@bloom/sstable';
import { FolderError, type FolderFile, type SyncFolderFile } from '../folder/folder.js';

/** The MANIFESTs of iq80's LevelDB in Java give each table made by a compaction this many bytes too many. */
const EXCESS_OF_IQ80 = 4;

/** Why a file is shorter than the MANIFEST says, if that can be told synchronously. */
function explanation(file: FolderFile, listed: number): string {
  const { byteLength } = file;
  if (byteLength > 0 && byteLength <= MAX_POINTER_LENGTH && file.readSync !== undefined && isGitLfsPointer(file.readSync(0, byteLength))) return `: it is ${GIT_LFS_POINTER}`;
  if (listed - byteLength !== EXCESS_OF_IQ80) return '';
  return "; iq80's LevelDB in Java counts 4 bytes too many for the tables that it compacts: if it wrote this folder, a repair keeps exactly the folder's entries";
}

/** A table with the length according to the MANIFEST: the footer is expected there, and bytes after it do not matter. */
export class WholeTable implements FolderFile {
  readonly byteLength: number;
  readonly name: string;
  readonly isRemote: boolean | undefined;
  readonly heldTailBytes: number | undefined;
  readonly readInto: SyncSource['readInto'];
  readonly readSync: FolderFile['readSync'];
  readonly readAtOnce: FolderFile['readAtOnce'];
  /** Whether each read checks that the file has not changed. */
  readonly isWatched: boolean = false;
  #hasChanged = false;
  /** Whether the next read leaves the check for changes to a later `mustBeUnchanged`. */
  isDeferring = false;
  readonly #file: FolderFile;

  /**
   * @param isForeign whether others may write to the file: each read then checks that they have not.
   * @throws CorruptionError `BLOOM_TRUNCATED` when the file is shorter.
   */
  constructor(file: FolderFile, byteLength: number, name: string, isForeign = false) {
    if (file.byteLength < byteLength) {
      const problem = `the MANIFEST says that it has ${numberOf(byteLength, 'byte')}, it has ${file.byteLength}${explanation(file, byteLength)}`;
      throw new CorruptionError('BLOOM_TRUNCATED', { structure: 'file', offset: 0, file: name }, problem);
    }
    this.byteLength = byteLength;
    this.name = name;
    this.isRemote = file.isRemote;
    this.heldTailBytes = file.byteLength === byteLength ? file.heldTailBytes : undefined;
    this.readInto = (file as SyncFolderFile).readInto?.bind(file);
    this.readSync = file.readSync?.bind(file);
    this.readAtOnce = file.readAtOnce?.bind(file);
    this.#file = file;
    if (!isForeign || file.hasChanged === undefined) return;
    const { readInto, readSync, readAtOnce } = this;
    this.isWatched = true;
    this.readInto = readInto && ((offset, bytes) => this.#unchanged(this.#takeDeferral(), readInto(offset, bytes)));
    this.readSync = readSync && ((offset, length, into) => this.#unchanged(this.#takeDeferral(), readSync(offset, length, into)));
    this.readAtOnce =
      readAtOnce &&
      ((offset, length, into) => {
        const isDeferred = this.#takeDeferral();
        const bytes = readAtOnce(offset, length, into);
        return bytes && this.#unchanged(isDeferred, bytes);
      });
  }

  /**
   * Checks whether the file, which others may change, has changed since it was opened. A table is written only once, so changed bytes belong to
   * another table.
   *
   * @param asksHost whether the host is asked again.
   * @throws FolderError `BLOOM_FOLDER_CHANGED` when it has.
   */
  mustBeUnchanged(asksHost = true): void {
    // Permanently: once the file is deleted too, the host may no longer notice that it was overwritten.
    this.#hasChanged ||= asksHost && this.#file.hasChanged!();
    if (this.#hasChanged) throw new FolderError('BLOOM_FOLDER_CHANGED', `${this.name} was overwritten: refresh the reader`, { file: this.name });
  }

  read(offset: number, length: number, signal?: Signal): Uint8Array | Promise<Uint8Array> {
    const bytes = this.#file.read(offset, length, signal);
    if (!this.isWatched) return bytes;
    return isPromise(bytes) ? Promise.resolve(bytes).then((read) => this.#unchanged(false, read)) : this.#unchanged(false, bytes);
  }

  /** The bytes that were read, if the file has not changed, unless that is checked later. */
  #unchanged<T>(isDeferred: boolean, read: T): T {
    if (!isDeferred) this.mustBeUnchanged();
    return read;
  }

  /** Whether the check of this read is deferred. Code that the read calls may read too, and that is another read. */
  #takeDeferral(): boolean {
    const isDeferring = this.isDeferring;
    this.isDeferring = false;
    return isDeferring;
  }
}
