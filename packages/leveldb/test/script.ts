import { fromToken } from '@bloom/fixtures';
import { Database, type DatabaseOptions, type DatabaseSnapshot, type WritableFolder, WriteBatch } from '@bloom/leveldb';

/**
 * Runs operations on the database of a folder, as `Script` of tooling/native/src/leveldb-database.cc does. After each, waits
 * until there is no background work.
 */
export class Script {
  /** The result of each `property` operation with a known name. */
  readonly properties: string[] = [];
  readonly #folder: WritableFolder;
  readonly #options: DatabaseOptions;
  readonly #snapshots = new Map<string, DatabaseSnapshot>();
  #database: Database | undefined;
  #batch: WriteBatch | undefined;

  constructor(folder: WritableFolder, options: DatabaseOptions) {
    this.#folder = folder;
    this.#options = options;
  }

  get database(): Database {
    return this.#database!;
  }

  async run(operation: string, ...tokens: readonly string[]): Promise<void> {
    switch (operation) {
      case 'open':
        this.#database = await Database.open(this.#folder, { ...this.#options, reuseLogs: tokens[0] === 'reuse' });
        break;
      case 'close':
        for (const snapshot of this.#snapshots.values()) snapshot.release();
        this.#snapshots.clear();
        await this.database.close();
        return;
      case 'snapshot':
        this.#snapshots.set(tokens[0]!, this.database.snapshot());
        break;
      case 'scan':
      case 'scan-back':
        for await (const _ of this.database.keys({ reverse: operation === 'scan-back' }));
        break;
      case 'property': {
        const value = this.database.property(tokens[0]!);
        if (value !== undefined) this.properties.push(value);
        break;
      }
      case 'release':
        this.#snapshots.get(tokens[0]!)!.release();
        this.#snapshots.delete(tokens[0]!);
        break;
      default:
        await this.#runOnKeys(operation, tokens.map(fromToken));
    }
    await this.database.idle();
  }

  async #runOnKeys(operation: string, [key, value]: readonly Uint8Array[]): Promise<void> {
    const { database } = this;
    switch (operation) {
      case 'batch':
        this.#batch = new WriteBatch();
        return;
      case 'end':
        await database.write(this.#batch!);
        this.#batch = undefined;
        return;
      case 'put':
        if (this.#batch === undefined) await database.put(key!, value!);
        else this.#batch.put(key!, value!);
        return;
      case 'del':
        if (this.#batch === undefined) await database.delete(key!);
        else this.#batch.delete(key!);
        return;
      case 'get':
        // All kinds of lookup charge the same tables for seeks.
        if (key!.length % 3 === 0) await database.get(key!);
        else if (key!.length % 3 === 1) await database.getMany([key!]);
        else database.getSync(key!);
        return;
      case 'flush':
        return database.flush();
      case 'compact':
        return database.compactRange(key, value);
      default:
        throw new Error(`unknown operation ${operation}`);
    }
  }
}
