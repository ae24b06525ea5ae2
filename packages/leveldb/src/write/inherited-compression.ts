/**
 * New tables get the compression that the database's tables have, unless the caller names one. Mojang's LevelDB cannot read Snappy: one
 * such table would make a world unreadable for Minecraft.
 */
import { UnsupportedError } from '@bloom/bytes';
import type { Codec } from '@bloom/sstable';
import { compressionName, decodingFor, missingCodec, SNAPPY_TYPE } from '@bloom/sstable/internal';
import { ClosingFiles } from '../folder/closing-files.js';
import { all, type FolderReading, openFile, runAsync, runSync } from '../folder/folder-reading.js';
import type { TableThreadSettings } from '../folder/table-thread.js';
import type { WritableFolder } from '../folder/writable-folder.js';
import { oldTableFileName, tableFileName } from '../format/file-name.js';
import { compareBigints, type FileMetadata } from '../format/version-edit.js';
import type { Version } from '../format/version.js';
import { dataBlockCompression, type TableCompression, tableCompression } from '../table/table-compression.js';
import { WholeTable } from '../table/whole-table.js';
import type { Settings } from './database-options.js';

/** The number of further tables to examine when those at the ends are not compressed. */
const MORE_TABLES = 4;

/** The number of tables of which more blocks than the first are examined, with one read for each. */
const TABLES_BY_BLOCKS = 2;

/** Compressed by a codec to find out which format it writes. */
const SAMPLE = new Uint8Array(64);

/**
 * Examines the compression of the newest and the oldest table of each level, and of others if these are not compressed. The tables of a
 * database usually have the same compression, and a missing codec would otherwise be noticed only in the middle of a compaction.
 *
 * @returns the settings for the tables of this database: with the codec of the newest table that has one, unless the caller named
 *   a compression.
 * @throws UnsupportedError `BLOOM_UNSUPPORTED_CODEC` when there is no codec for a table, or new tables need one that can only
 *   decompress. This check ignores damaged and missing tables.
 */
export async function settingsForTables({ levels }: Version, folder: WritableFolder, settings: Settings): Promise<Settings> {
  if (levels.every((tables) => tables.length === 0)) return { ...settings, thread: withoutCodecs(settings.thread) };
  const closing = new ClosingFiles();
  const looks = lookAtTables(levels, settings, closing);
  try {
    const found = folder.openSync === undefined ? await runAsync(folder, looks) : runSync(folder, looks);
    const settled = withCompressionOf(found, settings);
    return found === undefined || found.type <= SNAPPY_TYPE ? { ...settled, thread: withoutCodecs(settled.thread) } : settled;
  } finally {
    await closing.settled();
  }
}

function* lookAtTables(levels: Version['levels'], settings: Settings, closing: ClosingFiles): FolderReading<TableCompression | undefined> {
  const ends = new Set<FileMetadata>();
  for (const tables of levels) {
    if (tables.length === 0) continue;
    const byAge = newestFirst(tables);
    ends.add(byAge[0]!).add(byAge.at(-1)!);
  }
  const atEnds = newestFirst([...ends]);
  const compressions = yield* all(atEnds.map((file) => look(file, tableCompression, settings, closing)));
  const found = compressions.find((compression) => compression !== undefined && compression.type > SNAPPY_TYPE);
  const isKnown = found !== undefined || compressions.some((compression) => compression?.type === SNAPPY_TYPE);
  // Uncompressed blocks may just be incompressible. Looking further takes 0.15 ms of an opening of 1 ms, which is skipped without codecs.
  if (isKnown || settings.isCompressionNamed || settings.opening.codecs?.length === 0) return found;
  const others = newestFirst(levels.flat().filter((file) => !ends.has(file)));
  for (const [files, by] of [[others.slice(0, MORE_TABLES), tableCompression], [[...atEnds, ...others].slice(0, TABLES_BY_BLOCKS), dataBlockCompression]] as const) {
    for (const file of files) {
      const compression = yield* look(file, by, settings, closing);
      if (compression !== undefined && compression.type > 0) return compression;
    }
  }
  return undefined;
}

/** Lets a thread start with fewer plug-ins. Tables that it cannot read are read on the main thread. */
function withoutCodecs(thread: TableThreadSettings): TableThreadSettings {
  const { plugins } = thread;
  if (plugins === undefined || plugins.compression !== undefined) return thread;
  const hasOthers = plugins.comparator !== undefined || plugins.filterPolicy !== undefined;
  return { ...thread, plugins: hasOthers ? { ...plugins, codecs: [] } : undefined };
}

function newestFirst(tables: readonly FileMetadata[]): FileMetadata[] {
  return [...tables].sort((a, b) => compareBigints(b.number, a.number));
}

/** The compression of a table. @throws UnsupportedError when there is no codec for it. */
function* look({ number, size }: FileMetadata, by: typeof tableCompression, settings: Settings, closing: ClosingFiles): FolderReading<TableCompression | undefined> {
  const file = (yield* openFile(tableFileName(number))) ?? (yield* openFile(oldTableFileName(number)));
  if (file === undefined) return undefined;
  try {
    if (file.byteLength < size) return undefined;
    const compression = yield* by(new WholeTable(file, size, file.name ?? tableFileName(number), false), settings.opening);
    if (compression !== undefined && compression.type > SNAPPY_TYPE) codecFor(compression, settings);
    return compression;
  } finally {
    closing.close(file);
  }
}

/** @throws UnsupportedError when there is none. */
function codecFor({ type, place }: TableCompression, { opening }: Settings): Codec {
  const codec = decodingFor(opening).codecs.get(type);
  if (codec === undefined) throw new UnsupportedError('BLOOM_UNSUPPORTED_CODEC', place, missingCodec(type));
  return codec;
}

/** The settings with the codec of a compression, unless the caller named one. */
export function withCompressionOf(found: TableCompression | undefined, settings: Settings): Settings {
  if (found === undefined || found.type <= SNAPPY_TYPE || settings.isCompressionNamed) return settings;
  const codec = codecFor(found, settings);
  if (isWriterOf(found, codec)) return settings.compressedBy(codec);
  // A LevelDB that reads zstd also reads Snappy.
  if (found.name === 'zstd') return settings;
  const problem = `its tables are compressed with ${found.name}, which the codec ${codec.name} does not write: pass a codec that does as compression`;
  throw new UnsupportedError('BLOOM_UNSUPPORTED_CODEC', found.place, problem);
}

/** Whether the program that wrote a table can read what a codec writes. */
function isWriterOf({ type, name }: TableCompression, codec: Codec): boolean {
  return codec.compress !== undefined && (type !== 2 || compressionName(type, codec.compress(SAMPLE)) === name);
}
