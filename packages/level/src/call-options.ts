/**
 * The arguments and options that the calls of a level take. Options with unknown names are allowed, because other packages on abstract-level
 * pass their own. Other spellings of known names are not, because the level would silently ignore them.
 */
import { mustBeBoolean, mustBePlain, mustHaveAtMost, mustNotMisspell } from '@bloom/bytes/internal';
import type { ClearRange } from '@bloom/leveldb';
import type { LevelOptions, OpenOptions } from './level-options.js';

/** The arguments of a call. */
export interface CallForm {
  /** In words, for messages. */
  readonly takes: string;
  /** The position of its options, which come last. */
  readonly optionsAt: number;
  readonly known: Readonly<Record<string, true>>;
  /** The options to use in place of other libraries' options. */
  readonly hints?: Readonly<Record<string, string>>;
  /** Whether ignoring an argument would lose something. Such a call takes nothing but options in their position, and no further argument. */
  readonly isStrict: boolean;
}

/**
 * Options of abstract-level, classic-level, browser-level, memory-level and many-level that have a meaning there: a level may be opened with them.
 */
const FOREIGN = { passive: true, prefix: true, version: true, storeEncoding: true, retry: true } as const;

const OPEN_OPTIONS: Record<keyof OpenOptions, true> & typeof FOREIGN = {
  createIfMissing: true,
  errorIfExists: true,
  compression: true,
  cacheSize: true,
  writeBufferSize: true,
  maxFileSize: true,
  blockSize: true,
  blockRestartInterval: true,
  maxOpenFiles: true,
  maxBlockBytes: true,
  comparator: true,
  filterPolicy: true,
  filterPolicies: true,
  bitsPerKey: true,
  fitFilters: true,
  filterRange: true,
  codecs: true,
  damage: true,
  lock: true,
  onEvent: true,
  reuseLogs: true,
  multithreading: true,
  ...FOREIGN,
};

const LEVEL_OPTIONS: Record<keyof LevelOptions<unknown, unknown>, true> = { ...OPEN_OPTIONS, readOnly: true, worker: true, keyEncoding: true, valueEncoding: true };

const OPEN_HINTS = {
  blockcache: 'did you mean cacheSize?',
  block_cache: 'did you mean cacheSize?',
  cachebytes: 'did you mean cacheSize?',
  filemustexist: 'did you mean createIfMissing?',
  createifnotexists: 'did you mean createIfMissing?',
  create_if_not_exists: 'did you mean createIfMissing?',
};

const ENCODINGS = { keyEncoding: true, valueEncoding: true } as const;
const READ_OPTIONS = { ...ENCODINGS, snapshot: true, fillCache: true } as const;
const WRITE_OPTIONS = { ...ENCODINGS, sync: true, sublevel: true } as const;
const WRITE_HINTS = { fsync: 'did you mean sync?', durable: 'did you mean sync?' };
const RANGE_OPTIONS = { ...READ_OPTIONS, gt: true, gte: true, lt: true, lte: true, reverse: true, limit: true } as const;
/** The last one is for streams, which pass all of their options on. */
const ITERATOR_OPTIONS = { ...RANGE_OPTIONS, keys: true, values: true, highWaterMarkBytes: true, signal: true, highWaterMark: true } as const;

/** The names of bounds in other libraries. If they were ignored, all entries would be deleted. */
const CLEAR_HINTS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['start', 'begin', 'from', 'min', 'since'].map((name) => [name, 'did you mean gte?'])),
  ...Object.fromEntries(['end', 'to', 'max', 'until'].map((name) => [name, 'did you mean lte?'])),
  after: 'did you mean gt?',
  before: 'did you mean lt?',
  prefix: 'use gte and lt, or clear a sublevel',
  sequence: 'did you mean snapshot?',
  count: 'did you mean limit?',
};

const write = (takes: string, optionsAt: number): CallForm => ({ takes, optionsAt, known: WRITE_OPTIONS, hints: WRITE_HINTS, isStrict: true });
const read = (takes: string): CallForm => ({ takes, optionsAt: 1, known: READ_OPTIONS, isStrict: false });
const walk: CallForm = { takes: 'options', optionsAt: 0, known: ITERATOR_OPTIONS, isStrict: false };

/** The calls of a level and of its sublevels that have options, by their names. */
export const CALL_FORMS = {
  get: read('a key and options'),
  getSync: read('a key and options'),
  getMany: read('keys and options'),
  has: read('a key and options'),
  hasMany: read('keys and options'),
  put: write('a key, a value and options', 2),
  del: write('a key and options', 1),
  batch: write('operations and options', 1),
  clear: { takes: 'options', optionsAt: 0, known: RANGE_OPTIONS, hints: CLEAR_HINTS, isStrict: true },
  iterator: walk,
  keys: walk,
  values: walk,
  sublevel: { takes: 'a name and options', optionsAt: 1, known: { ...ENCODINGS, separator: true }, isStrict: false },
} as const satisfies Readonly<Record<string, CallForm>>;

export type CheckedCall = keyof typeof CALL_FORMS;

/** The calls of a chained batch. */
export const BATCH_FORMS = {
  put: write('a key, a value and options', 2),
  // abstract-level's tests pass text, which must be ignored.
  del: { ...write('a key and options', 1), isStrict: false },
  clear: { takes: 'no arguments', optionsAt: -1, known: {}, isStrict: true },
  write: write('options', 0),
} as const satisfies Readonly<Record<string, CallForm>>;

/**
 * @param call as messages name it.
 * @throws TypeError or RangeError for an argument that the call would ignore.
 */
export function mustBeArguments(call: string, form: CallForm, given: readonly unknown[]): void {
  const options = given[form.optionsAt];
  if (form.isStrict) mustHaveAtMost(call, form.takes, form.optionsAt + 1, lengthOf(given));
  if (!isGiven(options)) return;
  if (!form.isStrict && typeof options !== 'object') return;
  mustNotMisspell(call, options, form.known, form.hints);
  const { sync } = options as { readonly sync?: unknown };
  if (form.known === WRITE_OPTIONS && isGiven(sync)) mustBeBoolean('sync', sync);
}

/** A quick check for frequent calls: whether options are certainly an object, with only names that the call knows. Nothing else has to be checked then. */
export function isPlain({ known }: CallForm, options: unknown): boolean {
  if (typeof options !== 'object' || options === null) return false;
  let count = 0;
  for (const name in options) {
    if (known[name] !== true) return false;
    count++;
  }
  // An array or bytes without elements have no names either.
  if (count === 0) return Object.getPrototypeOf(options) === Object.prototype;
  const { sync } = options as { readonly sync?: unknown };
  return sync === undefined || typeof sync === 'boolean';
}

/** The number of arguments, without undefined ones at the end. */
function lengthOf(given: readonly unknown[]): number {
  let length = given.length;
  while (length > 0 && given[length - 1] === undefined) length--;
  return length;
}

/** The arguments of a static call, without undefined ones at the end, and without the index and the array that `map` of an array passes too. */
export function staticArguments(given: readonly unknown[]): readonly unknown[] {
  const [location, index, all] = given;
  if (given.length === 3 && Array.isArray(all) && all[index as number] === location) return [location];
  return given.slice(0, lengthOf(given));
}

/** Encodes the bounds of a range. */
export interface KeyEncoding {
  encode(key: unknown): unknown;
}

/**
 * @param encodingOf the key encoding for an option `keyEncoding`; undefined if bounds cannot be encoded yet.
 * @throws TypeError or RangeError for a range with which `clear` would delete other entries than its caller meant.
 */
export function mustBeClearable(options: unknown, encodingOf: ((keyEncoding: unknown) => KeyEncoding) | undefined): void {
  if (typeof options !== 'object' || options === null) return;
  mustBePlain('BloomLevel.clear', options, RANGE_OPTIONS);
  const range = options as Readonly<Record<string, unknown>>;
  for (const name of ['gt', 'gte', 'lt', 'lte', 'limit', 'reverse', 'snapshot'] satisfies (keyof typeof RANGE_OPTIONS)[]) {
    // abstract-level ignores inherited bounds, and copies only an object's own options.
    if (name in range && !Object.hasOwn(range, name)) {
      throw new TypeError(`${name} of BloomLevel.clear is inherited and would be ignored, so it might delete entries that it was not meant to: make it an option of the object itself`);
    }
  }
  for (const name of ['gt', 'gte', 'lt', 'lte'] satisfies (keyof ClearRange)[]) {
    if (!(name in range)) continue;
    const problem = range[name] === undefined ? 'is undefined' : encodingOf !== undefined && encodingOf(range.keyEncoding).encode(range[name]) === undefined ? 'is undefined in its encoding' : undefined;
    if (problem !== undefined) throw new TypeError(`${name} of BloomLevel.clear ${problem}, so it might delete entries that it was not meant to: leave it out`);
  }
  const { limit } = range;
  if (limit === undefined || limit === Infinity || (Number.isSafeInteger(limit) && (limit as number) >= -1)) return;
  const problem = `limit must be a whole number, Infinity or -1, got ${typeof limit === 'number' || limit === null ? limit : typeof limit}`;
  throw typeof limit === 'number' ? new RangeError(problem) : new TypeError(problem);
}

/** @throws TypeError for options of the constructor with which another level would be opened than its caller meant. */
export function mustBeLevelOptions(options: unknown): void {
  if (!isGiven(options)) return;
  mustNotMisspell('BloomLevel', options, LEVEL_OPTIONS, OPEN_HINTS);
  mustBeFlags(options);
}

/**
 * @param given the arguments of `open`.
 * @param made the options of the constructor.
 * @throws TypeError for arguments with which a level would be opened in another way than its caller meant.
 */
export function mustBeOpenOptions(given: readonly unknown[], made: Readonly<Record<string, unknown>>): void {
  mustHaveAtMost('BloomLevel.open', 'options', 1, lengthOf(given));
  const options = given[0];
  if (!isGiven(options)) return;
  mustNotMisspell('BloomLevel.open', options, LEVEL_OPTIONS, OPEN_HINTS);
  mustBeFlags(options);
  for (const name of ['readOnly', 'worker'] as const) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (isGiven(value) && value !== made[name]) throw new TypeError(`${name} is an option of the constructor of BloomLevel`);
  }
}

function mustBeFlags(options: unknown): void {
  for (const name of ['readOnly', 'createIfMissing', 'errorIfExists', 'multithreading'] as const) {
    const value = (options as Readonly<Record<string, unknown>>)[name];
    if (isGiven(value)) mustBeBoolean(name, value);
  }
}

/** Null counts as none, as in abstract-level and classic-level. */
function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
