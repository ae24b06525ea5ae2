/**
 * The tables of a database that is being written, its counters, and the MANIFEST that records them on disk.
 *
 * Source: LevelDB, db/version_set.cc.
 */
import { CorruptionError, type Place, UnsupportedError } from '@bloom/bytes';
import { quotedName } from '@bloom/bytes/internal';
import type { Comparator } from '@bloom/sstable';
import { MAX_SEQUENCE } from '@bloom/sstable/database';
import { allDone, attempt, closeRead, runEnding } from '../folder/closing-files.js';
import type { FolderFile } from '../folder/folder.js';
import { missingManifest, readCurrent } from '../folder/current-file.js';
import { encodeCurrent } from '../format/current.js';
import { DatabaseError } from '../folder/database-error.js';
import { CURRENT, manifestFileName, parseFileName, temporaryFileName } from '../format/file-name.js';
import { runAsync } from '../folder/folder-reading.js';
import { manifestPlace, readManifest } from '../folder/manifest-file.js';
import { ManifestBuilder, type ManifestFields, MAX_MANIFEST_RECORDS } from '../format/manifest.js';
import { encodeVersionEdit, type VersionEdit } from '../format/version-edit.js';
import type { KeyOrder, Version } from '../format/version.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { firstNewNumber } from './file-numbers.js';
import { canBeContinued, RecordFile } from '../folder/record-file.js';

const FIRST_NUMBER = 1n;
/** The name of a new database's MANIFEST. */
export const FIRST_MANIFEST = manifestFileName(FIRST_NUMBER);

/**
 * Makes CURRENT name a MANIFEST, atomically.
 *
 * @param manifest is synced first, unless it is already: together with the file that becomes CURRENT.
 */
export async function setCurrent(folder: WritableFolder, manifestNumber: bigint, manifest?: RecordFile): Promise<void> {
  const temporary = temporaryFileName(manifestNumber);
  const file = await folder.create(temporary);
  await runEnding(async () => {
    await file.append(encodeCurrent(manifestFileName(manifestNumber)));
    // If the rename survives a power failure, the MANIFEST and the tables that it lists must survive it too.
    await allDone([() => manifest?.sync(), () => file.sync(), () => folder.syncFolder()]);
  }, () => file.close());
  await folder.rename(temporary, CURRENT);
  // Before the files that only the old MANIFEST needs are deleted.
  await folder.syncFolder();
}

/** @throws UnsupportedError `BLOOM_UNKNOWN_COMPARATOR` when a MANIFEST names another comparator than the one given. */
export function mustBeOrderOf(named: string | undefined, { name }: Comparator, place: Place): void {
  if (named === undefined || named === name) return;
  const problem = `its keys are sorted by the comparator ${quotedName(named)}, but the one given is ${quotedName(name)}`;
  throw new UnsupportedError('BLOOM_UNKNOWN_COMPARATOR', place, problem);
}

/** The error for a database whose tables need too large a MANIFEST. @param part what they take of the limit. */
export function noManifestRoom(part: string): DatabaseError {
  const problem = `the first and last keys of the tables take ${part} the limit of a MANIFEST, ${MAX_MANIFEST_RECORDS} bytes: copy the entries to a new database with a larger maxFileSize`;
  return new DatabaseError('BLOOM_NO_ROOM', problem);
}

/** Opens a short file, synchronously where the folder can: a trip to another thread takes ten times as long as opening and reading it. */
function openShortFile(folder: WritableFolder, name: string): FolderFile | undefined | Promise<FolderFile | undefined> {
  return folder.openSync === undefined ? folder.open(name) : folder.openSync(name);
}

/** The current version, and how it changes. */
export class VersionSet implements ManifestFields {
  readonly comparator: string;
  readonly order: KeyOrder;
  current: Version;
  logNumber: bigint;
  previousLogNumber: bigint;
  nextFileNumber: bigint;
  lastSequence: bigint;
  /** The number of the MANIFEST that is being written. */
  manifestNumber: bigint;
  readonly #folder: WritableFolder;
  #builder: ManifestBuilder;
  readonly #place: Place;
  #manifest: RecordFile | undefined;
  /** Bytes of the keys of the tables of a version. */
  private keys: { readonly version: Version; readonly bytes: number } | undefined;

  private constructor(folder: WritableFolder, comparator: Comparator, order: KeyOrder, builder: ManifestBuilder, name: string, place: Place) {
    const fields = builder.fields(place);
    mustBeOrderOf(fields.comparator, comparator, place);
    if (fields.lastSequence >= MAX_SEQUENCE) {
      throw new CorruptionError('BLOOM_BAD_VERSION', place, `its last sequence, ${fields.lastSequence}, leaves none for new writes`);
    }
    this.#folder = folder;
    this.comparator = comparator.name;
    this.order = order;
    this.#builder = builder;
    this.#place = place;
    this.current = builder.files.build(order, place);
    this.logNumber = fields.logNumber;
    this.previousLogNumber = fields.previousLogNumber;
    this.lastSequence = fields.lastSequence;
    this.manifestNumber = firstNewNumber(fields, this.current.files, name, place);
    this.nextFileNumber = this.manifestNumber + 1n;
  }

  /**
   * Writes the first MANIFEST of a new database, and CURRENT. The MANIFEST stays open if it is reused, instead of being opened and read again.
   *
   * Source: `DBImpl::NewDB`.
   *
   * @param reuseBytes the MANIFEST is reused if it is smaller than this.
   */
  static async create(folder: WritableFolder, comparator: Comparator, order: KeyOrder, reuseBytes: number): Promise<VersionSet> {
    const place: Place = { structure: 'MANIFEST', offset: 0, file: FIRST_MANIFEST };
    const manifest = new RecordFile(FIRST_NUMBER, FIRST_MANIFEST, await folder.create(FIRST_MANIFEST));
    let versions: VersionSet;
    try {
      const edit: VersionEdit = { comparator: comparator.name, logNumber: 0n, nextFileNumber: 2n, lastSequence: 0n };
      await manifest.addRecord(encodeVersionEdit(edit));
      await setCurrent(folder, FIRST_NUMBER, manifest);
      const builder = new ManifestBuilder();
      builder.addEdit(edit, place);
      versions = new VersionSet(folder, comparator, order, builder, FIRST_MANIFEST, place);
    } catch (error) {
      await attempt(() => manifest.close());
      throw error;
    }
    if (manifest.byteLength < reuseBytes) versions.#reuse(manifest);
    else await manifest.close();
    return versions;
  }

  /**
   * Reads CURRENT and the MANIFEST.
   *
   * @param reuseBytes the MANIFEST is reused if it is smaller than this.
   * @throws CorruptionError or UnsupportedError when it cannot be read.
   */
  static async read(folder: WritableFolder, comparator: Comparator, order: KeyOrder, reuseBytes: number): Promise<VersionSet> {
    const current = await openShortFile(folder, CURRENT);
    let name: string;
    try {
      name = await runAsync(folder, readCurrent(current, folder.name));
    } finally {
      await closeRead(current);
    }
    const file = await openShortFile(folder, name);
    if (file === undefined) throw missingManifest(name, folder.name);
    try {
      const { builder, prefix } = await runAsync(folder, readManifest(file, name));
      const versions = new VersionSet(folder, comparator, order, builder, name, manifestPlace(file, name));
      const parsed = parseFileName(name);
      if (canBeContinued(file, prefix.byteLength) && parsed?.type === 'manifest' && file.byteLength < reuseBytes) {
        const appended = await folder.openForAppend(name);
        if (appended !== undefined) versions.#reuse(new RecordFile(parsed.number, name, appended, file.byteLength));
      }
      return versions;
    } finally {
      await closeRead(file);
    }
  }

  #reuse(manifest: RecordFile): void {
    this.manifestNumber = manifest.number;
    this.#manifest = manifest;
  }

  get manifestName(): string {
    return manifestFileName(this.manifestNumber);
  }

  /** Where the next compaction of each level starts. */
  get compactPointers(): ReadonlyMap<number, Uint8Array> {
    return this.#builder.compactPointers;
  }

  /** Whether the MANIFEST that was read is reused, so that it need not be written anew. */
  get isManifestReused(): boolean {
    return this.#manifest !== undefined;
  }

  /**
   * Whether a MANIFEST has room for the tables that further writes make. The tables may take half of it: the other half is for those that are
   * made of the memtables and by merges.
   */
  get hasManifestRoom(): boolean {
    const { current } = this;
    if (this.keys?.version !== current) {
      this.keys = { version: current, bytes: current.files.reduce((sum, { smallest, largest }) => sum + smallest.length + largest.length, 0) };
    }
    return this.keys.bytes <= MAX_MANIFEST_RECORDS / 2;
  }

  newFileNumber(): bigint {
    return this.nextFileNumber++;
  }

  /** Returns a number, which must be the last one taken. */
  reuseFileNumber(number: bigint): void {
    if (this.nextFileNumber === number + 1n) this.nextFileNumber = number;
  }

  /** Reserves a number that a file already has. */
  markFileNumberUsed(number: bigint): void {
    if (this.nextFileNumber <= number) this.nextFileNumber = number + 1n;
  }

  /**
   * Makes a change on disk, and then in memory. The first change writes a new MANIFEST, unless the old one is reused, and so does a change
   * for which the MANIFEST has no room.
   *
   * After a failure the change may be on disk or not, so nothing more may be written.
   *
   * Source: `VersionSet::LogAndApply`, which writes one MANIFEST of any length.
   *
   * @throws DatabaseError `BLOOM_NO_ROOM` when a new MANIFEST would be too large. Nothing is written then.
   */
  async apply(change: VersionEdit): Promise<void> {
    const { logNumber = this.logNumber, previousLogNumber = this.previousLogNumber } = change;
    const encode = (): Uint8Array =>
      encodeVersionEdit({ ...change, logNumber, previousLogNumber, nextFileNumber: this.nextFileNumber, lastSequence: this.lastSequence });
    const builder = this.#builder.copy();
    const { compactPointers, files } = builder;
    for (const { level, key } of change.compactPointers ?? []) compactPointers.set(level, key);
    files.apply(change);
    // An edit that gives no valid version is refused before it is written.
    const version = files.build(this.order, this.#place);
    const record = encode();
    const manifest = this.#manifest;
    if (manifest === undefined) {
      await this.#begin(record);
    } else if (manifest.byteLength + record.length > MAX_MANIFEST_RECORDS) {
      this.manifestNumber = this.newFileNumber();
      await this.#begin(encode());
      await manifest.close();
    } else {
      await this.#append(manifest, record);
    }
    this.#builder = builder;
    this.current = version;
    this.logNumber = logNumber;
    this.previousLogNumber = previousLogNumber;
  }

  /**
   * If the MANIFEST is reused, makes the state of the MANIFEST and the folder survive a power failure: the process that wrote them may have
   * ended before it synced them, and files that only an older state needs are deleted next.
   */
  async syncReused(): Promise<void> {
    await this.#manifest?.sync();
    await this.#folder.syncFolder();
  }

  close(): void | Promise<void> {
    return this.#manifest?.close();
  }

  async #append(manifest: RecordFile, record: Uint8Array): Promise<void> {
    // The tables that the edit lists must exist whenever it does, so they come first.
    await this.#folder.syncFolder();
    await manifest.addRecord(record);
    await manifest.sync();
  }

  /** Writes a new MANIFEST, with the state before the edit of this record, and the edit. */
  async #begin(record: Uint8Array): Promise<void> {
    const snapshot = encodeVersionEdit(this.#snapshot());
    const bytes = snapshot.length + record.length;
    if (bytes > MAX_MANIFEST_RECORDS) throw noManifestRoom(`${bytes} bytes, more than`);
    const name = manifestFileName(this.manifestNumber);
    const manifest = new RecordFile(this.manifestNumber, name, await this.#folder.create(name));
    try {
      await manifest.addRecord(snapshot);
      await manifest.addRecord(record);
      await setCurrent(this.#folder, this.manifestNumber, manifest);
    } catch (error) {
      await attempt(() => manifest.close());
      throw error;
    }
    this.#manifest = manifest;
  }

  /** The whole state, as an edit. Source: `VersionSet::WriteSnapshot`. */
  #snapshot(): VersionEdit {
    const newFiles = this.current.levels.flatMap((files, level) => files.map((file) => ({ level, file })));
    const pointers = [...this.#builder.compactPointers].sort(([a], [b]) => a - b);
    return { comparator: this.comparator, compactPointers: pointers.map(([level, key]) => ({ level, key })), newFiles };
  }
}
