import { bloomHash } from '@bloom/hash';

/** A set of keys. It keeps the keys themselves, which must not change. */
export class KeySet {
  readonly #keys = new Map<number, Uint8Array[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @returns whether the key is new. */
  add(key: Uint8Array): boolean {
    const hash = bloomHash(key);
    const alike = this.#keys.get(hash);
    if (alike?.some((other) => other.length === key.length && other.every((byte, i) => byte === key[i])) === true) return false;
    if (alike === undefined) this.#keys.set(hash, [key]);
    else alike.push(key);
    this.#size++;
    return true;
  }

  *[Symbol.iterator](): Generator<Uint8Array, void, undefined> {
    for (const alike of this.#keys.values()) yield* alike;
  }
}
