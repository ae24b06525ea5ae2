import { CorruptionError, UnsupportedError } from '@bloom/bytes';
import { mustBeOptions, mustBeSignal, mustBeWhole, numberOf, quotedName } from '@bloom/bytes/internal';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { bytewiseComparator, type Comparator, type Source, Table } from '@bloom/sstable';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { checkedComparator, decodingFor } from '@bloom/sstable/internal';
import { type Finding, type Unchecked, verifyTable, type VerifyOptions } from '@bloom/sstable/inspect';
import { runClosing, withFile } from '../folder/closing-files.js';
import { missingManifest, readCurrent } from '../folder/current-file.js';
import { keyOrderOf } from '../format/database-key.js';
import { CURRENT, logFileName, numberedFiles, oldTableFileName, tableFileName } from '../format/file-name.js';
import { readEngineOfLogs } from '../folder/detect-foreign-engine.js';
import type { ForeignEngine } from '../format/engine-evidence.js';
import { type Folder, type FolderFile, mustBeFolder } from '../folder/folder.js';
import { runAsync } from '../folder/folder-reading.js';
import { type LogEnd, lostEnds } from '../memtable/log-ends.js';
import { LogBatches } from '../folder/log-batches.js';
import { readManifest } from '../folder/manifest-file.js';
import { ManifestBuilder, type ManifestFields } from '../format/manifest.js';
import { foreignEngine } from './foreign-engine.js';
import { missingLog, neededLogs } from '../format/needed-files.js';
import { mustBeComparators, type ReaderOptions } from '../read/reader-options.js';
import { WholeTable } from '../table/whole-table.js';
import { compareBigints, type FileMetadata } from '../format/version-edit.js';
import { misnumbered, versionProblems } from '../format/version.js';

/** How to verify a whole folder. Every option has a default. */
export interface VerifyDatabaseOptions extends Pick<ReaderOptions, 'codecs' | 'maxBlockBytes'> {
  /** Orders of user keys other than the bytewise one, by name; null leaves the order unchecked, as in `verifyTable`. */
  readonly comparators?: ReaderOptions['comparators'] | null;
  /** The policies whose filters are checked, if they agree with the database's comparator. Default: LevelDB's Bloom filter. */
  readonly filterPolicies?: ReaderOptions['filterPolicies'];
  /** The most findings that are listed; further ones are only counted. Default: 10,000. */
  readonly maxFindings?: number | undefined;
  /** Aborts the verification. */
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

/** The result of verifying a folder. */
export interface VerifyDatabaseReport {
  /** All problems, up to `maxFindings`. */
  readonly findings: readonly DatabaseFinding[];
  /** The number of further findings. */
  readonly moreFindings: number;
  /** The parts that could not be checked. */
  readonly unchecked: readonly UncheckedInFile[];
  /** The name of the comparator, the bytewise one if the MANIFEST names none; undefined when the MANIFEST cannot be read. */
  readonly comparator: string | undefined;
  /** The names of the tables that the MANIFEST lists, even if they are missing, and of the logs; all of the folder when it cannot be read. */
  readonly tables: readonly string[];
  readonly logs: readonly string[];
  /**
   * The log that the MANIFEST names, if the folder lacks it: Git may ignore `*.log`, or the MANIFEST lost its last record. Not a finding,
   * because LevelDB opens such a database, without the writes that were only in the log.
   */
  readonly missingLog: string | undefined;
}

/**
 * Finds all problems of a database's files, whatever their state.
 *
 * Reads CURRENT, the MANIFEST, the logs that are not obsolete, and each table as `verifyTable` does. Checks that the tables of the
 * MANIFEST exist, hold the keys that it lists, do not overlap, and in level 0 are numbered in the order of their writes, as far as their
 * first and last keys show. If the MANIFEST cannot be read, all logs and tables of the folder are verified, without checking the order of
 * their keys. If the folder is the database of another engine, that is the only finding. The folder must not be written to while it is
 * verified.
 *
 * @param folder a folder that can be listed.
 * @throws TypeError when the folder cannot be listed; TypeError or RangeError for an invalid option; the signal's reason when it is aborted.
 *   Errors of the folder are passed on; damaged files cause none.
 * @example
 * ```ts
 * const { findings } = await verifyDatabase(new NodeFolder('path/to/database'));
 * for (const { file, structure, offset, problem } of findings) console.log(file, structure, offset, problem);
 * ```
 */
export async function verifyDatabase(folder: Folder, options: VerifyDatabaseOptions = {}): Promise<VerifyDatabaseReport> {
  mustBeFolder(folder);
  if (folder.list === undefined) throw new TypeError('folder must have a method list, because all of its files are verified');
  const verifier = new DatabaseVerifier(folder, options);
  return verifier.verify(await folder.list(options.signal));
}

const VERIFY_DATABASE_OPTIONS: Record<keyof VerifyDatabaseOptions, true> = {
  comparators: true,
  codecs: true,
  maxBlockBytes: true,
  filterPolicies: true,
  maxFindings: true,
  signal: true,
};

const DEFAULT_MAX_FINDINGS = 10_000;

/** The contents of a MANIFEST, as far as it can be read. */
interface ManifestContents {
  readonly name: string;
  readonly builder: ManifestBuilder;
  /** Undefined when one of them is missing. */
  readonly fields: ManifestFields | undefined;
}

class DatabaseVerifier {
  readonly #folder: Folder;
  readonly #options: VerifyDatabaseOptions;
  readonly #maxFindings: number;
  readonly #findings: DatabaseFinding[] = [];
  readonly #unchecked: UncheckedInFile[] = [];
  #missingLog: string | undefined;
  #moreFindings = 0;

  constructor(folder: Folder, options: VerifyDatabaseOptions) {
    mustBeOptions('verifyDatabase', options, VERIFY_DATABASE_OPTIONS);
    mustBeComparators(options.comparators ?? []);
    decodingFor(options);
    if (options.signal !== undefined) mustBeSignal('signal', options.signal);
    this.#folder = folder;
    this.#options = options;
    this.#maxFindings = mustBeWhole('maxFindings', options.maxFindings ?? DEFAULT_MAX_FINDINGS, 0);
  }

  async verify(names: readonly string[]): Promise<VerifyDatabaseReport> {
    const manifest = await this.#manifest();
    const fields = manifest?.fields;
    // Logs and tables of another engine are no damaged LevelDB files.
    if (this.#count > 0 && this.#isForeign(await foreignEngine(this.#folder, { signal: this.#options.signal }))) return this.#reportOf(undefined, [], []);
    const comparatorName = fields && (fields.comparator ?? bytewiseComparator.name);
    const order = manifest && comparatorName !== undefined ? this.#comparator(comparatorName, manifest.name) : undefined;
    let tables: string[];
    if (manifest !== undefined && fields !== undefined) {
      const { levels } = manifest.builder.files;
      const report = (problem: string): void => this.#report(manifest.name, { code: 'BLOOM_BAD_VERSION', structure: 'MANIFEST', offset: 0, problem });
      const keyOrder = keyOrderOf(order ?? bytewiseComparator);
      const problems = [...versionProblems(levels, keyOrder, order !== undefined)];
      problems.forEach(report);
      if (order !== undefined && problems.length === 0) {
        const { length } = misnumbered(levels[0]!, keyOrder);
        const wrong = `the order of level 0 is wrong for ${length} of ${levels[0]!.length} tables`;
        if (length > 0) report(`${wrong}: an older table has a higher number, so LevelDB's get can return old values until a compaction`);
      }
      const lost = missingLog(names, fields, manifest.name);
      if (lost !== undefined) this.#missingLog = logFileName(lost);
      const listed = levels.flat().sort((a, b) => compareBigints(a.number, b.number));
      tables = [];
      for (const file of listed) tables.push(await this.#listedTable(file, order));
    } else {
      tables = numberedFiles(names, 'table').map(({ name }) => name);
      for (const name of tables) await this.#listedFile(name, (file) => this.#table(name, file, undefined));
    }
    const logs = fields === undefined ? numberedFiles(names, 'log').map(({ name }) => name) : neededLogs(names, fields).map(logFileName);
    const ends: LogEnd[] = [];
    const damaged: string[] = [];
    for (const name of logs) {
      const before = this.#count;
      await this.#listedFile(name, async (file) => void ends.push(await this.#log(name, file)));
      if (this.#count > before) damaged.push(name);
    }
    // LevelDB can read the MANIFEST of another engine's folder that has no tables yet.
    if (damaged.length > 0 && this.#isForeign(await this.#engineOfLogs(damaged))) return this.#reportOf(undefined, [], []);
    // Without a MANIFEST, some of them may be obsolete.
    if (fields !== undefined) for (const error of lostEnds(ends)) this.#report(error.file!, error);
    return this.#reportOf(comparatorName, tables, logs);
  }

  #reportOf(comparator: string | undefined, tables: readonly string[], logs: readonly string[]): VerifyDatabaseReport {
    return { findings: this.#findings, moreFindings: this.#moreFindings, unchecked: this.#unchecked, comparator, tables, logs, missingLog: this.#missingLog };
  }

  get #count(): number {
    return this.#findings.length + this.#moreFindings;
  }

  #engineOfLogs(logs: readonly string[]): Promise<ForeignEngine | undefined> {
    return runClosing(this.#folder, (closing) => readEngineOfLogs(logs, { name: this.#folder.name, canList: true }, closing), this.#options.signal);
  }

  /** Whether it is the database of another engine. This is then the only finding. */
  #isForeign(engine: ForeignEngine | undefined): boolean {
    if (engine === undefined) return false;
    this.#findings.length = this.#moreFindings = 0;
    this.#report(engine.file, { code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'folder', offset: 0, problem: `the folder ${engine.text}` });
    return true;
  }

  async #manifest(): Promise<ManifestContents | undefined> {
    const { name: folderName } = this.#folder;
    let name: string;
    try {
      name = await this.#open(CURRENT, (file) => runAsync(this.#folder, readCurrent(file, folderName), this.#options.signal));
    } catch (error) {
      this.#reportError(CURRENT, error);
      return undefined;
    }
    return this.#open(name, async (file) => {
      if (file === undefined) {
        this.#reportError(CURRENT, missingManifest(name, folderName));
        return undefined;
      }
      let builder = new ManifestBuilder();
      try {
        const reading = readManifest(file, name, { onDamage: (error) => this.#report(name, error) });
        ({ builder } = await runAsync(this.#folder, reading, this.#options.signal));
        return { name, builder, fields: builder.fields({ structure: 'MANIFEST', offset: 0 }) };
      } catch (error) {
        this.#reportError(name, error);
        return { name, builder, fields: undefined };
      }
    });
  }

  /** The order to check; undefined when it is unknown, or must not be checked. */
  #comparator(name: string, manifest: string): Comparator | undefined {
    const { comparators = [] } = this.#options;
    if (comparators === null) return undefined;
    const comparator = [...comparators.map(checkedComparator), bytewiseComparator].find((given) => given.name === name);
    if (comparator === undefined) {
      const problem = `the order of the keys cannot be checked: the comparator ${quotedName(name)} was not given`;
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
    this.#report(name, { code: 'BLOOM_MISSING_FILE', structure: 'file', offset: 0, problem: 'the MANIFEST lists it, but it is missing' });
    return name;
  }

  /** @returns whether the table has no problem. */
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
    if (order.compare(cursor.key, smallest) !== 0) report('its first key is not the one that the MANIFEST lists');
    await cursor.seekToLast();
    if (order.compare(cursor.key, largest) !== 0) report('its last key is not the one that the MANIFEST lists');
  }

  async #log(name: string, file: FolderFile): Promise<LogEnd> {
    const batches = new LogBatches(file, name, {
      skip: ({ code, offset, byteLength, reason }, structure) => {
        const problem = structure === 'write batch' ? reason : `${reason} (${numberOf(byteLength, 'byte')})`;
        this.#report(name, { code, structure, offset, problem });
      },
    });
    await runAsync(this.#folder, batches.readAll(), this.#options.signal);
    return { name, tail: batches.tail, lastSequence: batches.lastSequence };
  }

  /** Runs `work` on a file that the folder lists, or reports that it cannot be opened. */
  async #listedFile(name: string, work: (file: FolderFile) => Promise<unknown>): Promise<void> {
    if (await this.#withFile(name, work)) return;
    this.#report(name, { code: 'BLOOM_MISSING_FILE', structure: 'file', offset: 0, problem: 'it is listed but cannot be opened' });
  }

  /** Runs `work` on a file. @returns whether the file exists. */
  #withFile(name: string, work: (file: FolderFile) => Promise<unknown>): Promise<boolean> {
    return this.#open(name, async (file) => {
      if (file !== undefined) await work(file);
      return file !== undefined;
    });
  }

  #open<T>(name: string, work: (file: FolderFile | undefined) => Promise<T>): Promise<T> {
    return withFile(this.#folder, name, work, this.#options.signal);
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
