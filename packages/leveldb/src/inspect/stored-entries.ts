import type { Signal } from '@bloom/bytes';
import { mustBeFunction, mustBeOptions } from '@bloom/bytes/internal';
import { decodeInternalKey, internalTableOptions, VALUE } from '@bloom/sstable/database';
import { decodingFor, readOpenTable } from '@bloom/sstable/internal';
import { ClosingFiles } from '../folder/closing-files.js';
import { DamagePolicy, type Dropped } from '../folder/damage.js';
import { typeOf } from '../format/database-key.js';
import { numberedFiles, parseFileName } from '../format/file-name.js';
import { type Folder, type FolderFile, mustBeFolder, type SyncFolder } from '../folder/folder.js';
import { type FolderReading, listFiles, openFile, readingOf, runAsync, runSync } from '../folder/folder-reading.js';
import { mustNotBeForeign, orForeignEngine } from '../folder/detect-foreign-engine.js';
import { LogBatches } from '../folder/log-batches.js';
import type { StoredEntry } from '../read/read-path.js';
import { mustBeDamageMode, type ReaderOptions } from '../read/reader-options.js';
import { TableEntries } from '../table/table-cursor.js';
import { TableHandle } from '../table/table-handle.js';

/** How to list stored entries. */
export interface StoredEntriesOptions extends Pick<ReaderOptions, 'codecs' | 'maxBlockBytes' | 'damage'> {
  /** Called with each damaged part that is skipped, when `damage` is `'skip'`. */
  readonly onDropped?: ((dropped: Dropped) => void) | undefined;
}

/** The most entries of a batch of a table. */
const PORTION = 256;
/** The size in bytes at which a batch is full. */
const PORTION_BYTES = 2 ** 20;
const NO_KEY = new Uint8Array(0);

/**
 * The entries of every log and table of a folder, unmerged: ordered by the number of the file, and within a file as stored.
 *
 * It needs neither MANIFEST nor comparator, so it also reads databases that cannot be opened. It includes deleted, overwritten and
 * obsolete entries.
 *
 * @throws CorruptionError when `damage` is strict, which is the default.
 * @example
 * ```ts
 * for await (const { file, key, value } of storedEntries(new NodeFolder('path/to/database'))) …
 * ```
 */
export async function* storedEntries(
  folder: Folder,
  options: StoredEntriesOptions & { readonly signal?: Signal | undefined } = {},
): AsyncGenerator<StoredEntry, void, undefined> {
  const entries = new StoredEntries('storedEntries', folder, options);
  try {
    await runAsync(folder, entries.list(), options.signal);
    for (;;) {
      const portion = await runAsync(folder, naming(folder, entries.next()), options.signal);
      if (portion === undefined) return;
      yield* portion;
    }
  } finally {
    await entries.close();
  }
}

/** The synchronous {@link storedEntries}. */
export function* storedEntriesSync(folder: SyncFolder, options: StoredEntriesOptions = {}): Generator<StoredEntry, void, undefined> {
  const entries = new StoredEntries('storedEntriesSync', folder, options);
  try {
    runSync(folder, entries.list());
    for (;;) {
      const portion = runSync(folder, naming(folder, entries.next()));
      if (portion === undefined) return;
      yield* portion;
    }
  } finally {
    void entries.close();
  }
}

/** Replaces an error about damaged files if the folder is the database of another engine. */
function* naming<T>(folder: Folder, reading: FolderReading<T>): FolderReading<T> {
  try {
    return yield* reading;
  } catch (error) {
    throw yield* orForeignEngine({ name: folder.name, canList: true }, error);
  }
}

interface OpenStoredLog {
  readonly name: string;
  readonly file: FolderFile;
  readonly batches: LogBatches;
  /** The entries of the piece that was read last. */
  entries: StoredEntry[];
  /** Whether damage was skipped, but not examined yet: another engine's records look like damage, or like batches. */
  isSuspect: boolean;
}

interface OpenStoredTable {
  readonly name: string;
  readonly handle: TableHandle;
  readonly entries: TableEntries;
}

const STORED_ENTRIES_OPTIONS: Record<keyof StoredEntriesOptions | 'signal', true> = {
  codecs: true,
  maxBlockBytes: true,
  damage: true,
  onDropped: true,
  signal: true,
};

/** Reads the files of a folder, one batch of entries at a time. */
class StoredEntries {
  readonly #options: StoredEntriesOptions;
  readonly #damage: DamagePolicy;
  readonly #folderName: string | undefined;
  #names: string[] = [];
  #log: OpenStoredLog | undefined;
  #table: OpenStoredTable | undefined;
  readonly #closing = new ClosingFiles();

  constructor(call: string, folder: Folder, options: StoredEntriesOptions) {
    mustBeFolder(folder, ['list', 'open']);
    mustBeOptions(call, options, STORED_ENTRIES_OPTIONS);
    mustBeDamageMode(options.damage);
    decodingFor(options);
    if (options.onDropped !== undefined) mustBeFunction('onDropped', options.onDropped);
    this.#options = options;
    this.#folderName = folder.name;
    this.#damage = new DamagePolicy(options.damage !== 'skip', options.onDropped);
  }

  *list(): FolderReading<void> {
    // Names are taken from the end.
    this.#names = numberedFiles(yield* listFiles(), 'log', 'table').reverse().map(({ name }) => name);
  }

  /** Further entries, possibly none; undefined at the end. */
  *next(): FolderReading<StoredEntry[] | undefined> {
    if (this.#log !== undefined) return yield* this.#logEntries(this.#log);
    if (this.#table !== undefined) return yield* this.#tableEntries(this.#table);
    const name = this.#names.pop();
    if (name === undefined) return undefined;
    const file = yield* openFile(name);
    if (file === undefined) return [];
    if (parseFileName(name)?.type === 'log') {
      this.#openLog(name, file);
      return [];
    }
    try {
      const table = yield* readingOf(file, readOpenTable(file, internalTableOptions({ ...this.#options, filterPolicies: [] })));
      const metadata = { number: 0n, size: file.byteLength, smallest: NO_KEY, largest: NO_KEY };
      const handle = new TableHandle(metadata, table, file, file, null, {});
      const entries = new TableEntries(handle, this.#damage);
      this.#table = { name, handle, entries };
      if (!entries.seekToFirst()) yield* entries.settle();
    } catch (error) {
      if (this.#table === undefined) this.#closing.close(file);
      this.#damage.pass(error);
    }
    return [];
  }

  async close(): Promise<void> {
    this.#endLog();
    this.#endTable();
    await this.#closing.settled();
  }

  *#tableEntries({ name, entries, handle }: OpenStoredTable): FolderReading<StoredEntry[]> {
    const portion: StoredEntry[] = [];
    let byteLength = 0;
    while (entries.valid && portion.length < PORTION && byteLength < PORTION_BYTES) {
      const { keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = entries.entry;
      byteLength += keyEnd - keyStart + valueEnd - valueStart;
      try {
        const type = typeOf(keyBytes, keyStart, keyEnd, handle.table.file ?? name);
        const { userKey: key, sequence } = decodeInternalKey(keyBytes.slice(keyStart, keyEnd))!;
        const kind = type === VALUE ? 'value' : 'deletion';
        portion.push({ file: name, kind, sequence, key, value: valueBytes.slice(valueStart, valueEnd) });
      } catch (error) {
        this.#damage.pass(error);
      }
      if (!entries.next()) yield* entries.settle();
    }
    if (!entries.valid) this.#endTable();
    return portion;
  }

  #openLog(name: string, file: FolderFile): void {
    const batches = new LogBatches(file, file.name ?? name, {
      batch(batch) {
        for (let sequence = batch.sequence; batch.next(); sequence++) {
          const kind = batch.type === VALUE ? 'value' : 'deletion';
          log.entries.push({ file: name, kind, sequence, key: batch.key.slice(), value: batch.value.slice() });
        }
      },
      skip: this.#damage.isStrict
        ? undefined
        : (damage) => {
            this.#damage.add(damage);
            log.isSuspect = true;
          },
    });
    const log: OpenStoredLog = { name, file, batches, entries: [], isSuspect: false };
    this.#log = log;
  }

  *#logEntries(log: OpenStoredLog): FolderReading<StoredEntry[]> {
    log.entries = [];
    const mayHaveMore = yield* log.batches.readPiece();
    if (log.isSuspect) {
      yield* mustNotBeForeign([log.name], { name: this.#folderName, canList: true });
      log.isSuspect = false;
    }
    if (!mayHaveMore) this.#endLog();
    return log.entries;
  }

  #endLog(): void {
    this.#closing.close(this.#log?.file);
    this.#log = undefined;
  }

  #endTable(): void {
    this.#closing.close(this.#table?.handle);
    this.#table = undefined;
  }
}
