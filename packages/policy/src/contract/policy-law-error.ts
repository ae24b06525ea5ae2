/** A policy breaks a law. The message gives the law, the smallest example that was found, and the seed. */
export class PolicyLawError extends Error {
  override readonly name = 'PolicyLawError';
  /** The name of the law. */
  readonly law: string;
  readonly seed: number;

  constructor(law: string, seed: number, problem: string, options?: { readonly cause?: unknown }) {
    super(`${law}\n${problem}\nseed: ${seed}`, options);
    this.law = law;
    this.seed = seed;
  }
}
