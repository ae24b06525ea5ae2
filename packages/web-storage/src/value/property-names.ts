/** Property names of up to this length are kept, because records of a store usually have the same ones. */
export const MAX_KEPT_NAME = 32;
const KEPT_NAMES = 1024;

/** Property names by their bytes. Making a string and finding the engine's own copy takes most of the time of decoding an object. */
export class PropertyNames {
  readonly #names: (string | undefined)[] = new Array<string | undefined>(KEPT_NAMES);

  /** The name in `length` bytes of Latin-1. */
  nameOf(bytes: Uint8Array, start: number, length: number): string {
    let hash = length;
    for (let i = start; i < start + length; i++) hash = (Math.imul(hash, 31) + bytes[i]!) | 0;
    const slot = (hash ^ (hash >>> 10) ^ (hash >>> 20)) & (KEPT_NAMES - 1);
    const kept = this.#names[slot];
    if (kept?.length === length && isName(kept, bytes, start)) return kept;
    let name = '';
    for (let i = start; i < start + length; i++) name += String.fromCharCode(bytes[i]!);
    this.#names[slot] = name;
    return name;
  }
}

function isName(name: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < name.length; i++) if (name.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
