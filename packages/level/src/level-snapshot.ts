import type { DatabaseSnapshot } from '@bloom/leveldb';
import { AbstractSnapshot } from 'abstract-level';

/** Its types do not say that it takes the options that `_snapshot` is given. */
const SnapshotWithOptions = AbstractSnapshot as new (options: unknown) => AbstractSnapshot;

/** The snapshot of `BloomLevel.snapshot`. */
export class LevelSnapshot extends SnapshotWithOptions {
  readonly #snapshot: DatabaseSnapshot;
  /** The opened database that it is of. */
  readonly #database: object;

  /** @param options of abstract-level. */
  constructor(snapshot: DatabaseSnapshot, database: object, options: unknown) {
    super(options);
    this.#snapshot = snapshot;
    this.#database = database;
  }

  /** The sequence to read at. @throws TypeError when it is the snapshot of another database, whose sequences mean nothing here. */
  sequenceIn(database: object): bigint {
    if (database !== this.#database) throw new TypeError('snapshot must be one of this database');
    return this.#snapshot.sequence;
  }

  protected _close(): void {
    this.#snapshot.release();
  }
}
