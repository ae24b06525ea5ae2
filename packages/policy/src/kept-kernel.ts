/** Compiling a large kernel takes as long as filtering this many keys. */
const WORTH_KEYS = 4096;

/** The kernel of a policy, which is compiled once the policy has seen enough keys to repay that. */
export class KeptKernel<Kernel> {
  readonly #create: () => Kernel | undefined;
  readonly #minKeys: number;
  /** How many keys are left until the kernel is compiled. */
  #keysLeft: number;
  #kernel: Kernel | undefined;

  /**
   * @param create gives no kernel where the host allows none.
   * @param minKeys with fewer keys at a time, the plain loops finish before the keys could be copied to the kernel.
   * @param worthKeys the number of keys, in lists of at least `minKeys`, with which the kernel is compiled. Default: 4,096.
   */
  constructor(create: () => Kernel | undefined, minKeys: number, worthKeys = WORTH_KEYS) {
    this.#create = create;
    this.#minKeys = minKeys;
    this.#keysLeft = worthKeys;
  }

  /** The kernel for this many keys at a time; undefined where the plain loops should do the work. */
  for(keys: number): Kernel | undefined {
    if (keys < this.#minKeys) return undefined;
    if (this.#keysLeft > 0 && (this.#keysLeft -= keys) <= 0) this.#kernel = this.#create();
    return this.#kernel;
  }
}
