/** Finds out whether a folder is the database of another engine, by the bytes of its files. */
import { CorruptionError, UnsupportedError } from '@bloom/bytes';
import { LOG_BLOCK_LENGTH, LogReader } from '@bloom/log';
import { ENCRYPTION_HEADER_LENGTH, TABLE_MAGIC_LENGTH } from '@bloom/sstable/internal';
import { CURRENT, namesByAge, oldTableFileName, tableFileName } from '../format/file-name.js';
import {
  BADGER_MAGIC_LENGTH,
  type EditEvidence,
  engineOfEdit,
  engineOfEncryptedFile,
  engineOfLogStart,
  engineOfNames,
  engineOfOptions,
  engineOfPlainManifest,
  engineOfTableEnd,
  type EngineEvidence,
  type ForeignEngine,
  foreignEngineOf,
  OPTIONS_START_LENGTH,
} from '../format/engine-evidence.js';
import { ManifestBuilder } from '../format/manifest.js';
import { compareBigints } from '../format/version-edit.js';
import { ClosingFiles, useFile } from './closing-files.js';
import { readManifestName } from './current-file.js';
import type { FolderFile } from './folder.js';
import { type FolderReading, listFiles, readBytes } from './folder-reading.js';
import { PIECE_LENGTH } from './file-pieces.js';
import { StoredRecords } from './stored-records.js';

export interface EngineFolder {
  readonly name: string | undefined;
  /** Whether it can be listed. Otherwise only CURRENT and the MANIFEST that it names are examined. */
  readonly canList: boolean;
  /** The names in the folder, if it was just listed. */
  readonly names?: readonly string[] | undefined;
}

/** The most files of one kind to examine, the newest first. */
const MAX_FILES = 64;

/**
 * The engine that wrote a folder's database; undefined when it is LevelDB, or unknown.
 *
 * A folder is Riak's if it has CURRENT, the seven folders `sst_0` to `sst_6`, and no tables of its own. No other name is evidence, because any
 * program may put an IDENTITY into a folder. Otherwise, one of these must be present:
 *
 * 1. the header of an encrypted file, in CURRENT or a MANIFEST, or, where there is neither, in a log or a table;
 * 2. an OPTIONS file with the version of RocksDB or Pebble;
 * 3. a MANIFEST that names a comparator and has a tag that only those engines have, in records whose checksums are right, or that of
 *    Badger; where LevelDB can read the one that CURRENT names, no other numbered one counts;
 * 4. a log that begins with a type of record that only they have, with the right checksum;
 * 5. more tables with their magic numbers than with LevelDB's. Where LevelDB can read the MANIFEST that CURRENT names, or else
 *    the newest one, only tables that it lists count, so that a stray table decides nothing.
 *
 * Reads at most 4 MiB of a MANIFEST, 32 KiB of a log and a few bytes of other files, and 64 files of each kind.
 */
export function* readForeignEngine({ name: folderName, canList, names: known }: EngineFolder, closing: ClosingFiles): FolderReading<ForeignEngine | undefined> {
  const names = known ?? (canList ? yield* listFiles() : []);
  const named = engineOfNames(names);
  if (named !== undefined) return named;
  const files = new EngineFiles(names, closing);
  const manifest = yield* readManifestName(folderName, closing);
  const current = manifest === undefined ? [] : [manifest];
  // LevelDB opens the MANIFEST that CURRENT names, no matter what another program left in the folder when it began to take it over.
  const currentTables = manifest === undefined ? undefined : yield* files.listedTables(manifest);
  // It then has no evidence of another engine, and neither it nor CURRENT is encrypted.
  const manifests = currentTables === undefined ? [...new Set([...current, ...files.newest('manifest')])] : [];
  const logs = files.newest('log');
  const tables = files.newest('table');
  const encrypted = currentTables !== undefined ? [] : names.includes(CURRENT) || manifests.length > 0 ? [CURRENT, ...manifests] : [...tables, ...logs];
  return (
    (yield* files.first(encrypted, encryptionOf)) ??
    (yield* files.first(files.options, optionsOf)) ??
    (yield* files.first(names.filter((name) => name === 'MANIFEST'), plainManifestOf)) ??
    (yield* files.first(manifests, manifestOf)) ??
    (yield* files.first(logs, logOf)) ??
    (yield* files.ofTables(currentTables ?? (manifests[0] === undefined ? undefined : yield* files.listedTables(manifests[0])) ?? tables))
  );
}

export function foreignEngineError({ text }: ForeignEngine, folderName: string | undefined): UnsupportedError {
  return new UnsupportedError('BLOOM_UNSUPPORTED_FORMAT', { structure: 'folder', offset: 0, file: folderName }, `it ${text}`);
}

/** Returns `error`, which reading a folder threw, or an error that names the other engine if its database is that engine's. */
export function* orForeignEngine(folder: EngineFolder, error: unknown): FolderReading<unknown> {
  const isOfBytes = error instanceof CorruptionError || (error instanceof UnsupportedError && error.code === 'BLOOM_UNSUPPORTED_FORMAT');
  // A file that is too large is not read further.
  if (!isOfBytes || error.code === 'BLOOM_TOO_LARGE') return error;
  try {
    // The MANIFEST that lists missing tables could be read, so its bytes are LevelDB's.
    const engine = error.code !== 'BLOOM_MISSING_FILE' ? yield* readForeignEngine(folder, new ClosingFiles()) : folder.canList ? engineOfNames(yield* listFiles()) : undefined;
    return engine === undefined ? error : foreignEngineError(engine, folder.name);
  } catch {
    // The caller's own error is the one to report.
    return error;
  }
}

/**
 * The engine that wrote damaged logs, in a folder whose MANIFEST LevelDB can read: what another engine writes into a log looks like damage.
 * No other file is evidence, because LevelDB's own log may be damaged next to what another engine left.
 *
 * @param logs their names.
 */
export function* readEngineOfLogs(logs: readonly string[], { canList }: EngineFolder, closing: ClosingFiles): FolderReading<ForeignEngine | undefined> {
  return yield* new EngineFiles(canList ? yield* listFiles() : [], closing).first(logs, logOf);
}

/** @throws UnsupportedError `BLOOM_UNSUPPORTED_FORMAT` when another engine wrote one of these logs, in which damage was skipped. */
export function* mustNotBeForeign(logs: readonly string[], folder: EngineFolder): FolderReading<void> {
  let engine: ForeignEngine | undefined;
  try {
    engine = yield* readEngineOfLogs(logs, folder, new ClosingFiles());
  } catch {
    // The damage was skipped, so reading continues even if a log cannot be examined.
  }
  if (engine !== undefined) throw foreignEngineError(engine, folder.name);
}

function* encryptionOf(file: FolderFile): FolderReading<EngineEvidence | undefined> {
  return file.byteLength < ENCRYPTION_HEADER_LENGTH ? undefined : engineOfEncryptedFile(yield* readBytes(file, 0, ENCRYPTION_HEADER_LENGTH));
}

function* optionsOf(file: FolderFile): FolderReading<EngineEvidence | undefined> {
  return engineOfOptions(yield* startOf(file, OPTIONS_START_LENGTH));
}

function* plainManifestOf(file: FolderFile): FolderReading<EngineEvidence | undefined> {
  return engineOfPlainManifest(yield* startOf(file, BADGER_MAGIC_LENGTH));
}

function* logOf(file: FolderFile): FolderReading<EngineEvidence | undefined> {
  return engineOfLogStart(yield* startOf(file, LOG_BLOCK_LENGTH));
}

function* manifestOf(file: FolderFile): FolderReading<EngineEvidence | undefined> {
  const edits: EditEvidence[] = [];
  yield* readStart(file, (record) => edits.push(engineOfEdit(record)));
  return edits.some(({ hasComparator }) => hasComparator) ? edits.find(({ evidence }) => evidence !== undefined)?.evidence : undefined;
}

function* startOf(file: FolderFile, length: number): FolderReading<Uint8Array> {
  return file.byteLength === 0 ? new Uint8Array(0) : yield* readBytes(file, 0, Math.min(file.byteLength, length));
}

/** Passes on the records at the start of a MANIFEST. Damage is skipped. */
function* readStart(file: FolderFile, record: (record: Uint8Array) => void): FolderReading<void> {
  const records = new StoredRecords(new LogReader({ record }), file, undefined, Math.min(file.byteLength, PIECE_LENGTH));
  yield* records.readAll();
}

/** Whether a MANIFEST has the fields that LevelDB needs. */
function isComplete(builder: ManifestBuilder): boolean {
  try {
    builder.fields({ structure: 'MANIFEST', offset: 0 });
    return true;
  } catch {
    return false;
  }
}

/** The files of a folder that show which engine wrote it. */
class EngineFiles {
  /** The names of OPTIONS files, the newest first. */
  readonly options: readonly string[];
  readonly #names: readonly string[];
  readonly #closing: ClosingFiles;

  constructor(names: readonly string[], closing: ClosingFiles) {
    this.#names = names;
    this.#closing = closing;
    const numbers = names.flatMap((name) => /^OPTIONS-([0-9]{1,20})$/.exec(name)?.[1] ?? []);
    this.options = numbers.sort((a, b) => compareBigints(BigInt(b), BigInt(a))).slice(0, MAX_FILES).map((number) => `OPTIONS-${number}`);
  }

  /** Files of a kind, the newest first. */
  newest(type: 'manifest' | 'log' | 'table'): string[] {
    return namesByAge(type, this.#names).slice(0, MAX_FILES);
  }

  /** The first file that shows which engine wrote the folder. */
  *first(names: readonly string[], evidenceOf: (file: FolderFile) => FolderReading<EngineEvidence | undefined>): FolderReading<ForeignEngine | undefined> {
    for (const name of names) {
      const evidence = yield* useFile(name, this.#closing, evidenceOf);
      if (evidence !== undefined) return foreignEngineOf(evidence, name, this.#names);
    }
    return undefined;
  }

  /** The engine of most tables. */
  *ofTables(names: readonly string[]): FolderReading<ForeignEngine | undefined> {
    let foreign: ForeignEngine | undefined;
    let balance = 0;
    for (const name of names.slice(0, MAX_FILES)) {
      const engine = yield* useFile(name, this.#closing, function* (file) {
        return file.byteLength < TABLE_MAGIC_LENGTH ? undefined : engineOfTableEnd(yield* readBytes(file, file.byteLength - TABLE_MAGIC_LENGTH, TABLE_MAGIC_LENGTH));
      });
      if (engine === undefined) continue;
      balance += engine === 'LevelDB' ? -1 : 1;
      if (engine !== 'LevelDB') foreign ??= foreignEngineOf(engine, name, this.#names);
    }
    return balance > 0 ? foreign : undefined;
  }

  /** The tables in the folder that a MANIFEST lists; undefined where LevelDB cannot read it. */
  *listedTables(manifest: string): FolderReading<readonly string[] | undefined> {
    const builder = new ManifestBuilder();
    let foreignRecords = 0;
    yield* useFile(manifest, this.#closing, function* (file) {
      yield* readStart(file, (record) => {
        try {
          builder.add(record, { structure: 'version edit', offset: 0 });
        } catch {
          foreignRecords++;
        }
      });
    });
    if (foreignRecords > 0 || !isComplete(builder)) return undefined;
    return builder.files.levels.flat().flatMap(({ number }) => [tableFileName(number), oldTableFileName(number)]).filter((name) => this.#names.includes(name));
  }
}
