import { AbstractSnapshot } from 'abstract-level';
import { lost } from './level-error.js';
import type { LevelStore, StoreSnapshot } from './level-store.js';

/** Its types do not include the options that `_snapshot` receives. */
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
   * The snapshot to read at; undefined if the level was closed and opened again since it was taken. abstract-level then refuses every read at
   * it, but an iterator only when it is first read.
   *
   * @throws TypeError for the snapshot of another level, where it has no meaning; LevelError `LEVEL_SNAPSHOT_LOST`.
   */
  snapshotOf(level: object, store: LevelStore): StoreSnapshot | undefined {
    if (level !== this.#level) throw new TypeError('snapshot must be a snapshot of this database');
    if (this.#store.successor !== undefined) throw lost();
    return store === this.#store ? this.#snapshot : undefined;
  }

  protected _close(): void {
    this.#snapshot.release();
  }
}
