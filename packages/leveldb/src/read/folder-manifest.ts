/** Reads CURRENT and the MANIFEST that it names, for a view and again at a refresh. */
import { CorruptionError, type Place } from '@bloom/bytes';
import { type FileIdentity, MemorySource } from '@bloom/sstable';
import { type ClosingFiles, useFile } from '../folder/closing-files.js';
import { missingManifest, readCurrent } from '../folder/current-file.js';
import { type Folder, FolderError, type FolderFile, isSameState } from '../folder/folder.js';
import { type FolderReading, identifyFile, readBytes, sha256Of } from '../folder/folder-reading.js';
import { type KnownPrefix, startsWith } from '../folder/known-prefix.js';
import { type ManifestContents, manifestPlace, readManifest } from '../folder/manifest-file.js';
import { CURRENT, parseFileName } from '../format/file-name.js';
import { type ManifestFields, mustBeManifestLength } from '../format/manifest.js';
import { isNamedByBytes, numberOfDigest } from '../format/published-name.js';
import { OpenedFiles } from './opened-files.js';
import { Restart } from './reading-restart.js';

/** A MANIFEST as far as it was read. */
export interface ManifestState extends Pick<ManifestContents, 'builder' | 'prefix'> {
  readonly name: string;
}

/** The MANIFEST, as it was in one attempt. */
export interface OpenManifest {
  readonly state: ManifestState;
  /** Whether it is the one that was read before, possibly with more edits. */
  readonly isContinued: boolean;
  readonly fields: ManifestFields;
  readonly place: Place;
  readonly byteLength: number;
  /** The identity of CURRENT. */
  readonly current: FileIdentity | undefined;
}

/** Reads CURRENT and the MANIFEST of a folder, and makes sure that they have not changed since. */
export class FolderManifest {
  readonly #folderName: string | undefined;
  readonly #canIdentify: boolean;
  readonly #isPublished: boolean;
  readonly #closing: ClosingFiles;

  constructor(folder: Folder, closing: ClosingFiles) {
    this.#folderName = folder.name;
    this.#isPublished = folder.isPublished === true;
    this.#canIdentify = folder.identityOf !== undefined && !this.#isPublished;
    this.#closing = closing;
  }

  /**
   * Reads CURRENT and the MANIFEST that it names.
   *
   * @param last the part that was read before: if the file starts with it, only the rest is read.
   * @throws Restart when CURRENT names a missing file.
   */
  *read(open: OpenedFiles, last: ManifestState | undefined): FolderReading<OpenManifest> {
    const current = yield* open.open(CURRENT);
    const name = yield* readCurrent(current, this.#folderName);
    if (this.#isPublished && last?.name === name) {
      const place: Place = { structure: 'MANIFEST', offset: 0, file: name };
      return { state: last, isContinued: true, fields: last.builder.fields(place), place, byteLength: last.prefix.byteLength, current: undefined };
    }
    const opened = yield* open.open(name);
    if (opened === undefined) throw new Restart(missingManifest(name, this.#folderName), name);
    const file = this.#isPublished ? yield* wholeFile(opened, name) : opened;
    const before = last?.name === name && (yield* this.#isContinued(file, last.prefix)) ? last : undefined;
    const { builder, prefix } = yield* readManifest(file, name, { before });
    if (file instanceof MemorySource) yield* this.#mustBeNamed(file, name);
    const place = manifestPlace(file, name);
    const { byteLength } = file;
    return { state: { name, builder, prefix }, isContinued: before !== undefined, fields: builder.fields(place), place, byteLength, current: current?.identity };
  }

  /**
   * Makes sure that CURRENT and the MANIFEST are those that were read. A writer may have added to the MANIFEST.
   *
   * @throws FolderError when one of them was replaced while the folder was read.
   */
  *mustBeSame({ state, current }: OpenManifest): FolderReading<void> {
    const changed = (file: string): FolderError => new FolderError('BLOOM_FOLDER_CHANGED', `${file} was replaced while the folder was read`, { file });
    if (current !== undefined && !isSameState(current, yield* identifyFile(CURRENT))) throw changed(CURRENT);
    const { identity } = state.prefix;
    if (identity === undefined) return;
    const now = yield* identifyFile(state.name);
    if (isSameState(identity, now)) return;
    if (now === undefined || !Object.is(now.file, identity.file)) throw changed(state.name);
    if ((yield* useFile(state.name, this.#closing, (file) => startsWith(file, state.prefix))) !== true) throw changed(state.name);
  }

  /** @throws Restart when CURRENT or the MANIFEST has changed, even if it has only grown. */
  *mustBeUnchanged({ state, byteLength, place }: OpenManifest): FolderReading<void> {
    const open = new OpenedFiles(this.#closing);
    try {
      const name = yield* readCurrent(yield* open.open(CURRENT), this.#folderName);
      const file = name === state.name ? yield* open.open(name) : undefined;
      const { identity } = state.prefix;
      if (file?.byteLength === byteLength && (identity === undefined || isSameState(identity, file.identity))) return;
      const damage = new CorruptionError('BLOOM_BAD_CURRENT', place, 'it changes between two reads');
      throw new Restart(damage, `${state.name}\n${byteLength}\n${name}\n${file?.byteLength ?? -1}`);
    } finally {
      open.close();
    }
  }

  /** @throws CorruptionError `BLOOM_BAD_VERSION` when the bytes of a published MANIFEST do not match its name. */
  *#mustBeNamed(file: MemorySource, name: string): FolderReading<void> {
    const parsed = parseFileName(name);
    if (parsed?.type !== 'manifest' || !isNamedByBytes(parsed.number)) return;
    const sha256 = yield* sha256Of(yield* readBytes(file, 0, file.byteLength));
    if (sha256 === undefined || numberOfDigest(sha256) === parsed.number) return;
    throw new CorruptionError('BLOOM_BAD_VERSION', manifestPlace(file, name), `it was changed after it was published: its bytes are those of number ${numberOfDigest(sha256)}`);
  }

  /** Whether `file` is the MANIFEST that was read before, possibly with more edits. */
  *#isContinued(file: FolderFile, prefix: KnownPrefix): FolderReading<boolean> {
    // If the tables are not checked, another version in the MANIFEST is the only sign that the folder was replaced.
    if (!this.#canIdentify && prefix.identity !== undefined && !isSameState(prefix.identity, file.identity)) return false;
    return yield* startsWith(file, prefix);
  }
}

function* wholeFile(file: FolderFile, name: string): FolderReading<MemorySource> {
  mustBeManifestLength(file, manifestPlace(file, name));
  return new MemorySource(yield* readBytes(file, 0, file.byteLength), file.name ?? name);
}
