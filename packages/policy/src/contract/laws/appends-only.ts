import { numberOf, sameBytes } from '@bloom/bytes/internal';
import type { FilterPolicy } from '../../policy.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { GuardedSink, LentKeys } from '../lending.js';
import { patienceWith, type Trial } from '../trial.js';

/** Law 7: `createFilter` only appends to the sink. */
export function appendsOnly(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    run.overSamples(({ keys, probes }) => {
      const trial = run.trial(makePolicy);
      const sink = new GuardedSink();
      const problem = appends(trial, sink, new LentKeys(keys)) ?? appends(trial, sink, new LentKeys(probes));
      if (problem !== undefined) return problem;
      const expected = run.trial(makePolicy).filterOf(keys);
      const again = trial.makeFilter(new LentKeys(keys), sink);
      return sameBytes(again, expected) ? undefined : 'the bytes that createFilter appends depend on what was appended before';
    });
    const many = new LentKeys(shortKeys(run.random, 70_000));
    run.step(() => appends(run.trial(makePolicy), new GuardedSink(), many), patienceWith(many));
  };
}

function appends(trial: Trial, sink: GuardedSink, list: LentKeys): string | undefined {
  const filter = trial.makeFilter(list, sink);
  if (list.length > 0 && filter.length === 0) return `createFilter appends no byte for ${numberOf(list.length, 'key')}`;
  return sink.outside ?? sink.late;
}
