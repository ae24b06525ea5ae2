/**
 * A MANIFEST: a log of version edits, which together give the state of a database.
 *
 * Source: LevelDB, db/version_set.cc, `VersionSet::Recover`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { quotedName } from '@bloom/bytes/internal';
import { decodeVersionEdit, type VersionEdit } from './version-edit.js';
import { VersionBuilder } from './version.js';

/** The single fields of a MANIFEST, each from the last edit that has it. */
export interface ManifestFields {
  /** The name of the comparator of the user keys; undefined when no edit has it. */
  readonly comparator: string | undefined;
  /** Logs with a lower number are obsolete. */
  readonly logNumber: bigint;
  /** A log with a lower number that is needed too; 0 for none. */
  readonly previousLogNumber: bigint;
  readonly nextFileNumber: bigint;
  readonly lastSequence: bigint;
}

/**
 * The most bytes of a MANIFEST: 1 GiB. LevelDB begins a new one at each opening, goleveldb at 64 MiB. An edit has a few hundred bytes, so
 * this is enough for millions of compactions between two openings.
 */
export const MAX_MANIFEST_LENGTH = 2 ** 30;

/** The most bytes of the records that a MANIFEST is given. The rest of its length is for the headers of their fragments. */
export const MAX_MANIFEST_RECORDS = Math.floor(0.99 * MAX_MANIFEST_LENGTH);

/** @throws CorruptionError `BLOOM_TOO_LARGE`, before anything is read, when it is longer than a MANIFEST can be. */
export function mustBeManifestLength({ byteLength }: { readonly byteLength: number }, place: Place): void {
  if (byteLength <= MAX_MANIFEST_LENGTH) return;
  const problem = `it has ${byteLength} bytes, but a MANIFEST can be at most ${MAX_MANIFEST_LENGTH} bytes: make a new one with Database.repair`;
  throw new CorruptionError('BLOOM_TOO_LARGE', place, problem);
}

/** Combines the records of a MANIFEST. */
export class ManifestBuilder {
  readonly files: VersionBuilder;
  /** Where the next compaction of each level starts: an internal key. */
  readonly compactPointers: Map<number, Uint8Array>;
  readonly #fields: { -readonly [Name in keyof ManifestFields]?: ManifestFields[Name] };

  constructor(files = new VersionBuilder(), fields: Partial<ManifestFields> = {}, compactPointers: ReadonlyMap<number, Uint8Array> = new Map()) {
    this.files = files;
    this.compactPointers = new Map(compactPointers);
    this.#fields = { ...fields };
  }

  /** The name of the comparator of the user keys, if an edit had it. */
  get comparator(): string | undefined {
    return this.#fields.comparator;
  }

  copy(): ManifestBuilder {
    return new ManifestBuilder(this.files.copy(), this.#fields, this.compactPointers);
  }

  /**
   * @returns the edit.
   * @throws CorruptionError when the record is not an edit, or names another comparator.
   */
  add(record: Uint8Array, place: Place): VersionEdit {
    const edit = decodeVersionEdit(record, place);
    this.addEdit(edit, place);
    return edit;
  }

  /** @throws CorruptionError when the edit names another comparator. */
  addEdit(edit: VersionEdit, place: Place): void {
    const { comparator, logNumber, previousLogNumber, nextFileNumber, lastSequence } = edit;
    const fields = this.#fields;
    if (comparator !== undefined && fields.comparator !== undefined && comparator !== fields.comparator) {
      const problem = `the comparator changes from ${quotedName(fields.comparator)} to ${quotedName(comparator)}`;
      throw new CorruptionError('BLOOM_BAD_VERSION', place, problem);
    }
    fields.comparator = comparator ?? fields.comparator;
    if (logNumber !== undefined) fields.logNumber = logNumber;
    if (previousLogNumber !== undefined) fields.previousLogNumber = previousLogNumber;
    if (nextFileNumber !== undefined) fields.nextFileNumber = nextFileNumber;
    if (lastSequence !== undefined) fields.lastSequence = lastSequence;
    for (const { level, key } of edit.compactPointers ?? []) this.compactPointers.set(level, key);
    this.files.apply(edit);
  }

  /** @throws CorruptionError `BLOOM_BAD_VERSION` when a field that every MANIFEST has is missing. */
  fields(place: Place): ManifestFields {
    const { comparator, logNumber, previousLogNumber = 0n, nextFileNumber, lastSequence } = this.#fields;
    const missing = (entry: string): CorruptionError =>
      new CorruptionError('BLOOM_BAD_VERSION', place, `no ${entry} entry in descriptor`);
    if (nextFileNumber === undefined) throw missing('meta-nextfile');
    if (logNumber === undefined) throw missing('meta-lognumber');
    if (lastSequence === undefined) throw missing('last-sequence-number');
    return { comparator, logNumber, previousLogNumber, nextFileNumber, lastSequence };
  }
}
