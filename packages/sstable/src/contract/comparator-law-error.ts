/** A comparator breaks a law. The message gives the law, the keys and what the comparator did with them. */
export class ComparatorLawError extends Error {
  override readonly name = 'ComparatorLawError';
  /** The name of the law. */
  readonly law: string;
  /** Seed of the keys that were drawn. */
  readonly seed: number;

  constructor(law: string, seed: number, problem: string, options?: { readonly cause?: unknown }) {
    super(`${law}\n${problem}\nseed: ${seed}`, options);
    this.law = law;
    this.seed = seed;
  }
}
