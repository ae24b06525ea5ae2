import { type FilterPolicy, mayAskForMany } from '../../policy.js';
import { damaged } from '../garbage.js';
import { shortKeys } from '../large-lists.js';
import type { LawRun } from '../law-run.js';
import { LentKeys, noise } from '../lending.js';
import { show } from '../show.js';
import type { Trial } from '../trial.js';

/** More keys than a kernel's memory may take at once, and a number that is no multiple of the lanes of a vector. */
const MANY = 70_003;
/** What stands behind the answers, and must stay. */
const BEHIND = 0x5a;

export function manyKeysAsOne(makePolicy: () => FilterPolicy) {
  return (run: LawRun): void => {
    if (makePolicy().keysMayMatch === undefined) return;
    run.step(() => (mayAskForMany(makePolicy()) ? undefined : 'keysMayMatch is inherited from a class that does not know keyMayMatch'));
    run.overSamples(({ keys, probes, garbage }) => {
      const trial = run.trial(makePolicy);
      const asked = [...probes.slice(0, 8), new Uint8Array(0), ...keys.slice(0, 8)];
      for (const bytes of damaged(trial.filterOf(keys), garbage)) {
        const [, filter] = trial.place(noise(20, 4), bytes);
        const problem = differs(trial, asked, filter!);
        if (problem !== undefined) return problem;
      }
      const own = differs(trial, [...keys.slice(0, 150), ...probes], trial.place(trial.filterOf(keys))[0]!);
      if (own !== undefined) return own;
      return differs(trial, [], trial.place(trial.filterOf(keys))[0]!);
    });
    const many = shortKeys(run.random, MANY);
    run.step(() => {
      const trial = run.trial(makePolicy);
      return differs(trial, many, trial.place(trial.filterOf(many.filter((_, i) => i % 2 === 0)))[0]!);
    }, 3000);
  };
}

/** Whether the policy says something else of many keys, in lists that lie in memory in various ways, than of each. */
function differs(trial: Trial, asked: readonly Uint8Array[], filter: Uint8Array): string | undefined {
  const { policy } = trial;
  const before = filter.slice();
  const list = new LentKeys(asked, { lead: 3, first: asked.length % 2, noiseSeed: asked.length + 1 });
  const lent = list.bytes.slice();
  const call = `keysMayMatch of ${asked.length} keys and ${show(before)}`;
  const answers = noise(asked.length + 3, 9).fill(BEHIND, asked.length);
  const returned: unknown = policy.keysMayMatch!(list, filter, answers);
  if (returned !== answers) return `${call} does not return the answers that it was given`;
  for (const [i, key] of asked.entries()) {
    const expected = trial.asks(key, filter) ? 1 : 0;
    if (answers[i] !== expected) return `${call} says ${answers[i]} of ${show(key)}, key ${i}, and keyMayMatch ${expected === 1}`;
  }
  if (answers.subarray(asked.length).some((byte) => byte !== BEHIND)) return `${call} changes what is behind the answers`;
  if (filter.some((byte, i) => byte !== before[i]) || list.bytes.some((byte, i) => byte !== lent[i])) return `${call} changes what it was lent`;
  const own: unknown = policy.keysMayMatch!(list, filter);
  if (!(own instanceof Uint8Array) || own.length !== asked.length || own.some((answer, i) => answer !== answers[i])) return `${call} without answers returns others`;
  return undefined;
}
