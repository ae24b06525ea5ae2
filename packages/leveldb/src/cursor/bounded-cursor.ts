import { mustBeBytes } from '@bloom/bytes/internal';
import type { CursorBounds, Side } from '@bloom/sstable/internal';
import type { DamagePolicy } from '../folder/damage.js';
import type { FolderReading } from '../folder/folder-reading.js';
import type { KeyOrder } from '../format/version.js';
import type { MergeCursor } from './merge-cursor.js';
import type { ReadSampler } from './read-samples.js';
import { VisibleCursor } from './visible-cursor.js';

/** Moves over the visible entries between two keys: after a move beyond them, the cursor is on no entry. */
export class BoundedCursor extends VisibleCursor {
  private readonly bounds: CursorBounds;

  constructor(entries: MergeCursor, order: KeyOrder, sequence: bigint, damage: DamagePolicy, sampler: ReadSampler | undefined, bounds: CursorBounds) {
    super(entries, order, sequence, damage, sampler);
    this.bounds = bounds;
  }

  override seekToFirst(): boolean {
    const { first } = this.bounds;
    return first === undefined ? this.within(super.seekToFirst()) : this.seek(first.key, first.side);
  }

  override seekToLast(): boolean {
    const { last } = this.bounds;
    return last === undefined ? this.within(super.seekToLast()) : this.seek(last.key, last.side);
  }

  override seek(userKey: Uint8Array, side: Side): boolean {
    mustBeBytes('key', userKey);
    this.valid = false;
    const seek = this.bounds.seek(userKey, side);
    return this.within(super.seek(seek.key, seek.side));
  }

  override next(): boolean {
    return this.within(super.next());
  }

  override prev(): boolean {
    return this.within(super.prev());
  }

  override *settle(): FolderReading<void> {
    yield* super.settle();
    this.within(true);
  }

  /** Leaves an entry that is outside the bounds, once a move has ended. */
  private within(settled: boolean): boolean {
    if (settled && this.valid && !this.bounds.admits(this.keyBytes, this.keyStart, this.keyStart + this.keyLength)) this.valid = false;
    return settled;
  }
}
