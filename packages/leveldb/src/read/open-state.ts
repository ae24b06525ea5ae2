/** Whether a reader is open: what its calls, cursors and walks ask before they read. */
export class OpenState {
  readonly #kind: string;
  #isOpen = true;

  /** @param kind its name in error messages. */
  constructor(kind: string) {
    this.#kind = kind;
  }

  /** @throws TypeError when the reader is closed. */
  mustBeOpen(): void {
    if (!this.#isOpen) throw new TypeError(`the ${this.#kind} is closed`);
  }

  /** @returns whether it was open until now. */
  close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    return wasOpen;
  }
}
