import { CorruptionError } from '@bloom/bytes';
import { ComparatorError } from '@bloom/sstable';
import { DatabaseError } from '../folder/database-error.js';
import { Memtable } from '../memtable/memtable.js';
import { Version } from '../format/version.js';
import { WriteBatchReader } from '../format/write-batch.js';
import { ClosedError } from '../read/open-state.js';
import type { View } from '../read/view.js';
import { Pacer } from '../folder/pacer.js';
import { isProcessEnding } from '../folder/process-end.js';
import { ENTRIES_PER_LOOK } from '../table/table-file.js';
import type { EventSink } from './database-event.js';
import type { LiveFiles } from './live-files.js';
import type { LiveLog } from './live-log.js';
import { HeldSequences } from './snapshot.js';
import type { VersionSet } from './version-set.js';

/**
 * The current state of a database that is being written: its version, the logs with their memtables, the view of readers, and the reason why
 * nothing more is written, if there is one. Writes and the background work share it.
 */
export class DatabaseState {
  readonly versions: VersionSet;
  readonly files: LiveFiles;
  /** The sequences whose state is protected from compaction. */
  readonly held = new HeldSequences();
  /** Called when `view` is replaced. */
  onView: (view: View) => void = () => undefined;
  #view: View;
  #log: LiveLog;
  #flushing: LiveLog | undefined;
  /** The memtable that became a table last. */
  #flushed: Memtable | undefined;
  /** The insertion of the last record, if it took more than a time slice. */
  inserting: Promise<void> | undefined;
  isClosing = false;
  #failure: DatabaseError | undefined;
  readonly #onEvent: EventSink;

  constructor(versions: VersionSet, files: LiveFiles, log: LiveLog, onEvent: EventSink) {
    this.#onEvent = onEvent;
    this.versions = versions;
    this.files = files;
    this.#log = log;
    this.#view = this.#newView();
  }

  /** The current view, on which the state holds a pin. */
  get view(): View {
    return this.#view;
  }

  /** The log that is being written, and its memtable. */
  get log(): LiveLog {
    return this.#log;
  }

  /** The previous log, until its memtable has become a table. */
  get flushing(): LiveLog | undefined {
    return this.#flushing;
  }

  /** The size of the memtables, as LevelDB counts it. */
  get memoryUsage(): number {
    return this.#log.memtable.memoryUsage + (this.#flushing?.memtable.memoryUsage ?? 0);
  }

  /** Makes `log` the one that is written; the memtable of the one before is to become a table. */
  replaceLog(log: LiveLog): void {
    this.#flushing = this.#log;
    this.#log = log;
    this.show();
  }

  /** An empty memtable to follow the full one: in the memory of the one before, unless somebody may still refer to that. */
  nextMemtable(): Memtable {
    const { compareInternalKeys } = this.versions.order;
    const flushed = this.#flushed;
    this.#flushed = undefined;
    if (flushed === undefined || flushed.isLent || this.files.shows(flushed)) return Memtable.following(this.#log.memtable, compareInternalKeys);
    return Memtable.reusing(flushed, compareInternalKeys);
  }

  /** Releases the previous log, whose entries are in a table of the current version. */
  endFlush(): void {
    this.#flushed = this.#flushing?.memtable;
    this.#flushing = undefined;
    this.show();
  }

  /**
   * Makes an empty log the only one.
   *
   * @returns a function that makes everything else visible again.
   */
  empty(log: LiveLog): () => void {
    const before = this.#log;
    const flushing = this.#flushing;
    this.#log = log;
    this.#flushing = undefined;
    this.#replaceView(this.files.viewOf(this.versions, [log], Version.empty(this.versions.order)));
    return () => {
      this.#log = before;
      this.#flushing = flushing;
      this.show();
    };
  }

  /** Makes readers see the current version and memtables. */
  show(): void {
    this.#replaceView(this.#newView());
  }

  /**
   * Adds the operations of a record to the memtable. Readers see them only when all of them are inserted.
   *
   * @param sequence of the first operation.
   */
  insert(record: Uint8Array, sequence: bigint): Promise<void> | undefined {
    const reader = new WriteBatchReader(record);
    return (this.inserting = this.#insertRest(reader, sequence, reader.count < ENTRIES_PER_LOOK ? undefined : new Pacer(ENTRIES_PER_LOOK)));
  }

  /** Inserts for one time slice, and then schedules the rest. */
  #insertRest(reader: WriteBatchReader, sequence: bigint, pacer: Pacer | undefined): Promise<void> | undefined {
    const { memtable } = this.#log;
    try {
      for (; reader.next(); sequence++) {
        memtable.add(sequence, reader.type, reader.bytes, reader.keyStart, reader.keyEnd, reader.valueStart, reader.valueEnd);
        if (pacer?.isDue() === true && !isProcessEnding()) return pacer.pause().then(() => this.#insertRest(reader, sequence + 1n, pacer));
      }
    } catch (error) {
      // A comparator that throws: the log has the record already, and the memtable may have part of it.
      throw this.fail(error, 'an entry that is in the log could not be put into the memtable');
    }
    this.versions.lastSequence = this.#view.lastSequence = sequence - 1n;
    return undefined;
  }

  /** Skips sequences, so that no operation gets them. */
  skip(count: bigint): void {
    this.versions.lastSequence = this.#view.lastSequence = this.versions.lastSequence + count;
  }

  /** Why nothing more is written; undefined otherwise. */
  get failure(): DatabaseError | undefined {
    return this.#failure;
  }

  /** Ends writing, because the files on disk may differ from the state in memory. @returns the error to throw, that of the first failure. */
  fail(cause: unknown, what = endOf(cause)): DatabaseError {
    if (this.#failure === undefined) {
      this.#failure = new DatabaseError('BLOOM_WRITING_ENDED', `nothing more is written: ${what}: ${String(cause)}`, { cause });
      this.#onEvent?.({ kind: 'writing-ended', message: this.#failure.message });
    }
    return this.#failure;
  }

  /** @throws DatabaseError when writing has ended. */
  mustWrite(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.isClosing) throw new ClosedError('the database is closed');
  }

  #replaceView(view: View): void {
    const before = this.#view;
    this.#view = view;
    this.onView(view);
    before.unpin();
  }

  #newView(): View {
    return this.files.viewOf(this.versions, this.#flushing === undefined ? [this.#log] : [this.#flushing, this.#log]);
  }
}

function endOf(cause: unknown): string {
  if (cause instanceof ComparatorError) return 'the comparator cannot order two keys';
  if (cause instanceof DatabaseError) return 'a MANIFEST would be too large';
  if (cause instanceof CorruptionError && cause.code === 'BLOOM_BAD_VERSION') return 'the set of tables would not be valid';
  return cause instanceof CorruptionError ? 'a table being merged is damaged' : 'the folder could not store a write';
}
