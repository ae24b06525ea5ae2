/** Which keys to check a comparator with. */
export interface ComparatorLawsOptions {
  /**
   * Keys of yours, which are compared with each other and with neighbours that the laws make of them. Needed for what the laws
   * cannot guess: keys in a format of your own and, for a comparator with a `keyEquivalence`, some keys that are equal. Default: none.
   */
  readonly keys?: readonly Uint8Array[] | undefined;
  /**
   * Whether the comparator has to order a key that the laws made: for one that is used only for keys of some form, such as numbers of
   * eight bytes. Keys that it leaves out are not compared. Default: all keys.
   */
  readonly isKey?: ((key: Uint8Array) => boolean) | undefined;
  /** Seed of the keys that are drawn. Default: 1. */
  readonly seed?: number | undefined;
}

/** The names of the options. */
export const COMPARATOR_LAWS_OPTIONS: Record<keyof ComparatorLawsOptions, true> = { keys: true, isKey: true, seed: true };
