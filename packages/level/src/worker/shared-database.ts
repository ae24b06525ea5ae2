import { Database, DatabaseError, type RepairReport } from '@bloom/leveldb';
import { WritableOpfsFolder } from '@bloom/leveldb/opfs';
import { DatabaseStore } from '../database-store.js';
import { destroyFolder, repairFolder } from '../folder-calls.js';
import { levelErrorOf } from '../level-error.js';
import type { ByteFormats } from '../byte-formats.js';
import { databaseOptionsOf, type OpenOptions } from '../level-options.js';
import type { LevelStore } from '../level-store.js';

/** What a worker of one's own gives to every database that it opens: what pages cannot send. */
export type ServeOptions = Pick<OpenOptions, 'comparator' | 'filterPolicy' | 'filterPolicies' | 'codecs' | 'onEvent' | 'compression'>;

/** The database of a path, open once for all pages that use it: with the options of the first. */
export class SharedDatabase {
  readonly #path: string;
  readonly #formats: ByteFormats;
  readonly #options: ServeOptions;
  #store: LevelStore | undefined;
  #users = 0;
  /** Openings and closings are made one after another. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string, formats: ByteFormats, options: ServeOptions) {
    this.#path = path;
    this.#formats = formats;
    this.#options = options;
  }

  /** Opens the database, unless it is open. */
  join(options: OpenOptions): Promise<LevelStore> {
    return this.#inTurn(async () => {
      if (this.#store !== undefined && options.errorIfExists === true) {
        throw new DatabaseError('BLOOM_DATABASE_EXISTS', `${this.#path} has a database, and errorIfExists is true`);
      }
      this.#store ??= new DatabaseStore(await Database.open(this.#folder, databaseOptionsOf({ ...options, ...this.#options })), this.#formats);
      this.#users++;
      return this.#store;
    });
  }

  /** Ends the use by one page, and closes the database after the last. */
  leave(): Promise<void> {
    return this.#inTurn(async () => {
      if (--this.#users > 0) return;
      const store = this.#store;
      this.#store = undefined;
      await store?.close();
    });
  }

  destroy(): Promise<void> {
    return this.#inTurn(() => destroyFolder(this.#folder));
  }

  repair(): Promise<RepairReport> {
    const { comparator, filterPolicy, codecs } = this.#options;
    return this.#inTurn(() => repairFolder(this.#folder, { ...(comparator && { comparator }), ...(filterPolicy && { filterPolicy }), ...(codecs && { codecs }) }));
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
