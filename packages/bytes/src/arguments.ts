/** Checks of arguments. A wrong type is a TypeError and a wrong value a RangeError; both name the argument. */
import { MAX_COMPARED_LENGTH, nearestOf, otherSpellingOf } from './near-name.js';
import { numberOf } from './number-of.js';
import type { Signal } from './signal.js';

/** @throws RangeError, which names the option, unless `value` is a whole number from `least` to `most`. */
export function mustBeWhole(name: string, value: number, least: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return value;
  const range = most === Number.MAX_SAFE_INTEGER ? `at least ${least}` : `from ${least} to ${most}`;
  throw new RangeError(`${name} must be a whole number, ${range}, got ${shownValue(value)}`);
}

/**
 * @param kind what the message asks for, where a caller accepts more: "a Uint8Array or a string".
 * @throws TypeError, which names the argument, unless `value` is a Uint8Array: a string, for example, would be stored as
 *   zeros. Also throws for a Uint8Array whose ArrayBuffer was transferred: it has lost its bytes, and looks empty.
 *
 * Hot functions put the fast check before the call: `if (!(key instanceof Uint8Array && key.length > 0)) mustBeBytes(…)`.
 * V8 then has less code to inline. In Node 20, that saves 2% of a ribbon filter's `keyMayMatch`, and nothing measurable of a Bloom filter's.
 */
export function mustBeBytes(name: string, value: unknown, kind = 'a Uint8Array'): asserts value is Uint8Array {
  if (value instanceof Uint8Array && value.length > 0) return;
  mustBeEmptyOrForeign(name, value, kind);
}

/** Checks further: an empty array may be detached, and arrays of another realm, such as a test sandbox, are valid. */
function mustBeEmptyOrForeign(name: string, value: unknown, kind: string): void {
  if (!ArrayBuffer.isView(value) || Object.prototype.toString.call(value) !== '[object Uint8Array]') {
    throw new TypeError(`${name} must be ${kind}, got ${kindOf(value)}`);
  }
  if (value.byteLength === 0) mustBeAttached(name, value as Uint8Array);
}

/** Tells an empty array from one whose buffer is detached or has become too short, which has length 0 too. */
function mustBeAttached(name: string, value: Uint8Array): void {
  try {
    // Every method of a typed array checks its buffer first.
    Uint8Array.prototype.at.call(value, 0);
  } catch {
    throw new TypeError(`${name} must be a Uint8Array with its bytes, got one whose ArrayBuffer is detached`);
  }
}

/**
 * @throws TypeError, which names the argument, unless `value` is the path of a file or folder. An empty one, often an unset variable, would
 *   be the current folder.
 */
export function mustBePath(name: string, value: unknown): asserts value is string {
  if (typeof value !== 'string' || value === '') throw new TypeError(`${name} must be a path that is not empty, got ${value === '' ? "''" : kindOf(value)}`);
}

/** @throws TypeError, which names the argument, unless `value` is a boolean. */
export function mustBeBoolean(name: string, value: unknown): asserts value is boolean {
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be a boolean, got ${kindOf(value)}`);
}

/**
 * @param kind what the array must contain, in the plural: "filter policies".
 * @throws TypeError, which names the argument, unless `value` is an array.
 */
export function mustBeArray(name: string, value: unknown, kind: string): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw new TypeError(`${name} must be an array of ${kind}, got ${kindOf(value)}`);
}

/**
 * @param kind what the iterable must contain, in the plural: "Uint8Arrays".
 * @throws TypeError, which names the argument, unless `value` is an object that can be iterated. A string is rejected.
 */
export function mustBeIterable(name: string, value: unknown, kind: string): asserts value is Iterable<unknown> {
  if (typeof value === 'object' && value !== null && Symbol.iterator in value) return;
  throw new TypeError(`${name} must be an iterable of ${kind}, got ${kindOf(value)}`);
}

/** @throws TypeError, which names the argument, unless `value` is a function. */
export function mustBeFunction(name: string, value: unknown): asserts value is (...args: never[]) => unknown {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function, got ${kindOf(value)}`);
}

/** @throws TypeError, which names the argument, unless `value` is an AbortSignal. */
export function mustBeSignal(name: string, value: unknown): asserts value is Signal {
  const { aborted, addEventListener, signal } = Object(value) as Record<string, unknown>;
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return;
  const hint = signal === undefined ? '' : ': pass its signal';
  throw new TypeError(`${name} must be an AbortSignal, got ${kindOf(value)}${hint}`);
}

/**
 * Checks that an argument is an object with the methods that will be called.
 *
 * @param kind what the argument must be, with an article: "a filter policy".
 * @throws TypeError, which names the argument and the missing methods.
 */
export function mustHaveMethods(name: string, value: unknown, kind: string, methods: readonly string[]): void {
  const isObject = typeof value === 'object' && value !== null;
  const missing = isObject ? methods.filter((method) => typeof (value as Record<string, unknown>)[method] !== 'function') : methods;
  if (missing.length === 0) return;
  const problem = isObject ? `${kindOf(value)} without ${missing.map((method) => `${method}()`).join(' and ')}` : kindOf(value);
  const hint = isClass(value) ? `: pass an instance, new ${value.name}()` : '';
  throw new TypeError(`${name} must be ${kind}, got ${problem}${hint}`);
}

/**
 * Checks that a call has no more arguments than it takes, where ignoring one of them would delete or lose something.
 *
 * @param call the function: "Database.compactRange".
 * @param takes its parameters, as the message lists them: "begin and end".
 * @param most how many those are.
 * @param given how many arguments there are.
 * @throws TypeError, which names the call and what it takes.
 */
export function mustHaveAtMost(call: string, takes: string, most: number, given: number): void {
  if (given > most) throw new TypeError(`${call} takes ${takes}, got ${numberOf(given, 'argument')}`);
}

/**
 * Checks the names in an object of options, since a misspelt one would otherwise be ignored silently.
 *
 * @param owner the function that takes the options: "Table.open".
 * @param known the names of its options. Other names are allowed only with the value undefined.
 * @throws TypeError, which names the unknown option and the one that was likely meant, or says what was given instead of options, such
 *   as a second batch or an array.
 */
export function mustBeOptions(owner: string, options: unknown, known: Readonly<Record<string, true>>): void {
  mustBeObject(owner, options);
  const names = Object.keys(options);
  if (names.length === 0) mustBePlain(owner, options, known);
  for (const name of names) {
    if (Object.hasOwn(known, name) || (options as Record<string, unknown>)[name] === undefined) continue;
    const nearest = nearestOf(name, Object.keys(known));
    const hint = nearest === undefined ? `it has ${Object.keys(known).join(', ')}` : `did you mean ${nearest}?`;
    const shown = JSON.stringify(name.slice(0, MAX_COMPARED_LENGTH));
    throw new TypeError(`${owner} has no option ${shown}: ${hint}`);
  }
}

/**
 * Checks options as {@link mustBeOptions} does, and copies them. The copy also has the inherited ones, which `...` leaves out.
 *
 * @returns an object with those of the known names that `options` has.
 */
export function copiedOptions<Options extends object>(owner: string, options: Options, known: Readonly<Record<keyof Options & string, true>>): Options {
  mustBeOptions(owner, options, known);
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(known)) if (name in options) copy[name] = (options as Record<string, unknown>)[name];
  return copy as Options;
}

/**
 * Checks the names in an object of options where others pass unknown ones on: refuses other spellings of known names.
 *
 * @param owner the function that takes the options: "BloomLevel.put".
 * @param hints what to use in place of names that other libraries have, in lower case: "did you mean gte?".
 * @throws TypeError, which names the option and the one that was likely meant.
 */
export function mustNotMisspell(owner: string, options: unknown, known: Readonly<Record<string, true>>, hints: Readonly<Record<string, string>> = {}): void {
  mustBeObject(owner, options);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(known, name) || (options as Record<string, unknown>)[name] === undefined) continue;
    const key = name.toLowerCase();
    const meant = otherSpellingOf(name, Object.keys(known));
    const hint = Object.hasOwn(hints, key) ? hints[key]! : meant && `did you mean ${meant}?`;
    if (hint !== undefined) throw new TypeError(`${owner} has no option ${JSON.stringify(name.slice(0, MAX_COMPARED_LENGTH))}: ${hint}`);
  }
}

/** @throws TypeError for what cannot be options: a function, an array, bytes. */
function mustBeObject(owner: string, options: unknown): asserts options is object {
  if (typeof options === 'object' && options !== null && !(Symbol.iterator in options) && !(Symbol.asyncIterator in options)) return;
  throw new TypeError(`the options of ${owner} must be an object, got ${kindOf(options)}`);
}

/**
 * Refuses an instance of a class that has none of the options: a signal, for example, would be ignored where `{ signal }` was meant.
 *
 * @param owner the function that takes the options: "BloomLevel.clear".
 * @throws TypeError, which names the class.
 */
export function mustBePlain(owner: string, options: object, known: Readonly<Record<string, true>>): void {
  const kind = kindOf(options);
  if (kind === 'object' || Object.keys(known).some((name) => name in options)) return;
  const hint = typeof (options as { readonly aborted?: unknown }).aborted === 'boolean' ? ': pass { signal }' : '';
  throw new TypeError(`the options of ${owner} must be an object, got ${kind}${hint}`);
}

/**
 * A value that should be a number or one of a few strings, for messages: a number as it is, a string in quotes, and of anything else what
 * it is. `String` would show the string '5' as the number, and fails for some objects.
 */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, MAX_COMPARED_LENGTH));
  return typeof value === 'number' ? String(value) : kindOf(value);
}

/** What a value is, for messages: "null", "string", "an ArrayBuffer", "the class BlockCache". */
export function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (isClass(value)) return `the class ${value.name}`;
  if (typeof value !== 'object') return typeof value;
  // A getter may throw, and an object may have no prototype.
  const maker: unknown = (Object.getPrototypeOf(value) as { constructor?: unknown } | null)?.constructor;
  const made = typeof maker === 'function' ? maker.name : '';
  if (made === '' || made === 'Object') return 'object';
  return `${/^[AEIO]/.test(made) ? 'an' : 'a'} ${made}`;
}

function isClass(value: unknown): value is { readonly name: string } {
  return typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value)) && value.name !== '';
}
