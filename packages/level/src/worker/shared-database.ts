import { Database, DatabaseError, type RepairReport } from '@bloom/leveldb';
import { WritableOpfsFolder } from '@bloom/leveldb/opfs';
import { DatabaseStore, type SequenceSnapshot } from '../database-store.js';
import { destroyFolder, repairFolder } from '../folder-calls.js';
import { levelErrorOf, notOpen } from '../level-error.js';
import type { ByteFormats } from '../byte-formats.js';
import { databaseOptionsOf, type OpenOptions } from '../level-options.js';
import { browser } from './browser-parts.js';
import { FirstState } from './first-state.js';

/** What a worker of one's own gives to every database that it opens: what pages cannot send. */
export type ServeOptions = Pick<OpenOptions, 'comparator' | 'filterPolicy' | 'filterPolicies' | 'codecs' | 'onEvent' | 'compression'>;

/** Who uses a shared database. */
export interface DatabaseUser {
  /** Forgets the walks and snapshots of a database that is closed. */
  letGo(): void;
}

/** How much room there must be to open a database again: an attempt that fails would end reading too. */
const ROOM_BYTES = 16 * 2 ** 20;

/** Whether the origin may store more, as far as the browser says. */
async function hasRoom(): Promise<boolean> {
  const { quota = Infinity, usage = 0 } = (await browser.navigator.storage?.estimate?.()) ?? {};
  return quota - usage >= ROOM_BYTES;
}

/** The database of a path, open once for all pages that use it: with the options of the first. */
export class SharedDatabase {
  readonly #path: string;
  readonly #formats: ByteFormats;
  readonly #options: ServeOptions;
  #store: DatabaseStore | undefined;
  /** Why it could not be opened the last time. */
  #failure: unknown;
  /** The state in which it was opened, for users of the worker that had it open before. */
  #first: FirstState | undefined;
  /** Those who use it: what they hold is told when it ends. */
  readonly #users = new Set<DatabaseUser>();
  /** Openings and closings are made one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, formats: ByteFormats, options: ServeOptions) {
    this.#path = path;
    this.#formats = formats;
    this.#options = options;
  }

  /** What is open. @throws LevelError `LEVEL_DATABASE_NOT_OPEN`. */
  get store(): DatabaseStore {
    if (this.#store === undefined) throw notOpen(this.#failure);
    return this.#store;
  }

  /** Opens the database, unless it is open; opens it again if it could not be written any more, and there is room. */
  join(user: DatabaseUser, options: OpenOptions): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#store?.hasWritingEnded === true && (await hasRoom())) await this.#end();
      if (this.#store !== undefined && options.errorIfExists === true) {
        throw new DatabaseError('BLOOM_DATABASE_EXISTS', `${this.#path} has a database, and errorIfExists is true`);
      }
      if (this.#store === undefined) {
        this.#store = await this.#openStore(options);
        this.#first = new FirstState(this.#store.snapshot());
      }
      this.#users.add(user);
    });
  }

  /**
   * A snapshot of the state of a sequence, if that is the present state or the one in which the database was opened: it is the same then
   * as it was in the worker that had the database open before.
   */
  snapshotAt(sequence: bigint): SequenceSnapshot | undefined {
    return sequence === this.store.lastSequence ? this.store.snapshot() : this.#first?.snapshotAt(sequence);
  }

  /** Ends the use by one page, and closes the database after the last. */
  leave(user: DatabaseUser): Promise<void> {
    return this.#inTurn(async () => {
      this.#users.delete(user);
      if (this.#users.size === 0) await this.#takeStore()?.close();
    });
  }

  async #openStore(options: OpenOptions): Promise<DatabaseStore> {
    try {
      const store = new DatabaseStore(await Database.open(this.#folder, databaseOptionsOf({ ...options, ...this.#options })), this.#formats);
      this.#failure = undefined;
      return store;
    } catch (error) {
      this.#failure = levelErrorOf(error);
      throw error;
    }
  }

  /** Closes the database, which its users go on to use when it is open again. */
  async #end(): Promise<void> {
    // What it could not write is known to those who wrote it.
    await this.#takeStore()?.close().catch(() => undefined);
    for (const user of this.#users) user.letGo();
  }

  /** What was open, of which nobody else knows any more. */
  #takeStore(): DatabaseStore | undefined {
    const store = this.#store;
    this.#store = undefined;
    this.#first?.end();
    return store;
  }

  destroy(): Promise<void> {
    return this.#inTurn(() => destroyFolder(this.#folder));
  }

  repair(): Promise<RepairReport> {
    const { comparator, filterPolicy, codecs, compression } = this.#options;
    const options = { ...(comparator && { comparator }), ...(filterPolicy && { filterPolicy }), ...(codecs && { codecs }), ...(typeof compression === 'object' && { compression }) };
    return this.#inTurn(() => repairFolder(this.#folder, options));
  }

  get #folder(): WritableOpfsFolder {
    return new WritableOpfsFolder(this.#path);
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
