/**
 * The reader or the database was closed, before a call or while it was under way. It is a `TypeError`, as calls of what is closed are
 * mistakes, and has a code for those who close what others still use.
 */
export class ClosedError extends TypeError {
  readonly code = 'BLOOM_CLOSED';
}

/** Whether a reader is open: what its calls, cursors and walks ask before they read. */
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
