import { AbstractSnapshot } from 'abstract-level';
import type { LevelStore, StoreSnapshot } from './level-store.js';

/** Its types do not say that it takes the options that `_snapshot` is given. */
const SnapshotWithOptions = AbstractSnapshot as new (options: unknown) => AbstractSnapshot;

/** The snapshot of `BloomLevel.snapshot`. */
export class LevelSnapshot extends SnapshotWithOptions {
  readonly #snapshot: StoreSnapshot;
  readonly #level: object;
  readonly #store: LevelStore;

  /** @param options of abstract-level. */
  constructor(level: object, store: LevelStore, snapshot: StoreSnapshot, options: unknown) {
    super(options);
    this.#snapshot = snapshot;
    this.#level = level;
    this.#store = store;
  }

  /**
   * The snapshot to read at; undefined where the level was closed since it was taken, and opened again: abstract-level then refuses every
   * read at it, but an iterator only once it is read from.
   *
   * @throws TypeError when it is the snapshot of another level, where it means nothing.
   */
  snapshotOf(level: object, store: LevelStore): StoreSnapshot | undefined {
    if (level !== this.#level) throw new TypeError('snapshot must be one of this database');
    return store === this.#store ? this.#snapshot : undefined;
  }

  protected _close(): void {
    this.#snapshot.release();
  }
}
