import type { FilterPolicy } from '../../policy.js';
import { damaged } from '../damaged-filters.js';
import { isForeign, knownPolicies, mayMatchMore } from '../known-formats.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import type { KnownFilter, PolicyLawsOptions } from '../options.js';
import { littleEndian32 } from '../sample.js';
import { show } from '../shown-bytes.js';
import type { Trial } from '../trial.js';

/** So many keys that, at 10 bits per key, the filter's length does not fit into 16 bits. */
const MANY = 66_000;

/** Law 8: a name stands for one format. */
export function oneName(makePolicy: () => FilterPolicy, { tunedOtherwise = [], knownFilters = [] }: PolicyLawsOptions) {
  return (run: LawRun): void => {
    run.step(() => nameProblem(run, makePolicy, tunedOtherwise) ?? foreignName(makePolicy().name, knownFilters));
    for (const known of knownFilters) run.step(() => missedByKnown(run.trial(makePolicy), known));
    const { name } = makePolicy();
    const known = knownPolicies(name);
    const makers = [makePolicy, ...tunedOtherwise, ...known];
    const own = makers.length - known.length;
    /** @param stored how many of the first keys are stored. */
    const differ = (asked: readonly Uint8Array[], stored: number, filter: Uint8Array, readers: readonly Trial[]): string | undefined => {
      const placed = readers.map((reader) => reader.place(filter)[0]!);
      for (const [at, key] of asked.entries()) {
        const answers = readers.map((reader, i) => reader.asks(key, placed[i]!));
        if (answers.every((answer) => answer === answers[0])) continue;
        const isMore = answers.every((answer, i) => answer === (i < own ? answers[0] : answers[own])) && answers[0] === true;
        if (isMore && at >= stored && mayMatchMore(name)) continue;
        return `policies named ${name}${known.length > 0 ? ', a known format,' : ''} differ about keyMayMatch(${show(key)}, ${show(filter)})`;
      }
      return undefined;
    };
    run.overSamples(({ keys, probes, garbage }) => {
      const first = keys.slice(0, 60);
      const asked = [...first, ...probes];
      const readers = makers.map((make) => run.trial(make));
      for (const make of makers) {
        const problem = differ(asked, first.length, run.trial(make).filterOf(keys), readers);
        if (problem !== undefined) return problem;
      }
      if (known.length === 0) return undefined;
      const theirs = readers.at(-1)!;
      return deniesMore(readers[0]!, theirs, asked.slice(0, 6), damaged(theirs.filterOf(keys), garbage));
    });
    const many = shortKeys(run.random, MANY);
    for (const make of makers.length > 1 ? makers : []) {
      run.step(() => differ([...many.slice(0, 500), ...many.slice(-500)], 1000, run.trial(make).filterOf(many), makers.map((other) => run.trial(other))), 3000);
    }
  };
}

function nameProblem(run: LawRun, makePolicy: () => FilterPolicy, tunedOtherwise: readonly (() => FilterPolicy)[]): string | undefined {
  const trial = run.trial(makePolicy);
  const { policy } = trial;
  const { name } = policy;
  if (typeof name !== 'string' || name.length === 0) return 'the policy has no name';
  if (new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(name)) !== name) return 'the name cannot be written as UTF-8';
  for (let i = 0; i < 300; i++) {
    const [filter] = trial.place(trial.filterOf([littleEndian32(i), littleEndian32(i + 1)]));
    trial.asks(littleEndian32(i), filter!);
    if (policy.name !== name) return `the name was ${name}, and is ${policy.name} after a filter was made`;
  }
  for (const make of [makePolicy, ...tunedOtherwise]) {
    const other = make().name;
    if (other !== name) return `one instance is named ${name}, another ${other}`;
  }
  return undefined;
}

function foreignName(name: string, knownFilters: readonly KnownFilter[]): string | undefined {
  if (!isForeign(name) || knownPolicies(name).length > 0 || knownFilters.some(({ keys }) => keys.length > 0)) return undefined;
  return (
    `the name ${name} belongs to another project's filters: give the policy its own name, ` +
    'or pass filters that the other project wrote as knownFilters, to show that the policy reads them'
  );
}

function missedByKnown(trial: Trial, { keys, filter }: KnownFilter): string | undefined {
  const missed = trial.firstMissed(keys, trial.place(filter)[0]!);
  return missed === undefined ? undefined : `${show(keys[missed]!)} does not match the known filter ${show(filter)}`;
}

/** Where the format's own reader matches, on damaged bytes or reserved ones, the policy must match too: it may hide a key. */
function deniesMore(trial: Trial, known: Trial, asked: readonly Uint8Array[], filters: readonly Uint8Array[]): string | undefined {
  for (const bytes of filters) {
    const [filter] = trial.place(bytes);
    for (const key of asked) {
      if (!known.asks(key, filter!) || trial.asks(key, filter!)) continue;
      return `keyMayMatch(${show(key)}, ${show(bytes)}) is false, but ${trial.policy.name}, a known format, returns true`;
    }
  }
  return undefined;
}
