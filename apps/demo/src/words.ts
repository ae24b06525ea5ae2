import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { seeded } from '@bloom/bytes/internal';
import wordListPath from 'word-list';

const SEED = 0x626c6f6d;
const LETTERS = Array.from('abcdefghijklmnopqrstuvwxyz');

/** Where the word list comes from, and its licence. */
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

/** All words of the list, in bytewise order. */
export async function readWords(): Promise<{ words: readonly string[]; origin: Origin }> {
  const list = await readFile(wordListPath, 'utf8');
  const words = [...new Set(list.split('\n').filter((word) => word !== ''))].sort();
  const manifest = JSON.parse(await readFile(join(dirname(wordListPath), 'package.json'), 'utf8')) as Manifest;
  const { name, version, license: licence, author } = manifest;
  return { words, origin: { name, version, licence, author: author.name } };
}

/** `length` random words of the list, the same in every run. */
export function presentWords(words: readonly string[], length: number): string[] {
  const random = seeded(SEED);
  return Array.from({ length }, () => random.pick(words));
}

/** `length` distinct strings that are not in the list: words with one letter replaced. */
export function misspell(words: readonly string[], length: number): string[] {
  const random = seeded(SEED + 1);
  const known = new Set(words);
  const misspelt = new Set<string>();
  while (misspelt.size < length) {
    const word = random.pick(words);
    const i = random.below(word.length);
    const other = word.slice(0, i) + random.pick(LETTERS) + word.slice(i + 1);
    if (!known.has(other)) misspelt.add(other);
  }
  return [...misspelt];
}
