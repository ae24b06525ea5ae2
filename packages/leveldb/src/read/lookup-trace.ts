import { type Bytes, CorruptionError } from '@bloom/bytes';
import { decodeInternalKey, INTERNAL_KEY_TRAILER_LENGTH, VALUE } from '@bloom/sstable/database';
import { BlockSearch, lookupFailureOf, TableTrace } from '@bloom/sstable/internal';
import { beforeVersions } from '../format/database-key.js';
import { tableFileName } from '../format/file-name.js';
import type { FileMetadata } from '../format/version-edit.js';
import type { ViewLog } from '../memtable/log-memtable.js';
import type { TableHandle } from '../table/table-handle.js';
import type { AskedMemtable, AskedTable, FoundVersion, LookupExplanation, LookupOutcome, LookupStep, PassedLevel, PassedTable } from './lookup-explanation.js';
import type { View } from './view.js';

const NOTHING: FoundVersion = { kind: 'nothing' };

/**
 * Records the steps of a {@link ViewLookup}, which calls it at each one. A lookup without a trace compares with undefined once per step.
 *
 * A trace does not make the lookup do more, with one exception: if the view is older than the last write, a source without a result is also
 * searched for newer versions.
 */
export class LookupTrace {
  readonly #view: View;
  readonly #key: Bytes;
  readonly #sequence: bigint;
  readonly #steps: LookupStep[] = [];
  /** The numbers of memtables, tables of level 0, and levels in `#steps`. */
  #memtables = 0;
  #newest = 0;
  #levels = 1;
  /** Ends the step of the source that is being searched, with what it has. */
  #end: ((found: FoundVersion) => void) | undefined;
  #found: FoundVersion = NOTHING;
  #table: TableTrace | undefined;

  /** @param key a copy, which does not change. @param sequence the one at which `view` is read. */
  constructor(view: View, key: Bytes, sequence: bigint) {
    this.#view = view;
    this.#key = key;
    this.#sequence = sequence;
  }

  /** Records the search of the current table. */
  get table(): TableTrace | undefined {
    return this.#table;
  }

  /** The lookup reaches a memtable. It searches those that have entries. */
  memtable(log: ViewLog): void {
    this.#endStep();
    this.#memtables++;
    const source = this.#memtableOf(log);
    if (source.entries === 0) {
      this.#steps.push({ ...source, asked: false, reason: 'empty' });
      return;
    }
    const end = (found: FoundVersion): void => void this.#steps.push({ ...source, asked: true, found: found === NOTHING ? this.#newerIn(log) : found });
    this.#end = end;
  }

  /** A table of level 0 is out of range. */
  passTable(file: FileMetadata): void {
    this.#endStep();
    this.#newest++;
    this.#steps.push(passedTable(file, 'out-of-range'));
  }

  /** No table of a deeper level can have a version that counts. */
  passLevel(level: number): void {
    this.#endStep();
    this.#levels++;
    const newest = this.#mayBeNewer ? this.#view.version.fileFor(level, beforeVersions(this.#key)) : undefined;
    this.#passLevel(level, newest === undefined ? 'out-of-range' : 'newer');
  }

  askTable(file: FileMetadata, level: number, wasOpen: boolean): void {
    this.#endStep();
    if (level === 0) this.#newest++;
    else this.#levels++;
    const table = (this.#table = new TableTrace());
    const otherTables = level === 0 ? 0 : this.#view.version.levels[level]!.length - 1;
    const end = (found: FoundVersion): void => void this.#steps.push({ ...tableSource(file, level), asked: true, otherTables, wasOpen, search: table.search, found });
    this.#end = end;
  }

  /** A block of the table was searched. @param outcome of `BytewiseSearch`. */
  searched(handle: TableHandle, contents: Uint8Array, searcher: BlockSearch, outcome: number): void {
    this.#table!.searched(contents, searcher, outcome);
    this.#found = this.#newerInBlock(handle, contents);
  }

  /** The source has the version that counts, whose internal key ends at `keyEnd`. */
  take(type: number, keyBytes: Uint8Array, keyEnd: number, byteLength: number): void {
    const sequence = sequenceAt(keyBytes, keyEnd);
    this.#found = type === VALUE ? { kind: 'value', sequence, byteLength } : { kind: 'deletion', sequence };
  }

  /** Explains a lookup that has ended. @param value its result. */
  explain(value: Bytes | undefined): LookupExplanation {
    this.#endStep();
    const last = this.#steps.at(-1);
    let outcome: LookupOutcome = { kind: 'absent' };
    if (last?.asked) {
      const { found, file } = last;
      if (found.kind === 'value') outcome = { kind: 'value', value: value!, sequence: found.sequence, file };
      else if (found.kind === 'deletion') outcome = { kind: 'deletion', sequence: found.sequence, file };
    }
    return this.#explanation(outcome);
  }

  /** Explains a lookup that has failed. @throws the error if it is not about the bytes of the folder. */
  explainFailure(thrown: unknown): LookupExplanation {
    const error = lookupFailureOf(thrown);
    this.#found = { kind: 'failed', error };
    this.#endStep();
    return this.#explanation({ kind: 'failed', error });
  }

  #explanation(outcome: LookupOutcome): LookupExplanation {
    this.#passRest();
    return { key: this.#key, sequence: String(this.#sequence), steps: this.#steps, outcome };
  }

  #endStep(): void {
    this.#end?.(this.#found);
    this.#end = undefined;
    this.#found = NOTHING;
  }

  /** The sources that the lookup did not reach. */
  #passRest(): void {
    const { newestLogs, version } = this.#view;
    for (const log of newestLogs.slice(this.#memtables)) this.#steps.push({ ...this.#memtableOf(log), asked: false, reason: 'not-reached' });
    for (const file of version.newestFirst.slice(this.#newest)) this.#steps.push(passedTable(file, 'not-reached'));
    for (let level = this.#levels; level < version.levels.length; level++) this.#passLevel(level, 'not-reached');
  }

  #passLevel(level: number, reason: PassedLevel['reason']): void {
    const tables = this.#view.version.levels[level]!.length;
    if (tables > 0) this.#steps.push({ source: 'level', level, tables, asked: false, reason });
  }

  #memtableOf(log: ViewLog): Omit<AskedMemtable, 'asked' | 'found'> {
    return { source: 'memtable', file: log.name, isImmutable: log !== this.#view.newestLogs[0], entries: log.memtable.count };
  }

  /** Whether there may be versions that the lookup must not see. */
  get #mayBeNewer(): boolean {
    return this.#sequence < this.#view.lastSequence;
  }

  /** What a memtable has for a key of which it has no visible version. */
  #newerIn({ memtable }: ViewLog): FoundVersion {
    const node = this.#mayBeNewer ? memtable.seek(beforeVersions(this.#key)) : 0;
    if (node === 0) return NOTHING;
    const start = memtable.keyStart(node);
    return this.#newerAt(memtable.arena, start, start + memtable.keyLength(node));
  }

  /** The same of a data block. */
  #newerInBlock({ table }: TableHandle, contents: Uint8Array): FoundVersion {
    if (!this.#mayBeNewer) return NOTHING;
    const block = new BlockSearch(table.compare, 'data block', table.file);
    try {
      block.reset(contents, 0);
      return block.seek(beforeVersions(this.#key)) ? this.#newerAt(block.keyBytes, 0, block.keyLength) : NOTHING;
    } catch (error) {
      // The lookup did not get past the damage.
      if (!(error instanceof CorruptionError)) throw error;
      return NOTHING;
    }
  }

  /** Describes the first entry at or after all versions of the key. */
  #newerAt(bytes: Uint8Array, start: number, end: number): FoundVersion {
    const userKeyEnd = end - INTERNAL_KEY_TRAILER_LENGTH;
    if (userKeyEnd < start || this.#view.order.compareUserKeys(bytes, start, userKeyEnd, this.#key, 0, this.#key.length) !== 0) return NOTHING;
    return { kind: 'newer', sequence: sequenceAt(bytes, end) };
  }
}

function passedTable(file: FileMetadata, reason: PassedTable['reason']): PassedTable {
  return { ...tableSource(file, 0), asked: false, reason };
}

function tableSource({ number, smallest, largest }: FileMetadata, level: number): Pick<AskedTable, 'source' | 'level' | 'number' | 'file' | 'smallest' | 'largest'> {
  return { source: 'table', level, number: String(number), file: tableFileName(number), smallest: userKeyOf(smallest), largest: userKeyOf(largest) };
}

function userKeyOf(internalKey: Uint8Array): Bytes {
  return new Uint8Array(decodeInternalKey(internalKey)!.userKey);
}

/** The sequence of the internal key that ends at `end`. */
function sequenceAt(bytes: Uint8Array, end: number): string {
  return String(decodeInternalKey(bytes.slice(end - INTERNAL_KEY_TRAILER_LENGTH, end))!.sequence);
}
