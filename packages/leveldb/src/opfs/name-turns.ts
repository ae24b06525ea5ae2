/** Lets calls about one name happen one after another, and calls about different names side by side. */
export class NameTurns {
  readonly #last = new Map<string, Promise<void>>();

  /** Makes a call when all earlier ones about any of these names are over. */
  async take<T>(names: readonly string[], call: () => Promise<T>): Promise<T> {
    const before = names.flatMap((name) => this.#last.get(name) ?? []);
    const turn = Promise.all(before).then(call);
    // Whoever waits for its end does not care how it ended.
    const over = turn.then(
      () => undefined,
      () => undefined,
    );
    for (const name of names) this.#last.set(name, over);
    try {
      return await turn;
    } finally {
      for (const name of names) if (this.#last.get(name) === over) this.#last.delete(name);
    }
  }
}
