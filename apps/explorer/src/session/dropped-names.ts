/** What was dropped, by names in the URL. Files of different databases often have the same name: each gets a name of its own. */
export class DroppedNames<Origin> {
  readonly #origins = new Map<string, { readonly origin: Origin; readonly identity: string }>();
  readonly #names = new WeakMap<object, string>();

  /**
   * @param content the file or list of files of the origin.
   * @param identity what a second origin of the same files has in common with the first one, whose place it takes.
   */
  add(origin: Origin, name: string, content: object, identity: string): void {
    let own = this.#names.get(content) ?? name;
    const isOther = (): boolean => (this.#origins.get(own)?.identity ?? identity) !== identity;
    if (!this.#names.has(content)) for (let number = 2; isOther(); number++) own = `${name} (${number})`;
    this.#names.set(content, own);
    this.#origins.set(own, { origin, identity });
  }

  /** Puts an origin in the place of another one, whose content is `before`. */
  replace(before: object, origin: Origin, name: string, content: object, identity: string): void {
    this.#names.set(content, this.#names.get(before) ?? name);
    this.add(origin, name, content, identity);
  }

  nameOf(content: object): string | undefined {
    return this.#names.get(content);
  }

  get(name: string | null): Origin | undefined {
    return name === null ? undefined : this.#origins.get(name)?.origin;
  }
}

/** The identity of files that may be dropped again, when the browser makes new objects for them. */
export function identityOf(files: readonly File[]): string {
  return files.map(({ name, size, lastModified }) => [name, size, lastModified].join('/')).sort().join('\n');
}
