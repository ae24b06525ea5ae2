/** A folder breaks a law. The message states the law and what the folder did. */
export class FolderLawError extends Error {
  override readonly name = 'FolderLawError';
  /** The name of the law. */
  readonly law: string;

  constructor(law: string, problem: string, options?: { readonly cause?: unknown }) {
    super(`${law}\n${problem}`, options);
    this.law = law;
  }
}
