/**
 * The reader or the database was closed, before or during the call. It is a `TypeError`, because calling a closed object is a mistake, and has
 * a code for programs that close objects which others still use.
 */
export class ClosedError extends TypeError {
  readonly code = 'BLOOM_CLOSED';
}

/** Whether a reader is open. Its calls, cursors and walks check it before they read. */
export class OpenState {
  readonly #kind: string;
  #isOpen = true;

  /** @param kind its name in error messages. */
  constructor(kind: string) {
    this.#kind = kind;
  }

  /** @throws ClosedError when the reader is closed. */
  mustBeOpen(): void {
    if (!this.#isOpen) throw new ClosedError(`the ${this.#kind} is closed`);
  }

  /** @returns whether it was open until now. */
  close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    return wasOpen;
  }
}
