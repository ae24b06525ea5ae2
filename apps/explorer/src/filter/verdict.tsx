import { count, counted } from '@bloom/report';
import { type BuiltFilter, neededProbes, POLICY_TITLES, type Probing, verdictOf } from './built-filter.js';
import { KeyName } from './key-name.js';

const WORDS = {
  added: 'Added.',
  no: 'Certainly not.',
  'true positive': 'Maybe.',
  'false positive': 'Maybe, but this time it is wrong.',
} as const;

interface VerdictProps {
  readonly filter: BuiltFilter;
  readonly probing: Probing;
  /** The number of probes shown so far. */
  readonly shown: number;
  readonly isOneOfTwo: boolean;
}

/** The filter's answer for a key as text; during the animation, the result of the last probe. */
export function Verdict({ filter, probing, shown, isOneOfTwo }: VerdictProps) {
  const { kind, key, probes, firstZero } = probing;
  const title = isOneOfTwo && <p class="small muted">{POLICY_TITLES[filter.policy]}</p>;
  if (shown < neededProbes(probing)) {
    const last = probes[shown - 1];
    return (
      <div class="verdict is-looking" aria-hidden="true">
        {title}
        <p class="verdict-word">{kind === 'adding' ? 'Adding…' : 'Looking…'}</p>
        <p>{kind === 'adding' ? (last === undefined ? `The key maps to ${counted(probes.length, 'bit')}. Each of them becomes 1.` : last.isSet ? `Bit ${count(last.bit)} is already 1 and stays 1.` : `Bit ${count(last.bit)} was 0. Now it is 1.`) : last === undefined ? `The key maps to ${counted(probes.length, 'bit')}. Are they all 1?` : `Bit ${count(last.bit)} is 1. That proves nothing yet, so look at the next one.`}</p>
      </div>
    );
  }
  const verdict = verdictOf(probing);
  const name = (
    <>
      “<KeyName name={key} />”
    </>
  );
  const added = new Set(probes.filter(({ isSet }) => !isSet).map(({ bit }) => bit)).size;
  const bits = new Set(probes.map(({ bit }) => bit)).size;
  return (
    <div class={`verdict is-${verdict.replace(' ', '-')}`} data-policy={filter.policy} data-verdict={verdict}>
      {title}
      <p class="verdict-word">{WORDS[verdict]}</p>
      <p>
        {verdict === 'added' ? (
          <>
            {bits === 1 ? 'The bit' : `All ${count(bits)} bits`} of {name} {bits === 1 ? 'is' : 'are'} now 1: {count(added)} {added === 1 ? 'was' : 'were'} 0 before
            {added < bits && <>, {count(bits - added)} {bits - added === 1 ? 'was' : 'were'} already 1 because of other keys</>}. Nothing sets them back to 0. Ask about {name}, and the answer is maybe.
          </>
        ) : verdict === 'no' ? (
          <>
            Bit {count(probes[firstZero!]!.bit)} is still 0. Adding {name} would have set it to 1. So {name} was never added.
          </>
        ) : verdict === 'true positive' ? (
          <>
            {bits === 1 ? 'The only bit' : `All ${count(bits)} bits`} of {name} {bits === 1 ? 'is' : 'are'} 1. You did add it, so this maybe is right. But the filter cannot be sure: it sees only bits, and other keys set bits to 1 too.
          </>
        ) : (
          <>
            You never added {name}. {bits === 1 ? 'Its bit is' : `Its ${count(bits)} bits are`} 1 only because other keys set {bits === 1 ? 'it' : 'them'} to 1. This is called a <strong>false positive</strong>.
          </>
        )}
      </p>
    </div>
  );
}
