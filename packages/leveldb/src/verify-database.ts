import { CorruptionError, mustBeWhole, type Signal, UnsupportedError } from '@bloom/bytes';
import { LogReader } from '@bloom/log';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, type Source, Table } from '@bloom/sstable';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { type Finding, type Unchecked, verifyTable, type VerifyOptions } from '@bloom/sstable/inspect';
import { readCurrent } from './current.js';
import { keyOrderOf } from './database-key.js';
import { CURRENT, logFileName, oldTableFileName, parseFileName, tableFileName } from './file-name.js';
import type { Folder, FolderFile } from './folder.js';
import { runAsync } from './folder-reading.js';
import { pushAll } from './log-memtable.js';
import { ManifestBuilder, type ManifestFields } from './manifest.js';
import type { ReaderOptions } from './reader-options.js';
import { WholeTable } from './table-cache.js';
import { compareBigints, type FileMetadata } from './version-edit.js';
import { versionProblems } from './version.js';
import { WriteBatchReader } from './write-batch.js';

/** How to look at a whole folder. All of it has a default. */
export interface VerifyDatabaseOptions extends Pick<ReaderOptions, 'comparators' | 'codecs' | 'maxBlockBytes'> {
  /** The policies whose filters are checked, where they agree with the database's comparator. Default: LevelDB's Bloom filter. */
  readonly filterPolicies?: ReaderOptions['filterPolicies'];
  /** Leaves the order of the keys unchecked. Default: false. */
  readonly anyOrder?: boolean | undefined;
  /** How many findings are listed; the others are counted. Default: 10,000. */
  readonly maxFindings?: number | undefined;
  /** Ends the work early. */
  readonly signal?: VerifyOptions['signal'];
}

/** Something wrong with a file of a folder. */
export interface DatabaseFinding extends Finding {
  /** The name of the file within the folder. */
  readonly file: string;
}

/** A part of a table that could not be checked. */
export interface UncheckedInFile extends Unchecked {
  /** The name of the file within the folder. */
  readonly file: string;
}

/** What was looked at in a folder, and what is wrong with it. */
export interface DatabaseVerification {
  /** Everything that is wrong with it, up to `maxFindings`. */
  readonly findings: readonly DatabaseFinding[];
  /** How many more findings there were. */
  readonly moreFindings: number;
  /** What could not be checked. */
  readonly unchecked: readonly UncheckedInFile[];
  /** The name of the order of the keys; undefined where the MANIFEST does not say it. */
  readonly comparator: string | undefined;
  /** The names of the tables and logs that were looked at. */
  readonly tables: readonly string[];
  readonly logs: readonly string[];
}

/**
 * Everything that is wrong with the files of a database, whatever state they are in.
 *
 * Reads CURRENT, the MANIFEST, the logs that are not obsolete, and each table as `verifyTable` does. Checks that the tables
 * of the MANIFEST are there, hold the keys that it says, and do not overlap. Where the MANIFEST cannot be read, all logs and
 * tables of the folder are looked at, in whatever order their keys are. The folder must not be written meanwhile.
 *
 * @param folder one that can be listed.
 * @throws TypeError when the folder cannot be listed; RangeError for an option that is wrong; else what the folder throws, never for the bytes of its files.
 * @example
 * ```ts
 * const { findings } = await verifyDatabase(new NodeFolder('path/to/database'));
 * for (const { file, structure, offset, problem } of findings) console.log(file, structure, offset, problem);
 * ```
 */
export async function verifyDatabase(folder: Folder, options: VerifyDatabaseOptions = {}): Promise<DatabaseVerification> {
  if (folder.list === undefined) throw new TypeError('folder must have a method list: all of its files are to be seen');
  return new DatabaseVerifier(folder, options).verify(await folder.list(options.signal));
}

const DEFAULT_MAX_FINDINGS = 10_000;

/** What a MANIFEST adds up to, as far as it can be read. */
interface ManifestContents {
  readonly name: string;
  readonly builder: ManifestBuilder;
  /** Undefined where one of them is missing. */
  readonly fields: ManifestFields | undefined;
}

class DatabaseVerifier {
  readonly #folder: Folder;
  readonly #options: VerifyDatabaseOptions;
  readonly #signal: Signal | undefined;
  readonly #maxFindings: number;
  readonly #findings: DatabaseFinding[] = [];
  readonly #unchecked: UncheckedInFile[] = [];
  #moreFindings = 0;

  constructor(folder: Folder, options: VerifyDatabaseOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#signal = options.signal;
    this.#maxFindings = mustBeWhole('maxFindings', options.maxFindings ?? DEFAULT_MAX_FINDINGS, 0);
  }

  async verify(names: readonly string[]): Promise<DatabaseVerification> {
    const manifest = await this.#manifest();
    const fields = manifest?.fields;
    const comparatorName = fields && (fields.comparator ?? bytewiseComparator.name);
    const comparator = manifest && comparatorName !== undefined ? this.#comparator(comparatorName, manifest.name) : undefined;
    const order = this.#options.anyOrder ? undefined : comparator;
    let tables: string[];
    if (manifest !== undefined && fields !== undefined) {
      for (const problem of versionProblems(manifest.builder.files.levels, keyOrderOf(order ?? bytewiseComparator), order !== undefined)) {
        this.#report(manifest.name, { code: 'BLOOM_BAD_VERSION', structure: 'MANIFEST', offset: 0, problem });
      }
      const listed = manifest.builder.files.levels.flat().sort((a, b) => compareBigints(a.number, b.number));
      tables = [];
      for (const file of listed) tables.push(await this.#listedTable(file, order));
    } else {
      tables = namesOf(names, 'table');
      for (const name of tables) await this.#withFile(name, (file) => this.#table(name, file, undefined));
    }
    const logs = namesOf(names, 'log').filter((name) => fields === undefined || isNeeded(name, fields));
    for (const name of logs) await this.#withFile(name, (file) => this.#log(name, file));
    return { findings: this.#findings, moreFindings: this.#moreFindings, unchecked: this.#unchecked, comparator: comparatorName, tables, logs };
  }

  async #manifest(): Promise<ManifestContents | undefined> {
    const { name: folderName } = this.#folder;
    let name: string;
    try {
      name = await this.#open(CURRENT, (file) => runAsync(this.#folder, readCurrent(file, folderName), this.#signal));
    } catch (error) {
      this.#reportError(CURRENT, error);
      return undefined;
    }
    return this.#open(name, async (file) => {
      if (file === undefined) {
        const problem = `it points to ${JSON.stringify(name)}, which is not there`;
        this.#report(CURRENT, { code: 'BLOOM_BAD_CURRENT', structure: 'CURRENT', offset: 0, problem });
        return undefined;
      }
      const builder = new ManifestBuilder();
      await this.#records(name, file, (record, offset) => {
        try {
          builder.add(record, { structure: 'version edit', offset });
        } catch (error) {
          this.#reportError(name, error);
        }
      });
      try {
        return { name, builder, fields: builder.fields({ structure: 'MANIFEST', offset: 0 }) };
      } catch (error) {
        this.#reportError(name, error);
        return { name, builder, fields: undefined };
      }
    });
  }

  #comparator(name: string, manifest: string): Comparator | undefined {
    const comparator = [...(this.#options.comparators ?? []), bytewiseComparator].find((given) => given.name === name);
    if (comparator === undefined && !this.#options.anyOrder) {
      const problem = `the order of the keys cannot be checked: the comparator ${JSON.stringify(name)} was not given`;
      this.#report(manifest, { code: 'BLOOM_UNKNOWN_COMPARATOR', structure: 'MANIFEST', offset: 0, problem });
    }
    return comparator;
  }

  /** @returns the name of the table's file. */
  async #listedTable(metadata: FileMetadata, comparator: Comparator | undefined): Promise<string> {
    for (const name of [tableFileName(metadata.number), oldTableFileName(metadata.number)]) {
      const isThere = await this.#withFile(name, async (file) => {
        try {
          const source = new WholeTable(file, metadata.size, name);
          const isSound = await this.#table(name, source, comparator);
          if (isSound && comparator !== undefined) await this.#bounds(name, source, metadata, comparator);
        } catch (error) {
          this.#reportError(name, error);
        }
      });
      if (isThere) return name;
    }
    const name = tableFileName(metadata.number);
    this.#report(name, { code: 'BLOOM_MISSING_FILE', structure: 'file', offset: 0, problem: 'the MANIFEST lists it, and it is not there' });
    return name;
  }

  /** @returns whether nothing is wrong with the table. */
  async #table(name: string, source: Source, comparator: Comparator | undefined): Promise<boolean> {
    const { codecs, maxBlockBytes, signal } = this.#options;
    const given: readonly FilterPolicy[] = this.#options.filterPolicies ?? [new BloomFilterPolicy()];
    const policies = given.filter(({ keyEquivalence }) => keyEquivalence === comparator?.keyEquivalence);
    const verifyOptions: VerifyOptions = {
      comparator: comparator === undefined ? null : internalKeyComparator(comparator),
      filterPolicies: policies.map(internalKeyPolicy),
      codecs,
      maxBlockBytes,
      maxFindings: this.#maxFindings,
      signal,
    };
    const { findings, moreFindings, unchecked } = await verifyTable(source, verifyOptions);
    for (const finding of findings) this.#report(name, finding);
    this.#moreFindings += moreFindings;
    this.#unchecked.push(...unchecked.map((part) => ({ file: name, ...part })));
    return findings.length + moreFindings === 0;
  }

  /** Compares the first and last key of a table with those of the MANIFEST. */
  async #bounds(name: string, source: Source, { smallest, largest }: FileMetadata, comparator: Comparator): Promise<void> {
    const { codecs, maxBlockBytes } = this.#options;
    const order = internalKeyComparator(comparator);
    const table = await Table.open(source, { comparator: order, filterPolicies: [], codecs, maxBlockBytes, cache: null });
    const cursor = table.cursor();
    const report = (problem: string): void => this.#report(name, { code: 'BLOOM_BAD_VERSION', structure: 'file', offset: 0, problem });
    if (!(await cursor.seekToFirst())) {
      report('it has no entries');
      return;
    }
    if (order.compare(cursor.key, smallest) !== 0) report('its first key is not the one that the MANIFEST says');
    await cursor.seekToLast();
    if (order.compare(cursor.key, largest) !== 0) report('its last key is not the one that the MANIFEST says');
  }

  async #log(name: string, file: FolderFile): Promise<void> {
    await this.#records(name, file, (record, offset) => {
      const batch = new WriteBatchReader(record);
      while (batch.next());
      if (batch.problem === undefined) return;
      this.#report(name, { code: 'BLOOM_BAD_WRITE_BATCH', structure: 'write batch', offset, problem: batch.problem });
    });
  }

  /** Reads the records of a log or MANIFEST, and reports what is none. */
  async #records(name: string, file: FolderFile, take: (record: Uint8Array, offset: number) => void): Promise<void> {
    const reader = new LogReader({
      record: take,
      drop: ({ offset, byteLength, reason }) => {
        this.#report(name, { code: 'BLOOM_BAD_LOG', structure: 'log record', offset, problem: `${reason} (${byteLength} bytes)` });
      },
    });
    await runAsync(this.#folder, pushAll(reader, file, 0), this.#signal);
    // A record that is cut off at the end is no damage.
    reader.finish();
  }

  /** Does `work` with a file. @returns whether there is one of that name. */
  #withFile(name: string, work: (file: FolderFile) => Promise<unknown>): Promise<boolean> {
    return this.#open(name, async (file) => {
      if (file !== undefined) await work(file);
      return file !== undefined;
    });
  }

  async #open<T>(name: string, work: (file: FolderFile | undefined) => Promise<T>): Promise<T> {
    const file = await this.#folder.open(name, this.#signal);
    try {
      return await work(file);
    } finally {
      await file?.close?.();
    }
  }

  #reportError(file: string, error: unknown): void {
    if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
    this.#report(file, error);
  }

  #report(file: string, { code, structure, offset, problem }: Finding): void {
    if (this.#findings.length >= this.#maxFindings) this.#moreFindings++;
    else this.#findings.push({ file, code, structure, offset, problem });
  }
}

/** The names of the files of a type, by their numbers. */
function namesOf(names: readonly string[], type: 'log' | 'table'): string[] {
  const files: { readonly name: string; readonly number: bigint }[] = [];
  for (const name of names) {
    const file = parseFileName(name);
    if (file?.type === type) files.push({ name, number: file.number });
  }
  return files.sort((a, b) => compareBigints(a.number, b.number)).map(({ name }) => name);
}

/** Whether a log is part of the database: it bears the name that its number gives, and is not obsolete. */
function isNeeded(name: string, { logNumber, previousLogNumber }: ManifestFields): boolean {
  const file = parseFileName(name);
  if (file?.type !== 'log' || name !== logFileName(file.number)) return false;
  return file.number >= logNumber || file.number === previousLogNumber;
}
