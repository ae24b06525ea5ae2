import { numberOf, type Random, sameBytes } from '@bloom/bytes/internal';
import { processorMs } from '#contract-host';
import { askablePrefixes, type FilterPolicy, type PrefixExtractor } from '../../policy.js';
import { damaged } from '../damaged-filters.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { GuardedSink, LentKeys, noise } from '../lending.js';
import type { PolicyLawsOptions } from '../options.js';
import { compareBytes, randomBytes } from '../sample.js';
import { show } from '../shown-bytes.js';
import { Fault, patienceWith, type Trial } from '../trial.js';

/** Bytes that make a key long. */
const LONG_TAIL = 70_000;

/** Enough keys for a filter whose length does not fit into 16 bits. */
const MANY_KEYS = 65_536;
/** Milliseconds to spend on asking for the prefixes of large lists; a policy as fast as LevelDB's needs less for all of them. */
const ASKING_MS = 600;
/** Bytes that a rule may take for the end of a prefix, and the keys of each list that has one of them in its keys. */
const DELIMITERS = Array.from('/:.#|,;-_!@ \0\x01\t\n\xff', (char) => char.charCodeAt(0));
const DELIMITED_KEYS = 150;

/** Bytes that may follow a prefix: with delimiters, the lowest and the highest byte among them. */
const TAILS = ['', '\0', '/', ':', 'a', '\x80', '\xff', '\xff\xff', 'a/b', '::', ' ', '\n'].map((text) => Uint8Array.from(text, (char) => char.charCodeAt(0)));

/** The same with every byte, for the first key of a list. */
const TAILS_OF_EVERY_BYTE = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte, 255 - byte));

/** Law 11: the prefix of a key is a prefix, and matches the filters of all keys that have it. */
export function prefixesHold(makePolicy: () => FilterPolicy, { tunedOtherwise = [], comparator }: PolicyLawsOptions) {
  const compare = comparator === undefined ? compareBytes : (a: Uint8Array, b: Uint8Array): number => comparator.compare(a, b);
  return (run: LawRun): void => {
    run.step(() => declarationProblem(makePolicy, tunedOtherwise));
    if (makePolicy().prefixes === undefined) return;
    // Two of the first, so that one that answers by turns differs from itself.
    const makers = [makePolicy, makePolicy, ...tunedOtherwise];
    run.overSamples(({ keys, probes, garbage }) => {
      const trials = makers.map((make) => run.trial(make));
      const [trial] = trials as [Trial];
      const asked = [...keys, ...probes];
      const problem = lengthProblem(trials, asked) ?? orderProblem(trial.prefixOf, asked, compare);
      if (problem !== undefined) return problem;
      for (const maker of trials) {
        // The second of two that the instance makes of these keys, so that what it remembers of the first matters.
        maker.filterOf(keys);
        const filter = maker.filterOf(keys);
        const [placed] = trial.place(filter);
        const before = placed!.slice();
        // Its own answers for all keys, and everybody's for those at the ends.
        for (const key of keys) {
          const prefix = maker.prefixOf(key);
          if (prefix !== undefined && !maker.asksPrefix(prefix, placed!)) return `${show(key)} was added, and its prefix ${show(prefix)} does not match`;
        }
        const some = keys.length <= 60 ? keys : [...keys.slice(0, 30), ...keys.slice(-30)];
        for (const key of some) {
          const prefix = trial.prefixOf(key);
          if (prefix === undefined) continue;
          for (const reader of trials) {
            const answer = reader.asksPrefix(prefix, placed!);
            if (!answer) return `${show(key)} was added, and its prefix ${show(prefix)} does not match`;
          }
        }
        if (!sameBytes(placed!, before)) return 'prefixMayMatch changes the filter';
        const prefixes = asked.flatMap((key) => trial.prefixOf(key) ?? []);
        const others = prefixes.slice(-12);
        const remembered = rememberedProblem(maker, [...prefixes.slice(0, 12), ...others], placed!);
        if (remembered !== undefined) return remembered;
        for (const bytes of damaged(filter, garbage)) {
          const [, lent] = trial.place(noise(20, 4), bytes);
          for (const prefix of others) {
            const answers = trials.map((reader) => wellFormed(reader, prefix, lent!));
            const wrong = answers.find((answer): answer is string => typeof answer === 'string');
            if (wrong !== undefined) return wrong;
            if (answers.some((answer) => answer !== answers[0])) return `two instances differ about prefixMayMatch(${show(prefix)}, ${show(bytes)})`;
          }
        }
      }
      return undefined;
    });
    for (const delimiter of DELIMITERS) {
      run.step((random) => {
        const keys = delimitedKeys(random, delimiter);
        return missedPrefix(run.trial(makePolicy), run.trial(makePolicy), keys, new LentKeys(keys));
      });
    }
    const keys = shortKeys(run.random, MANY_KEYS);
    const list = new LentKeys(keys);
    run.step(() => missedPrefix(run.trial(makePolicy), run.trial(makePolicy), keys, list), patienceWith(list) + 2 * ASKING_MS);
  };
}

/** Lends all prefixes of a length in one array. */
function rememberedProblem(trial: Trial, prefixes: readonly Uint8Array[], filter: Uint8Array): string | undefined {
  const answers = prefixes.map((prefix) => trial.asksPrefix(prefix, filter));
  const arrays = new Map<number, Uint8Array>();
  for (const [i, prefix] of prefixes.entries()) {
    const array = arrays.get(prefix.length) ?? new Uint8Array(prefix.length);
    arrays.set(prefix.length, array);
    array.set(prefix);
    if (trial.asksPrefixWith(array, filter) === answers[i]) continue;
    return `prefixMayMatch(${show(prefix)}, ${show(filter)}), in an array that held another prefix before, answers as it did for that one`;
  }
  return undefined;
}

/** Keys that begin alike up to a delimiter, and keys without one; prefixes of the same length follow one another, and of others. */
function delimitedKeys(random: Random, delimiter: number): Uint8Array[] {
  const keys: Uint8Array[] = [];
  while (keys.length < DELIMITED_KEYS) {
    const name = randomBytes(random, random.below(3) === 0 ? random.below(20) : 5).map((byte) => 0x61 + (byte % 26));
    for (let i = random.below(3); i >= 0; i--) {
      const rest = Uint8Array.from(String(random.below(1000)), (char) => char.charCodeAt(0));
      keys.push(random.below(8) === 0 ? name : Uint8Array.of(...name, delimiter, ...rest, ...(random.below(2) === 0 ? [delimiter] : [])));
    }
  }
  return random.below(2) === 0 ? keys : keys.sort(compareBytes);
}

/** Asks another instance than the one that made the filter for the prefixes of all keys, from the last to the first. */
function missedPrefix(maker: Trial, reader: Trial, keys: readonly Uint8Array[], list: LentKeys): string | undefined {
  const made = maker.makeFilter(list, new GuardedSink());
  const [, filter] = maker.place(noise(33, 3), made);
  const endAt = processorMs() + ASKING_MS;
  for (let i = keys.length - 1; i >= 0; i--) {
    const prefix = maker.prefixOf(keys[i]!);
    if (i % 64 === 0 && processorMs() > endAt) return undefined;
    if (prefix === undefined || reader.asksPrefix(prefix, filter!)) continue;
    return `of ${numberOf(keys.length, 'key')}, key ${i + 1}, ${show(keys[i]!)}, was added, and its prefix ${show(prefix)} does not match the filter of ${numberOf(made.length, 'byte')}`;
  }
  return undefined;
}

function wellFormed(trial: Trial, prefix: Uint8Array, filter: Uint8Array): boolean | string {
  let answer: unknown;
  try {
    answer = trial.asksPrefix(prefix, filter);
  } catch (error) {
    if (error instanceof Fault) throw error;
    return `prefixMayMatch(${show(prefix)}, ${show(filter)}) throws ${String(error)}`;
  }
  return typeof answer === 'boolean' ? answer : `prefixMayMatch(${show(prefix)}, ${show(filter)}) returns ${String(answer)}`;
}

function declarationProblem(makePolicy: () => FilterPolicy, tunedOtherwise: readonly (() => FilterPolicy)[]): string | undefined {
  const policy = makePolicy();
  const prefixes = policy.prefixes as Partial<PrefixExtractor> | null | undefined;
  if (prefixes === undefined) return policy.prefixMayMatch === undefined ? undefined : 'the policy has prefixMayMatch, but no prefixes';
  if (typeof prefixes !== 'object' || prefixes === null || typeof prefixes.prefixLength !== 'function') return 'prefixes must have a method prefixLength';
  const { name } = prefixes;
  if (typeof name !== 'string' || name === '') return 'prefixes has no name';
  if (typeof policy.prefixMayMatch !== 'function') return 'the policy has prefixes, but no prefixMayMatch';
  if (askablePrefixes(policy) === undefined) return 'prefixMayMatch is inherited from a class that does not know createFilter';
  if (!hasWhole(policy.name, name)) return `the policy's name ${policy.name} does not contain the name of its prefixes, ${name}`;
  for (const make of [makePolicy, ...tunedOtherwise]) {
    const other = make().prefixes?.name;
    if (other !== name) return `one instance has the prefixes ${name}, another ${String(other)}`;
  }
  return undefined;
}

/** Whether `name` is in `policyName`, and is not a part of a longer word or number there: `length.1` is not in `length.12`. */
function hasWhole(policyName: string, name: string): boolean {
  for (let at = policyName.indexOf(name); at >= 0; at = policyName.indexOf(name, at + 1)) {
    const isPart = (a: string | undefined, b: string | undefined): boolean => a !== undefined && b !== undefined && /^(?:\d\d|[a-z][a-z])$/.test(a + b);
    const end = at + name.length;
    if (!isPart(policyName[at - 1], name[0]) && !isPart(name.at(-1), policyName[end])) return true;
  }
  return false;
}

/** What is wrong with the prefixes of some keys: each is asked of the key, of all that begins with it, and of another instance. */
function lengthProblem(trials: readonly Trial[], keys: readonly Uint8Array[]): string | undefined {
  const [trial] = trials as [Trial];
  let longKeys = 0;
  for (const key of keys.slice(0, 80)) {
    const length = trial.prefixLength(key);
    for (const other of trials) if (other.prefixLength(key) !== length) return `two instances, or two calls, differ about the prefix of ${show(key)}`;
    if (length === undefined) continue;
    if (!(Number.isInteger(length) && length >= 0 && length <= key.length)) {
      return `prefixLength(${show(key)}) is ${String(length)}, which is not a number of its ${numberOf(key.length, 'byte')}`;
    }
    const prefix = key.slice(0, length);
    const between = key.slice(0, length + ((key.length - length) >> 1));
    const tails = longKeys === 0 ? [...TAILS, ...TAILS_OF_EVERY_BYTE] : TAILS;
    for (const longer of [prefix, between, ...tails.map((tail) => Uint8Array.of(...prefix, ...tail))]) {
      const theirs = trial.prefixLength(longer);
      if (theirs !== length) return `${show(prefix)} is the prefix of ${show(key)}, but ${show(longer)}, which begins with it, has ${theirs === undefined ? 'none' : `one of ${String(theirs)} bytes`}`;
    }
    // A length that does not fit into 16 bits, for few keys: it takes time.
    if (++longKeys > 2) continue;
    const long = new Uint8Array(length + LONG_TAIL);
    long.set(prefix);
    const theirs = trial.prefixLength(long);
    if (theirs !== length) return `${show(prefix)} is the prefix of ${show(key)}, but not of a key of ${numberOf(long.length, 'byte')} that begins with it`;
  }
  return undefined;
}

/** Keys with one prefix must follow one another. */
function orderProblem(prefixOf: (key: Uint8Array) => Uint8Array | undefined, some: readonly Uint8Array[], compare: (a: Uint8Array, b: Uint8Array) => number): string | undefined {
  const keys = some.slice(0, 120);
  for (const key of keys.slice(0, 40)) {
    const prefix = prefixOf(key);
    if (prefix !== undefined) for (const tail of TAILS) keys.push(Uint8Array.of(...prefix, ...tail));
    if (key.length > 0) keys.push(key.slice(0, -1));
  }
  const seen = new Map<string, Uint8Array>();
  let last: string | undefined;
  let lastKey: Uint8Array | undefined;
  for (const key of keys.sort(compare)) {
    const prefix = prefixOf(key);
    const text = prefix === undefined ? undefined : prefix.join();
    if (text !== undefined && text !== last && seen.has(text)) {
      return `${show(seen.get(text)!)} and ${show(key)} have the prefix ${show(prefix!)}, but ${show(lastKey!)}, between them in the order of the comparator, does not`;
    }
    if (text !== undefined) seen.set(text, key);
    last = text;
    lastKey = key;
  }
  return undefined;
}
