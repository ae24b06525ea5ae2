/** Runs calls about the same name one after another, and calls about different names concurrently. */
export class NameTurns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Makes a call once all earlier ones about any of these names have ended. */
  async take<T>(names: readonly string[], call: () => Promise<T>): Promise<T> {
    const before = names.flatMap((name) => this.#last.get(name) ?? []);
    const turn = Promise.all(before).then(call);
    // Later calls wait for its end, whatever the outcome.
    const over = turn.catch(() => undefined);
    for (const name of names) this.#last.set(name, over);
    try {
      return await turn;
    } finally {
      for (const name of names) if (this.#last.get(name) === over) this.#last.delete(name);
    }
  }
}
