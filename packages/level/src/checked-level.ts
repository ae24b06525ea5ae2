/**
 * abstract-level's classes with checks of arguments. Errors of calls that need an open level have the reason why it could not be opened.
 */
import { AbstractLevel, AbstractSublevel } from 'abstract-level';
import { BATCH_FORMS, CALL_FORMS, type CheckedCall, isPlain, type KeyEncoding, mustBeArguments, mustBeClearable } from './call-options.js';

/** A method of a class of abstract-level. */
type Method = (this: Level, ...given: unknown[]) => unknown;

/** The part of a level that is used here. */
interface Level {
  readonly status: string;
  keyEncoding(encoding: unknown): KeyEncoding;
}

/** The part of a sublevel that is used here. Levels have no parent. */
interface Child {
  readonly parent: Level | null;
}

/** The functions that a level calls when it is open. */
interface Hooked {
  readonly hooks: { readonly postopen: { run: (options: unknown) => unknown } };
}

/** The codes of errors of calls that need an open level, and of iterators that are closed because it fails to open. */
const NOT_OPEN: ReadonlySet<unknown> = new Set(['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN']);

/** The reasons why levels and sublevels could not be opened the last time. */
const failures = new WeakMap<Level, unknown>();

/** Why a level could not be opened; undefined for one that was open. */
export function openFailure(level: Level): unknown {
  return failures.get(level);
}

/** Waits for a step of a level's opening. Its error is recorded before abstract-level refuses the calls that wait. */
export async function noted(level: Level, step: unknown): Promise<void> {
  try {
    await step;
    failures.delete(level);
  } catch (error) {
    failures.set(level, reasonOf(error));
    throw error;
  }
}

/** The reason for an error that only says that a level is not open. */
function reasonOf(error: unknown): unknown {
  return isNotOpen(error) && error.cause !== undefined ? reasonOf(error.cause) : error;
}

function isNotOpen(error: unknown): error is Error {
  return error instanceof Error && NOT_OPEN.has((error as { readonly code?: unknown }).code);
}

/** The error, with the reason why the level could not be opened as its cause if it only says that the level is not open. */
function explained(level: Level, error: unknown): unknown {
  const cause = failures.get(level);
  if (cause !== undefined && isNotOpen(error) && error.cause === undefined) Object.defineProperty(error, 'cause', { value: cause, writable: true, configurable: true });
  return error;
}

function explainedLater<T>(level: Level, outcome: T): T {
  if (!(outcome instanceof Promise)) return outcome;
  return outcome.catch((error: unknown) => {
    throw explained(level, error);
  }) as T;
}

/** Calls a method of a level that is not open. */
function callExplained(level: Level, call: () => unknown): unknown {
  try {
    return explainedLater(level, call());
  } catch (error) {
    throw explained(level, error);
  }
}

/** Whether abstract-level is making a call that waited for its level to open. Such calls are synchronous, so one flag serves all levels. */
let isDeferredCall = false;

/** Whether a call must not throw, because abstract-level would then never make the calls that wait after it. */
export function mustNotThrow(): boolean {
  return isDeferredCall;
}

/** Gives the errors of an iterator the reason why the level could not be opened. */
function explainIterator(level: Level, iterator: unknown): void {
  const methods = iterator as Record<string, Method>;
  for (const name of ['next', 'nextv', 'all']) {
    const method = methods[name]!;
    const explaining: Method = (...given) => callExplained(level, () => method.apply(iterator as Level, given));
    methods[name] = explaining;
  }
}

/** Makes the chained batch of a sublevel check its arguments. */
function checkBatch(batch: unknown): unknown {
  const methods = batch as Record<string, Method>;
  const check = (name: keyof typeof BATCH_FORMS, around: (call: () => unknown) => unknown): void => {
    const method = methods[name]!;
    const form = BATCH_FORMS[name];
    const checking: Method = (...given) =>
      around(() => {
        if (given.length > form.optionsAt) mustBeArguments(`BloomLevel.batch().${name}`, form, given);
        return method.apply(batch as Level, given);
      });
    methods[name] = checking;
  };
  for (const name of ['put', 'del', 'clear'] as const) check(name, (call) => call());
  // A promise, as for its other errors.
  check('write', (call) => new Promise((resolve) => resolve(call())));
  return batch;
}

/** Calls that fail synchronously. */
const AT_ONCE: ReadonlySet<CheckedCall> = new Set<CheckedCall>(['getSync', 'iterator', 'keys', 'values', 'sublevel']);
const WALKS: ReadonlySet<CheckedCall> = new Set<CheckedCall>(['iterator', 'keys', 'values']);

/** Makes a call that has options, or on a level that is not open. */
function checked(level: Level, name: CheckedCall, call: Method, given: unknown[]): unknown {
  try {
    mustBeArguments(`BloomLevel.${name}`, CALL_FORMS[name], given);
    // A level that is not open has no encodings, as in abstract-level. While it is being opened, this call is made again afterwards.
    if (name === 'clear') mustBeClearable(given[0], level.status === 'open' ? (encoding) => level.keyEncoding(encoding) : undefined);
  } catch (error) {
    if (AT_ONCE.has(name)) throw error;
    return Promise.reject(error);
  }
  if (level.status === 'open') return call.apply(level, given);
  const result = callExplained(level, () => call.apply(level, given));
  if (WALKS.has(name)) explainIterator(level, result);
  return result;
}

/** The calls that are made for single keys, in abstract-level. */
interface KeyCalls extends Level {
  get(key: unknown, options?: unknown): unknown;
  getSync(key: unknown, options?: unknown): unknown;
  has(key: unknown, options?: unknown): unknown;
  put(key: unknown, value: unknown, options?: unknown): unknown;
  del(key: unknown, options?: unknown): unknown;
}

/** A class like `base`, with checks. */
function withChecks<Base>(base: Base): Base {
  const Abstract = base as unknown as new (...given: unknown[]) => KeyCalls;
  const before = Abstract.prototype as unknown as Record<string, Method>;

  /** The most frequent calls have their own methods: one function for all of them took a tenth of the time of a `get`. */
  class Checked extends Abstract {
    override get(key: unknown, options?: unknown, extra?: unknown): unknown {
      if (extra === undefined && this.status === 'open' && (options === undefined || isPlain(CALL_FORMS.get, options))) return super.get(key, options);
      return checked(this, 'get', before.get!, [key, options, extra]);
    }

    override getSync(key: unknown, options?: unknown, extra?: unknown): unknown {
      if (extra === undefined && this.status === 'open' && (options === undefined || isPlain(CALL_FORMS.getSync, options))) return super.getSync(key, options);
      return checked(this, 'getSync', before.getSync!, [key, options, extra]);
    }

    override has(key: unknown, options?: unknown, extra?: unknown): unknown {
      if (extra === undefined && this.status === 'open' && (options === undefined || isPlain(CALL_FORMS.has, options))) return super.has(key, options);
      return checked(this, 'has', before.has!, [key, options, extra]);
    }

    override put(key: unknown, value: unknown, options?: unknown, extra?: unknown): unknown {
      if (extra === undefined && this.status === 'open' && (options === undefined || isPlain(CALL_FORMS.put, options))) return super.put(key, value, options);
      return checked(this, 'put', before.put!, [key, value, options, extra]);
    }

    override del(key: unknown, options?: unknown, extra?: unknown): unknown {
      if (extra === undefined && this.status === 'open' && (options === undefined || isPlain(CALL_FORMS.del, options))) return super.del(key, options);
      return checked(this, 'del', before.del!, [key, options, extra]);
    }
  }

  const define = (name: string, value: Method): void => void Object.defineProperty(Checked.prototype, name, { value, writable: true, configurable: true });
  for (const name of ['getMany', 'hasMany', 'batch', 'clear', 'iterator', 'keys', 'values', 'sublevel'] satisfies CheckedCall[]) {
    define(name, function (...given) {
      return checked(this, name, before[name]!, given);
    });
  }
  // The batch of a level checks its arguments itself.
  define('_chainedBatch', function () {
    return checkBatch(before._chainedBatch!.call(this));
  });
  define('snapshot', function (...given) {
    return callExplained(this, () => before.snapshot!.apply(this, given));
  });
  define('defer', function (call, options) {
    const marked = (): void => {
      const wasDeferred = isDeferredCall;
      isDeferredCall = true;
      try {
        (call as () => void)();
      } finally {
        isDeferredCall = wasDeferred;
      }
    };
    before.defer!.call(this, typeof call === 'function' ? marked : call, options);
  });
  // Calls while the level is being opened.
  define('deferAsync', function (...given) {
    return explainedLater(this, before.deferAsync!.apply(this, given));
  });
  define('_open', function (options) {
    const isParentOpen = (this as unknown as Child).parent?.status === 'open';
    const opening = before._open!.call(this, options);
    const noting = noted(this, opening).catch((error: unknown) => {
      // The reason that a sublevel's parent has, as for later calls.
      throw reasonOf(error);
    });
    if (!isParentOpen) return noting;
    // Returned without another promise around it, so that the sublevel opens as soon as in classic-level: until then, its chained batches throw.
    noting.catch(() => undefined);
    return opening;
  });
  define('open', function (options) {
    const { postopen } = (this as unknown as Hooked).hooks;
    const { run } = postopen;
    // abstract-level looks it up synchronously. It offers no other way to learn that a hook failed without a further promise, and with one, `close`
    // would run before the calls that wait for `open`.
    const notedRun = (given: unknown): Promise<void> => noted(this, new Promise((resolve) => resolve(run(given))));
    postopen.run = notedRun;
    try {
      // Sublevels open their parent with `passive`. If it is open already, there is no failure to explain, and another promise would only delay them.
      const isExplained = (options as { readonly passive?: unknown } | undefined)?.passive === true && this.status !== 'open';
      const opening = before.open!.call(this, options);
      return isExplained ? explainedLater(this, opening) : opening;
    } finally {
      postopen.run = run;
    }
  });
  define('_sublevel', function (name, options) {
    return new CheckedSublevel(this, name as string, options as object);
  });
  // Node prints sublevels under this name.
  Object.defineProperty(Checked, 'name', { value: Abstract.name, configurable: true });
  return Checked as unknown as Base;
}

/** `AbstractLevel`, with checks. */
export const CheckedLevel = /* @__PURE__ */ withChecks(AbstractLevel);

const CheckedSublevel = /* @__PURE__ */ withChecks(AbstractSublevel);
