import { undefinedSlots } from '@bloom/bytes/internal';

/** In place of a slot: none. Slot 0 is the end of the list, in both directions. */
const NONE = 0;
/** Initial slots: a program may have hundreds of databases open, each with a cache. A power of two. */
const INITIAL_SLOTS = 8;

/**
 * Values by the ids of blocks, in the order of their last use.
 *
 * Each value has a slot, which is its index in these arrays. The slots are linked in the order of their use. They are also linked by hash
 * bucket, which the low bits of the id select. Typed arrays leave no garbage, unlike a `Map`, which is copied whenever many of its entries
 * have been deleted.
 */
export class RecentBlocks<T extends object> {
  #values = undefinedSlots<T>(INITIAL_SLOTS);
  #ids = new Float64Array(INITIAL_SLOTS);
  /** The slot used next after this one. */
  #newer = new Int32Array(INITIAL_SLOTS);
  /** The slot used last before this one. */
  #older = new Int32Array(INITIAL_SLOTS);
  /** The next slot of the same bucket, or the next free slot. */
  #next = new Int32Array(INITIAL_SLOTS);
  /** The first slot of each bucket. There are as many buckets as slots. */
  #buckets = new Int32Array(INITIAL_SLOTS);
  /** The first of the slots that were freed. */
  #freed = NONE;
  /** The slots from here on were never used. */
  #unused = 1;
  #size = 0;

  /** How many values there are. */
  get size(): number {
    return this.#size;
  }

  /** The value of `id`, which counts as used last from now on; undefined if there is none. */
  use(id: number): T | undefined {
    const slot = this.#slotOf(id);
    if (slot === NONE) return undefined;
    if (this.#newer[slot] !== NONE) {
      this.#unlink(slot);
      this.#linkNewest(slot);
    }
    return this.#values[slot];
  }

  /** Adds a value, which counts as used last. There must be none of `id`. */
  add(id: number, value: T): void {
    const slot = this.#takeSlot();
    const bucket = this.#bucketOf(id);
    this.#values[slot] = value;
    this.#ids[slot] = id;
    this.#next[slot] = this.#buckets[bucket]!;
    this.#buckets[bucket] = slot;
    this.#linkNewest(slot);
    this.#size++;
  }

  /** Removes the value of `id`. @returns it; undefined if there is none. */
  remove(id: number): T | undefined {
    const slot = this.#slotOf(id);
    return slot === NONE ? undefined : this.#removeSlot(slot);
  }

  /** Removes the value that was used least recently. @returns it; undefined if there are no values. */
  removeOldest(): T | undefined {
    const slot = this.#newer[NONE]!;
    return slot === NONE ? undefined : this.#removeSlot(slot);
  }

  /** The ids of all values, from the one used least recently. */
  ids(): number[] {
    const ids: number[] = [];
    for (let slot = this.#newer[NONE]!; slot !== NONE; slot = this.#newer[slot]!) ids.push(this.#ids[slot]!);
    return ids;
  }

  #bucketOf(id: number): number {
    // The ids of a table's blocks follow each other, so their low bits differ.
    return (id >>> 0) & (this.#buckets.length - 1);
  }

  #slotOf(id: number): number {
    let slot = this.#buckets[this.#bucketOf(id)]!;
    while (slot !== NONE && this.#ids[slot] !== id) slot = this.#next[slot]!;
    return slot;
  }

  #removeSlot(slot: number): T {
    const value = this.#values[slot]!;
    const bucket = this.#bucketOf(this.#ids[slot]!);
    const next = this.#next;
    let before = this.#buckets[bucket]!;
    if (before === slot) {
      this.#buckets[bucket] = next[slot]!;
    } else {
      while (next[before] !== slot) before = next[before]!;
      next[before] = next[slot]!;
    }
    this.#unlink(slot);
    this.#values[slot] = undefined;
    next[slot] = this.#freed;
    this.#freed = slot;
    this.#size--;
    return value;
  }

  #unlink(slot: number): void {
    const newer = this.#newer[slot]!;
    const older = this.#older[slot]!;
    this.#newer[older] = newer;
    this.#older[newer] = older;
  }

  #linkNewest(slot: number): void {
    const newest = this.#older[NONE]!;
    this.#newer[newest] = slot;
    this.#older[slot] = newest;
    this.#newer[slot] = NONE;
    this.#older[NONE] = slot;
  }

  #takeSlot(): number {
    const slot = this.#freed;
    if (slot !== NONE) {
      this.#freed = this.#next[slot]!;
      return slot;
    }
    if (this.#unused === this.#ids.length) this.#grow();
    return this.#unused++;
  }

  /** Doubles the slots, none of which is free. */
  #grow(): void {
    const { length } = this.#ids;
    const larger = length * 2;
    this.#values = [...this.#values, ...undefinedSlots<T>(length)];
    const ids = new Float64Array(larger);
    ids.set(this.#ids);
    this.#ids = ids;
    this.#newer = grown(this.#newer);
    this.#older = grown(this.#older);
    this.#next = new Int32Array(larger);
    this.#buckets = new Int32Array(larger);
    for (let slot = 1; slot < length; slot++) {
      const bucket = this.#bucketOf(ids[slot]!);
      this.#next[slot] = this.#buckets[bucket]!;
      this.#buckets[bucket] = slot;
    }
  }
}

function grown(numbers: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2);
  larger.set(numbers);
  return larger;
}
