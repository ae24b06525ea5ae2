/** The short row of bits that the story is told with: LevelDB's filter, but for its size. */
import { BuiltFilter, verdictOf } from '../filter/built-filter.js';
import { strangers } from '../filter/key-samples.js';

/** LevelDB's filters have at least 64 bits. So few are soon full. */
export const ROW_BITS = 32;
/** A byte more than its bits: for the number of probes. */
export const ROW_BYTES = ROW_BITS / 8 + 1;
export const ROW_PROBES = 3;

/** Added for a reader who skipped that. */
export const FIRST_WORD = 'hello';
/** What is never added, unless the reader does. The first of them that gets a no is looked at. */
const TARGETS = ['melon', 'guava', 'peach', 'olive', 'pear'];
/** Proposed one after another. */
const NEXT_WORDS = ['whale', 'zebra', 'otter', 'horse', 'lemur', 'eagle', 'camel', 'panda', 'goose', 'snake', 'mouse', 'koala', 'bison', 'shark', 'moose', 'raven', 'squid', 'llama'];

export function rowOf(words: readonly string[]): BuiltFilter {
  return new BuiltFilter('leveldb', { bitsPerKey: 1, expectedKeys: words.length, probes: ROW_PROBES, byteLength: ROW_BYTES }, words);
}

/** The row of the story: without a word of the reader's, it has one of ours. */
export function wordsOr(words: readonly string[]): readonly string[] {
  return words.length === 0 ? [FIRST_WORD] : words;
}

/** A word that was never added, and that the row with the first word alone says a certain no to. */
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
