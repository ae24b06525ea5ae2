import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import wordListPath from 'word-list';

const SEED = 0x626c6f6d;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Who made the word list, and on what terms it is given. */
export interface Origin {
  readonly name: string;
  readonly version: string;
  readonly licence: string;
  readonly author: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly author: { readonly name: string };
}

/** All words of the list, in the order of their bytes. */
export async function readWords(): Promise<{ words: readonly string[]; origin: Origin }> {
  const list = await readFile(wordListPath, 'utf8');
  const words = [...new Set(list.split('\n').filter((word) => word !== ''))].sort();
  const manifest = JSON.parse(await readFile(join(dirname(wordListPath), 'package.json'), 'utf8')) as Manifest;
  const { name, version, license: licence, author } = manifest;
  return { words, origin: { name, version, licence, author: author.name } };
}

/** `length` of `words`, drawn at random, the same ones in every run. */
export function presentWords(words: readonly string[], length: number): string[] {
  const random = splitmix32(SEED);
  return Array.from({ length }, () => words[random() % words.length]!);
}

/** `length` different words that are none: words with another letter at one place. */
export function misspell(words: readonly string[], length: number): string[] {
  const random = splitmix32(SEED + 1);
  const known = new Set(words);
  const misspelt = new Set<string>();
  while (misspelt.size < length) {
    const word = words[random() % words.length]!;
    const i = random() % word.length;
    const other = word.slice(0, i) + LETTERS[random() % LETTERS.length]! + word.slice(i + 1);
    if (!known.has(other)) misspelt.add(other);
  }
  return [...misspelt];
}

/** Numbers from 0 to 2^32 - 1 that look random. */
function splitmix32(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  };
}
