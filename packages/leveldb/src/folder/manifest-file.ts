/**
 * Reads a MANIFEST: readers, the writer, repair, verification and `comparatorName` all read it here.
 *
 * Source: LevelDB, db/version_set.cc, `VersionSet::Recover`.
 */
import { CorruptionError, type Place } from '@bloom/bytes';
import { LogReader } from '@bloom/log';
import { ManifestBuilder, MAX_MANIFEST_LENGTH, mustBeManifestLength } from '../format/manifest.js';
import { logDamage } from './damage.js';
import type { VersionEdit } from '../format/version-edit.js';
import type { FolderFile } from './folder.js';
import type { FolderReading } from './folder-reading.js';
import type { KnownPrefix } from './known-prefix.js';
import { readRecords } from './stored-records.js';

/** A MANIFEST as far as it was read. */
export interface ManifestContents {
  /** Its edits, applied in order. */
  readonly builder: ManifestBuilder;
  /** What was read, up to the end of its last whole record. */
  readonly prefix: KnownPrefix;
}

/** How to read a MANIFEST. */
export interface ManifestReading {
  /** The part that was read earlier, with which the file starts: only what follows it is read. */
  readonly before?: Pick<ManifestContents, 'builder' | 'prefix'> | undefined;
  /** Receives a damaged record, which is then left out. By default it is thrown. */
  readonly onDamage?: ((error: CorruptionError) => void) | undefined;
  /** Called with each edit that is applied. */
  readonly onEdit?: ((edit: VersionEdit) => void) | undefined;
  /** Reads only the first {@link MAX_MANIFEST_LENGTH} bytes of a longer file, instead of refusing it. */
  readonly isStartEnough?: boolean | undefined;
}

/**
 * Reads the edits of a MANIFEST.
 *
 * @param name of the file within the folder.
 * @throws CorruptionError `BLOOM_TOO_LARGE`, before anything is read, when it is longer than a MANIFEST can be.
 * @throws CorruptionError `BLOOM_BAD_LOG`, `BLOOM_BAD_VERSION_EDIT` or `BLOOM_BAD_VERSION` for a damaged record, unless there is `onDamage`.
 */
export function* readManifest(file: FolderFile, name: string, options: ManifestReading = {}): FolderReading<ManifestContents> {
  const { before, onDamage = refuse, onEdit, isStartEnough = false } = options;
  const place = manifestPlace(file, name);
  if (!isStartEnough) mustBeManifestLength(file, place);
  const builder = before?.builder.copy() ?? new ManifestBuilder();
  const reader = new LogReader(
    {
      drop(drop) {
        if (drop.isInterrupted !== true) onDamage(logDamage(drop, place.file));
      },
      record(record, offset) {
        try {
          const edit = builder.add(record, { structure: 'version edit', offset, file: place.file });
          onEdit?.(edit);
        } catch (error) {
          if (!(error instanceof CorruptionError)) throw error;
          onDamage(error);
        }
      },
    },
    before?.prefix.byteLength ?? 0,
  );
  const { prefix } = yield* readRecords(reader, file, before?.prefix, Math.min(file.byteLength, MAX_MANIFEST_LENGTH));
  return { builder, prefix };
}

/** The place of a MANIFEST in errors. */
export function manifestPlace(file: FolderFile, name: string): Place {
  return { structure: 'MANIFEST', offset: 0, file: file.name ?? name };
}

function refuse(error: CorruptionError): never {
  throw error;
}
