import { Database, DatabaseError, type RepairReport, type WritableFolder } from '@bloom/leveldb';
import { DatabaseStore, type SequenceSnapshot } from '../database-store.js';
import { destroyFolder, repairFolder } from '../folder-calls.js';
import { levelErrorOf, notOpen, openingAgain } from '../level-error.js';
import type { HostFormats } from '../host-formats.js';
import { databaseOptionsOf } from '../database-options.js';
import type { OpenOptions } from '../level-options.js';
import { FirstState } from './first-state.js';

/** The options that a caller's worker gives to every database that it opens: those that pages cannot send. */
export type ServeOptions = Pick<OpenOptions, 'comparator' | 'filterPolicy' | 'filterPolicies' | 'codecs' | 'onEvent' | 'compression'>;

/** How much space must be free to open a database again. */
export const ROOM_BYTES = 16 * 2 ** 20;

/** A user of a shared database. */
export interface DatabaseUser {
  /** Called before the database is opened again. It is closed when the promise settles. */
  onReopening?(): Promise<void>;
  /** Forgets the walks and snapshots of a database that is closed. */
  letGo(): void;
}

/** The place of a shared database. */
export interface SharedPlace {
  /** For messages. */
  readonly path: string;
  /** The folder, for one opening. */
  folder(): WritableFolder;
  /** Called when the database has been opened. */
  opened?(): void;
  /** Whether a database that can no longer be written to may be opened again: a failed attempt would end reading too. */
  canReopen(): Promise<boolean>;
  /** Makes a call that closes and opens the database. Meanwhile, nobody else can lock the folder. */
  keepingLock?<T>(call: () => Promise<T>): Promise<T>;
}

/** The database of a path, opened once for all its users: with the options of the first. */
export class SharedDatabase {
  readonly #place: SharedPlace;
  readonly formats: HostFormats;
  readonly #options: ServeOptions;
  #store: DatabaseStore | undefined;
  /** The reason why it could not be opened the last time. */
  #failure: unknown;
  /** The state in which it was opened, for users of the previous worker. */
  #first: FirstState | undefined;
  #reopening: Promise<void> | undefined;
  /** Called when the last user has left, and the database is being closed. */
  onClose: (closing: Promise<void>) => void = () => undefined;
  /** Its users, from when they begin to join: they are notified when the database is closed. */
  readonly #users = new Set<DatabaseUser>();
  /** Openings and closings run one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(place: SharedPlace, formats: HostFormats, options: ServeOptions) {
    this.#place = place;
    this.formats = formats;
    this.#options = options;
  }

  /** The open database. @throws LevelError `LEVEL_DATABASE_NOT_OPEN`. */
  get store(): DatabaseStore {
    if (this.#store === undefined) throw this.#reopening === undefined ? notOpen(this.#failure) : openingAgain();
    return this.#store;
  }

  /** Whether it is open, or is being opened again. */
  get isOpen(): boolean {
    return this.#store !== undefined || this.#reopening !== undefined;
  }

  /** Set while the database is being opened again, as calls must wait. It settles in any case. */
  get reopening(): Promise<void> | undefined {
    return this.#reopening;
  }

  /** Opens the database, unless it is open; opens it again if it could no longer be written to, and there is space. */
  join(user: DatabaseUser, options: OpenOptions): Promise<void> {
    this.#users.add(user);
    const joining = this.#inTurn(async () => {
      if (this.#store?.hasWritingEnded === true && (await this.#canReopen())) await this.#openAgain(options);
      if (this.#store !== undefined && options.errorIfExists === true) {
        throw new DatabaseError('BLOOM_DATABASE_EXISTS', `the database of ${this.#place.path} exists, and errorIfExists is true`);
      }
      if (this.#store === undefined) await this.#open(options);
    });
    joining.catch(() => this.leave(user).catch(() => undefined));
    return joining;
  }

  /**
   * A snapshot of the state of a sequence that a user has in another worker, if that is the current state or the one in which the database was
   * opened.
   */
  snapshotAt(sequence: bigint): SequenceSnapshot | undefined {
    const current = this.store.snapshot();
    // With writes that wait, it has a higher sequence, or none yet.
    if (current.coming === undefined && current.sequence === sequence) return current;
    current.release();
    return this.#first?.snapshotAt(sequence);
  }

  /** Makes a user take the place of another. */
  replace(before: DatabaseUser, user: DatabaseUser): void {
    this.#users.delete(before);
    this.#users.add(user);
  }

  /** Ends the use by one page, and closes the database after the last. */
  leave(user: DatabaseUser): Promise<void> {
    return this.#inTurn(async () => {
      this.#users.delete(user);
      if (this.#users.size > 0) return;
      const closing = this.#takeStore()?.close();
      this.onClose(closing ?? Promise.resolve());
      await closing;
    });
  }

  async #canReopen(): Promise<boolean> {
    try {
      return await this.#place.canReopen();
    } catch {
      // The host cannot tell whether there is space.
      return false;
    }
  }

  async #openAgain(options: OpenOptions): Promise<void> {
    const open = async (): Promise<void> => {
      await this.#end();
      await this.#open({ ...options, errorIfExists: false });
    };
    const opening = this.#place.keepingLock?.(open) ?? open();
    this.#reopening = opening.then(
      () => (this.#reopening = undefined),
      () => (this.#reopening = undefined),
    );
    await opening;
  }

  async #open(options: OpenOptions): Promise<void> {
    this.#store = await this.#openStore(options);
    this.#first = new FirstState(this.#store.snapshot());
    this.#place.opened?.();
  }

  async #openStore(options: OpenOptions): Promise<DatabaseStore> {
    try {
      const folder = this.#place.folder();
      const database = await Database.open(folder, databaseOptionsOf({ ...options, ...this.#options }));
      // With a snapshot, `clear` would delete entry by entry. Users that still have an iterator or a snapshot of that state have not found this worker yet.
      const store = new DatabaseStore(database, this.formats, folder, { beforeClear: () => this.#first?.end() });
      this.#failure = undefined;
      return store;
    } catch (error) {
      this.#failure = levelErrorOf(error);
      throw error;
    }
  }

  /** Closes the database. Its users continue when it is open again. */
  async #end(): Promise<void> {
    const store = this.#takeStore();
    await Promise.all(Array.from(this.#users, async (user) => user.onReopening?.()));
    // Whoever made the writes that failed already knows.
    await store?.close().catch(() => undefined);
    for (const user of this.#users) user.letGo();
  }

  /** The previous store, which nothing else refers to. */
  #takeStore(): DatabaseStore | undefined {
    const store = this.#store;
    this.#store = undefined;
    this.#first?.end();
    return store;
  }

  destroy(): Promise<void> {
    return this.#inTurn(() => destroyFolder(this.#place.folder()));
  }

  repair(): Promise<RepairReport> {
    const { comparator, filterPolicy, codecs, compression } = this.#options;
    const options = { ...(comparator && { comparator }), ...(filterPolicy && { filterPolicy }), ...(codecs && { codecs }), ...(typeof compression === 'object' && { compression }) };
    return this.#inTurn(() => repairFolder(this.#place.folder(), options));
  }

  async #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(call);
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      throw levelErrorOf(error);
    }
  }
}
