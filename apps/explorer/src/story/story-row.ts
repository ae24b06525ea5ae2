/** The short row of bits in the story: LevelDB's filter except for its size. */
import { BuiltFilter, verdictOf } from '../filter/built-filter.js';
import { strangers } from '../filter/key-samples.js';

/** The number of bits. LevelDB's filters have at least 64, but a shorter row fills up sooner. */
export const ROW_BITS = 32;
/** The bytes of the filter: its bits and a byte for the number of probes. */
export const ROW_BYTES = ROW_BITS / 8 + 1;
export const ROW_PROBES = 3;

/** The first word, for a reader who has not added one. */
export const FIRST_WORD = 'hello';
/** Words that the story never adds. It uses the first one that gets a no. */
const TARGETS = ['melon', 'guava', 'peach', 'olive', 'pear'];
/** Words that are proposed one after another. */
const NEXT_WORDS = ['whale', 'zebra', 'otter', 'horse', 'lemur', 'eagle', 'camel', 'panda', 'goose', 'snake', 'mouse', 'koala', 'bison', 'shark', 'moose', 'raven', 'squid', 'llama'];

export function rowOf(words: readonly string[]): BuiltFilter {
  return new BuiltFilter('leveldb', { bitsPerKey: 1, expectedKeys: words.length, probes: ROW_PROBES, byteLength: ROW_BYTES }, words);
}

/** The words in the row: those of the reader, or the first word if there are none. */
export function wordsOr(words: readonly string[]): readonly string[] {
  return words.length === 0 ? [FIRST_WORD] : words;
}

/** A word that was never added, and for which the row with only the first word answers no. */
export function targetOf(words: readonly string[]): string {
  const row = rowOf(words.slice(0, 1));
  for (const word of [...TARGETS, ...strangers()]) {
    if (!words.includes(word) && verdictOf(row.probingOf(word)) === 'no') return word;
  }
  throw new RangeError('a row with one word has room for a no');
}

export function nextWord(words: readonly string[], target: string): string {
  for (const word of [...NEXT_WORDS, ...strangers()]) if (word !== target && !words.includes(word)) return word;
  throw new RangeError('there are more words than a row takes');
}

/** The different bits of a word, in the order in which they are probed. */
export function distinctBits(row: BuiltFilter, word: string): number[] {
  return [...new Set(row.probingOf(word).probes.map(({ bit }) => bit))];
}
