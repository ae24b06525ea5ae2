/** The state of the story. */
export interface StoryState {
  /** The words added to the row, in order and without duplicates: the first in the second step, the others in the fourth. */
  readonly words: readonly string[];
  /** The word in question in the third step; empty for the story's own word. */
  readonly asked: string;
  readonly bitsPerKey: number;
  /** The key that is looked up in the real table. */
  readonly tableKey: string;
  /** Whether the filter of the last step ignores trailing spaces, as its table does. */
  readonly ignoresSpaces: boolean;
  /** The guess in each step. Not in the URL, so that links do not show the answers. */
  readonly guesses: Readonly<Partial<Record<number, number>>>;
  /** The step that a link leads to. */
  readonly step: number | undefined;
}

export const STEPS = ['A slow disk', 'A row of bits', 'A certain no', 'A wrong “maybe”', 'How many bits', 'In LevelDB', 'A trap'] as const;
/** The bits per key before and after the reader guesses how the rate changes. */
export const FEW_BITS = 5;
export const USUAL_BITS = 10;
export const MOST_BITS = 20;
export const PRESENT_KEY = 'weather/oslo/2026-01-20';
export const ABSENT_KEY = 'weather/oslo/2027-01-20';
/** Longer words would not fit into the picture and into links. */
export const MAX_WORD_LENGTH = 40;
const MAX_WORDS = 64;

export const STORY_START: StoryState = { words: [], asked: '', bitsPerKey: FEW_BITS, tableKey: ABSENT_KEY, ignoresSpaces: false, guesses: {}, step: undefined };

export function storyFromParams(params: URLSearchParams, now: StoryState): StoryState {
  const bits = Number(params.get('bits'));
  const words = (params.get('words') ?? '').split('\n').filter((word) => word !== '').map((word) => word.slice(0, MAX_WORD_LENGTH));
  return {
    words: [...new Set(words)].slice(0, MAX_WORDS),
    asked: (params.get('ask') ?? '').slice(0, MAX_WORD_LENGTH),
    bitsPerKey: Number.isInteger(bits) && bits >= 1 && bits <= MOST_BITS ? bits : STORY_START.bitsPerKey,
    tableKey: params.get('key') ?? ABSENT_KEY,
    ignoresSpaces: params.has('trim'),
    guesses: now.guesses,
    step: stepFrom(params.get('step')),
  };
}

export function paramsOfStory({ words, asked, bitsPerKey, tableKey, ignoresSpaces, step }: StoryState): URLSearchParams {
  const params = new URLSearchParams();
  if (words.length > 0) params.set('words', words.join('\n'));
  if (asked !== '') params.set('ask', asked);
  if (bitsPerKey !== STORY_START.bitsPerKey) params.set('bits', String(bitsPerKey));
  if (tableKey !== ABSENT_KEY) params.set('key', tableKey);
  if (ignoresSpaces) params.set('trim', '1');
  if (step !== undefined) params.set('step', String(step));
  return params;
}

/** The number of a step, from 1; undefined for anything else. */
export function stepFrom(text: string | null): number | undefined {
  const step = Number(text);
  return Number.isInteger(step) && step >= 1 && step <= STEPS.length ? step : undefined;
}
