import { count, counted } from '@bloom/report';
import { FEWEST_KEYS, type KeyPattern, KEY_PATTERNS, MOST_KEYS } from './fit-patterns.js';
import { KEY_SAMPLES } from './key-samples.js';
import { keptKeys, nameOfKeys } from './own-keys.js';

/** The policies whose filters are rows of bits, which the page can draw. */
export const POLICY_NAMES = ['leveldb', 'fitted', 'blocked'] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];
/** `both`: LevelDB's filter and the blocked one, in equal bytes. */
export type PolicyChoice = PolicyName | 'both';

/** The choices of the user. They are stored in the URL, unless noted otherwise. */
export interface FilterState {
  /** How the size is chosen: by bits per key, or by the wanted rate. */
  readonly sizing: 'bits' | 'rate';
  readonly bitsPerKey: number;
  /** From 0 to 1. */
  readonly wantedRate: number;
  readonly expectedKeys: number;
  /** Undefined for the policy's own number. */
  readonly probes: number | undefined;
  readonly policy: PolicyChoice;
  /** The length of LevelDB's filter if it is shorter than usual, as in the story. Undefined for the policy's own length. */
  readonly byteLength: number | undefined;
  /** The added keys, in order and without duplicates. */
  readonly keys: readonly string[];
  /** The key being tested; empty at first. */
  readonly query: string;
  /** Whether the key has just been added. The page then shows the addition instead of a test. Not in the URL. */
  readonly isAdding: boolean;
  /** The number of keys in the URL that this browser does not have. */
  readonly lostKeys: number;
  /** The comparison of LevelDB's filters with fitted ones: the number of keys in each filter, and the pattern of keys. */
  readonly fitKeys: number;
  readonly fitPattern: KeyPattern;
}

export const MAX_EXPECTED_KEYS = 10_000_000;
export const MAX_BITS_PER_KEY = 50;
export const MAX_PROBES_BY_HAND = 30;
/** Filters up to this size are shorter than LevelDB makes them. */
const MAX_ROW_BITS = 64;
/** At most this many keys can be added. */
export const MAX_KEYS = 100_000;
/** Longer links are often broken by mail and chat programs. */
const MAX_KEY_CHARACTERS = 6000;

export const INITIAL: FilterState = {
  sizing: 'bits',
  bitsPerKey: 10,
  wantedRate: 0.01,
  expectedKeys: 12,
  probes: undefined,
  policy: 'leveldb',
  byteLength: undefined,
  keys: KEY_SAMPLES.fruit.keys(),
  query: '',
  isAdding: false,
  lostKeys: 0,
  fitKeys: 19,
  fitPattern: 'digits',
};

function numberFrom(params: URLSearchParams, name: string, min: number, max: number, fallback: number, whole = true): number {
  const text = params.get(name);
  if (text === null || text.trim() === '') return fallback;
  const number = Number(text);
  return number >= min && number <= max && (!whole || Number.isInteger(number)) ? number : fallback;
}

export function stateFromParams(params: URLSearchParams): FilterState {
  const policy = params.get('policy');
  const sample = params.get('sample');
  const keys = params.get('keys');
  const own = params.get('own');
  const kept = own === null ? undefined : keptKeys(own);
  const row = numberFrom(params, 'row', 8, MAX_ROW_BITS, 0);
  const probes = numberFrom(params, 'probes', 1, MAX_PROBES_BY_HAND, 0);
  return {
    sizing: params.has('rate') ? 'rate' : 'bits',
    bitsPerKey: numberFrom(params, 'bits', 1, MAX_BITS_PER_KEY, INITIAL.bitsPerKey),
    wantedRate: numberFrom(params, 'rate', 1e-6, 0.5, INITIAL.wantedRate, false),
    expectedKeys: numberFrom(params, 'n', 1, MAX_EXPECTED_KEYS, INITIAL.expectedKeys),
    probes: probes === 0 ? undefined : probes,
    policy: policy === 'both' ? policy : (POLICY_NAMES.find((name) => name === policy) ?? 'leveldb'),
    byteLength: row === 0 ? undefined : Math.ceil(row / 8) + 1,
    keys:
      sample !== null && sample in KEY_SAMPLES
        ? KEY_SAMPLES[sample as keyof typeof KEY_SAMPLES].keys()
        : (kept ?? (keys === null ? INITIAL.keys : distinctKeys(keys.split('\n')))),
    query: params.get('q') ?? INITIAL.query,
    isAdding: false,
    fitKeys: numberFrom(params, 'fit', FEWEST_KEYS, MOST_KEYS, INITIAL.fitKeys),
    fitPattern: KEY_PATTERNS.find((known) => known === params.get('pattern')) ?? INITIAL.fitPattern,
    lostKeys: own !== null && kept === undefined ? Number.parseInt(own, 10) || 0 : 0,
  };
}

/** @returns the parameters, and whether all keys fitted. Keys that do not fit are stored by {@link keepKeys}. */
export function paramsFromState(state: FilterState): { readonly params: URLSearchParams; readonly isWhole: boolean } {
  const params = new URLSearchParams();
  if (state.sizing === 'rate') params.set('rate', String(state.wantedRate));
  else if (state.bitsPerKey !== INITIAL.bitsPerKey) params.set('bits', String(state.bitsPerKey));
  if (state.expectedKeys !== INITIAL.expectedKeys) params.set('n', String(state.expectedKeys));
  if (state.probes !== undefined) params.set('probes', String(state.probes));
  if (state.policy !== INITIAL.policy) params.set('policy', state.policy);
  if (state.byteLength !== undefined) params.set('row', String((state.byteLength - 1) * 8));
  let isWhole = true;
  const sample = Object.entries(KEY_SAMPLES).find(([, { keys }]) => sameKeys(keys(), state.keys))?.[0];
  if (sample === undefined) {
    const text = state.keys.join('\n');
    if (text.length <= MAX_KEY_CHARACTERS) params.set('keys', text);
    else {
      params.set('own', nameOfKeys(state.keys));
      isWhole = false;
    }
  } else if (sample !== 'fruit') params.set('sample', sample);
  if (state.query !== INITIAL.query) params.set('q', state.query);
  if (state.fitKeys !== INITIAL.fitKeys) params.set('fit', String(state.fitKeys));
  if (state.fitPattern !== INITIAL.fitPattern) params.set('pattern', state.fitPattern);
  return { params, isWhole };
}

function sameKeys(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}

/** The distinct keys among lines, up to the most that can be added. The whole line is the key, including its spaces. */
export function distinctKeys(lines: readonly string[]): string[] {
  return everyKey(lines).slice(0, MAX_KEYS);
}

function everyKey(lines: readonly string[]): string[] {
  return [...new Set(lines.map((line) => line.replace(/\r$/, '')).filter((line) => line !== ''))];
}

/** The keys with further ones, and a message if some or all of those are not new or do not fit. */
export function addedKeys(keys: readonly string[], lines: readonly string[]): { readonly keys: readonly string[]; readonly message: string } {
  const every = everyKey([...keys, ...lines]);
  const leftOut = every.length - MAX_KEYS;
  if (leftOut > 0) return { keys: every.slice(0, MAX_KEYS), message: `At most ${count(MAX_KEYS)} keys can be added. ${counted(leftOut, 'key was', 'keys were')} left out.` };
  return { keys: every, message: every.length > keys.length ? '' : 'These keys have already been added.' };
}
