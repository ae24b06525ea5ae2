/** File names made from texts that a page chose. */

/** In bytes of UTF-8. File systems allow 255 for a name with its extension. */
const MAX_NAME_BYTES = 120;

// Separators, characters that Windows refuses, control characters, marks that change the direction of text, and halves of surrogate pairs.
const UNSAFE = /[/\\:*?"<>|]|\p{Cc}|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/gu;
const RESERVED = /^(?:con|prn|aux|nul|com[\d\u00b9\u00b2\u00b3]|lpt[\d\u00b9\u00b2\u00b3]|conin\$|conout\$)(?:\.|$)/iu;

/** A name that every file system accepts, and that cannot lead to another folder. */
export function safeName(text: string): string {
  let name = '';
  let bytes = 0;
  for (const character of text.replaceAll(UNSAFE, '_')) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_NAME_BYTES) break;
    name += character;
  }
  // Windows drops dots and spaces at the end. A name that begins with a dot would be hidden.
  name = name.replace(/[. ]+$/u, '').replace(/^[. ]/u, '_');
  return name === '' || RESERVED.test(name) ? `_${name}` : name;
}

/** Gives each text a name that is unique in its folder, even if the file system ignores case. */
export class DistinctNames {
  readonly #taken: Set<string>;
  /** The last number given for each name: a page can choose many names that become the same. */
  readonly #numbers = new Map<string, number>();

  /** @param taken names that are already used, in lower case. */
  constructor(taken: readonly string[] = []) {
    this.#taken = new Set(taken);
  }

  /** @param ending the extension, such as `.jsonl`. */
  nameFor(text: string, ending = ''): string {
    const name = safeName(text);
    const numbered = comparedName(`${name}${ending}`);
    for (let i = (this.#numbers.get(numbered) ?? 0) + 1; ; i++) {
      const distinct = `${name}${i === 1 ? '' : ` (${i})`}${ending}`;
      const compared = comparedName(distinct);
      if (this.#taken.has(compared)) continue;
      this.#taken.add(compared);
      this.#numbers.set(numbered, i);
      return distinct;
    }
  }
}

function comparedName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}
