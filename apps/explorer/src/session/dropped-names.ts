/** What was dropped, by names in the URL. Files of different databases often have the same name: each gets a name of its own. */
export class DroppedNames<Origin> {
  readonly #origins = new Map<string, Origin>();
  readonly #names = new WeakMap<object, string>();

  /** @param content what identifies the origin, such as its file. An origin with the same content takes the other's place. */
  add(origin: Origin, name: string, content: object): void {
    let own = this.#names.get(content) ?? name;
    if (!this.#names.has(content)) for (let number = 2; this.#origins.has(own); number++) own = `${name} (${number})`;
    this.#names.set(content, own);
    this.#origins.set(own, origin);
  }

  /** Puts an origin in the place of another one, whose content is `before`. */
  replace(before: object, origin: Origin, name: string, content: object): void {
    this.#names.set(content, this.#names.get(before) ?? name);
    this.add(origin, name, content);
  }

  nameOf(content: object): string | undefined {
    return this.#names.get(content);
  }

  get(name: string | null): Origin | undefined {
    return name === null ? undefined : this.#origins.get(name);
  }
}
