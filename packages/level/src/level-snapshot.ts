import { AbstractSnapshot } from 'abstract-level';
import type { LevelStore, StoreSnapshot } from './level-store.js';

/** Its types do not say that it takes the options that `_snapshot` is given. */
const SnapshotWithOptions = AbstractSnapshot as new (options: unknown) => AbstractSnapshot;

/** The snapshot of `BloomLevel.snapshot`. */
export class LevelSnapshot extends SnapshotWithOptions {
  readonly #snapshot: StoreSnapshot;
  readonly #store: LevelStore;

  /** @param options of abstract-level. */
  constructor(store: LevelStore, snapshot: StoreSnapshot, options: unknown) {
    super(options);
    this.#snapshot = snapshot;
    this.#store = store;
  }

  /** The snapshot to read at. @throws TypeError when it is the snapshot of another store, where it means nothing. */
  snapshotOf(store: LevelStore): StoreSnapshot {
    if (store !== this.#store) throw new TypeError('snapshot must be one of this database');
    return this.#snapshot;
  }

  protected _close(): void {
    this.#snapshot.release();
  }
}
