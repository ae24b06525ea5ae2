import { useId, useMemo } from 'preact/hooks';
import { verdictOf } from '../filter/built-filter.js';
import { KeyName } from '../filter/key-name.js';
import { BitRow } from './bit-row.js';
import { DiskPath } from './disk-path.js';
import { Guess, useGuess } from './guess.js';
import { Figure } from './highlight.js';
import { Step, useStory } from './step.js';
import { distinctBits, ROW_BITS, rowOf, targetOf, wordsOr } from './story-row.js';
import { MAX_WORD_LENGTH } from './story-state.js';
import { BitFigures } from './bit-figures.js';

export function CertainNo() {
  const [{ words, asked: typed }, change] = useStory();
  const id = useId();
  const first = wordsOr(words)[0]!;
  const row = useMemo(() => rowOf([first]), [first]);
  const proposed = useMemo(() => targetOf([first]), [first]);
  const guess = useGuess(3);
  const asked = typed === '' ? proposed : typed;
  const probing = useMemo(() => row.probingOf(asked), [row, asked]);
  const verdict = verdictOf(probing);
  // The question is about the story's word. The picture hides the answer until the reader has guessed.
  const isJudged = guess !== undefined;
  const bits = distinctBits(row, asked);
  const zeros = bits.filter((bit) => !row.isSet(bit)).length;
  const zero = probing.firstZero === undefined ? undefined : probing.probes[probing.firstZero]!.bit;
  const proposedZero = row.probingOf(proposed).probes.find(({ isSet }) => !isSet)!.bit;
  return (
    <Step
      number={3}
      title="Ask: a single 0 proves “no”"
      picture={
        <>
          <p class="picture-title">
            {isJudged && verdict === 'no' ? (
              <span class="word-no">Certainly not: bit {zero} is 0</span>
            ) : (
              <>
                Was “<KeyName name={asked} />” added?
              </>
            )}
          </p>
          <BitRow
            bits={ROW_BITS}
            isSet={(bit) => row.isSet(bit)}
            added={{ word: first, bits: distinctBits(row, first) }}
            asked={{ word: asked, bits }}
            isJudged={isJudged}
            isFalse={verdict === 'false positive'}
          />
          {isJudged && verdict === 'no' && (
            <p class="picture-note is-reason">
              Adding “<KeyName name={asked} />” would have set bit {zero} to 1, and nothing sets a bit back to 0.
            </p>
          )}
          <DiskPath outcome={!isJudged ? 'waiting' : verdict === 'no' ? 'no' : verdict === 'true positive' ? 'found' : 'wasted'} />
        </>
      }
    >
      <p>
        Suppose that “<KeyName name={first} />” is the only word on the disk, so it is the only word that was added. The program looks for “{proposed}”. Before it reads the disk, it checks the bits of “{proposed}”.
      </p>
      <Guess step={3} question={`Do these bits show that “${proposed}” is not on the disk?`} options={['Yes, for certain', 'Only probably', 'They do not']} right={0}>
        <Figure lights={[proposedZero]}>Bit {proposedZero}</Figure> is 0. If “{proposed}” had been added, it would be 1: adding a word sets all its bits to 1, and nothing sets a bit back to 0. So “no” is <strong class="word-no">certain</strong>, and{' '}
        <Figure lights={['disk']}>the disk is not read</Figure>.
      </Guess>
      {isJudged && (
        <>
          <div class="field">
            <label for={id}>Ask about any word</label>
            <div class="field-line">
              <input id={id} type="text" value={typed} maxLength={MAX_WORD_LENGTH} autocomplete="off" autocapitalize="off" spellcheck={false} onInput={({ currentTarget }) => change({ asked: currentTarget.value })} />
              <button type="button" onClick={() => change({ asked: first })}>
                Ask about “<KeyName name={first} />”
              </button>
            </div>
          </div>
          <p role="status" data-story-verdict={verdict}>
            “<KeyName name={asked} />” maps to <BitFigures bits={bits} />.{' '}
            {verdict === 'no' ? `${zeros === bits.length ? 'All' : zeros} of them ${zeros === 1 ? 'is' : 'are'} 0, and one would be enough: it was certainly not added.` : verdict === 'true positive' ? 'All of them are 1: it may be there, so the disk is read.' : 'All of them are 1, although it was never added: a wrong “maybe”, the subject of the next step.'}
          </p>
        </>
      )}
    </Step>
  );
}
