import type { FileMetadata } from '../format/version-edit.js';

/** One seek costs about as much as compacting this many bytes. */
const BYTES_PER_SEEK = 16_384;
const MIN_SEEKS = 100;

/**
 * Counts the lookups that read a table and did not find their key there. When compacting the table would have been cheaper, its compaction is
 * due.
 *
 * Source: LevelDB, db/version_set.cc, `Version::UpdateStats`.
 */
export class SeekBudget {
  readonly #left = new WeakMap<FileMetadata, number>();

  /** Counts a lookup. @returns whether the table is due. */
  charge(file: FileMetadata): boolean {
    const left = (this.#left.get(file) ?? Math.max(MIN_SEEKS, Math.floor(file.size / BYTES_PER_SEEK))) - 1;
    this.#left.set(file, left);
    return left <= 0;
  }
}
