import { count, counted } from '@bloom/report';
import { useId, useMemo, useState } from 'preact/hooks';
import { neededProbes, verdictOf } from '../filter/built-filter.js';
import { KeyName } from '../filter/key-name.js';
import { useProbeSteps } from '../filter/probe-steps.js';
import { BitRow } from './bit-row.js';
import { DiskPath, READ_MS } from './disk-path.js';
import { Guess, useGuess } from './guess.js';
import { Figure } from './highlight.js';
import { Step, useStory } from './step.js';
import { distinctBits, nextWord, ROW_BITS, rowOf, targetOf, wordsOr } from './story-row.js';
import { MAX_WORD_LENGTH } from './story-state.js';

export function FalsePositive() {
  const [story, change] = useStory();
  const id = useId();
  const [typed, setTyped] = useState('');
  const words = wordsOr(story.words);
  const guess = useGuess(4);
  const target = useMemo(() => targetOf(words), [words]);
  const last = words.at(-1)!;
  const row = useMemo(() => rowOf(words), [words]);
  const before = useMemo(() => rowOf(words.slice(0, -1)), [words]);
  const addition = useMemo(() => row.additionOf(last, before), [row, before, last]);
  const steps = useProbeSteps(addition, neededProbes(addition));
  const shownBits = new Set(addition.probes.slice(0, steps.shown).map(({ bit }) => bit));
  const isOver = steps.shown >= steps.needed;
  const isSet = (bit: number): boolean => before.isSet(bit) || shownBits.has(bit);
  const bits = distinctBits(row, target);
  const found = bits.filter(isSet).length;
  const isWrong = isOver && verdictOf(row.probingOf(target)) === 'false positive';
  const owners = useMemo(() => row.ownersOf(bits), [row, target]);
  const next = nextWord(words, target);
  const add = (word: string): void => {
    if (word !== '' && !words.includes(word)) change({ words: [...words, word] });
    setTyped('');
  };
  return (
    <Step
      number={4}
      title="Make it say a wrong “maybe”"
      picture={
        <>
          <p class="picture-title">
            {isWrong ? (
              <span class="word-false">
                The filter says “maybe”, although “{target}” was never added.
              </span>
            ) : (
              <>
                “{target}” was never added: {found === 0 ? 'none' : count(found)} of its {counted(bits.length, 'bit')} {found < 2 ? 'is' : 'are'} 1
              </>
            )}
          </p>
          <BitRow
            bits={ROW_BITS}
            isSet={isSet}
            added={words.length > 1 ? { word: last, bits: [...shownBits] } : undefined}
            fresh={new Set([...shownBits].filter((bit) => !before.isSet(bit)))}
            asked={{ word: target, bits }}
            isFalse={isWrong}
          />
          {isWrong && (
            <p class="picture-note is-reason is-false">
              Other words set its bits to 1: {[...bits].sort((a, b) => a - b).map((bit) => `bit ${bit} by ${owners.get(bit)![0]}`).join(', ')}.
            </p>
          )}
          <DiskPath outcome={isWrong ? 'wasted' : 'no'} />
          <p class="row-words small">
            <strong>Added:</strong> {words.map((word, i) => [i > 0 && ', ', <KeyName key={word} name={word} />])}
          </p>
        </>
      }
    >
      <p>
        Now add more words, but never “{target}”. The <Figure lights={bits}>bits of “{target}”</Figure> are marked.
      </p>
      <Guess step={4} question={`Can the filter ever say “maybe” about “${target}”, which you never add?`} options={['Never', 'Yes']} right={1}>
        The words share one row. Once other words have set all bits of “{target}” to 1, the filter cannot tell the difference. Make it happen:
      </Guess>
      {guess !== undefined && (
        <>
          <div class="row">
            <button type="button" class={isWrong ? '' : 'is-primary'} disabled={!isOver} onClick={() => add(next)}>
              Add “{next}”
            </button>
            {words.length > 1 && (
              <button type="button" onClick={() => change({ words: words.slice(0, 1) })}>
                Remove these words
              </button>
            )}
          </div>
          <form
            class="field"
            onSubmit={(event) => {
              event.preventDefault();
              add(typed);
            }}
          >
            <label for={id}>Or add your own word</label>
            <div class="field-line">
              <input id={id} type="text" value={typed} maxLength={MAX_WORD_LENGTH} autocomplete="off" autocapitalize="off" spellcheck={false} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
              <button type="submit" disabled={typed === '' || words.includes(typed)}>
                Add it
              </button>
            </div>
          </form>
        </>
      )}
      <div role="status">
        {isWrong && (
          <p class="notice is-bad" data-story-verdict="false positive">
            <strong>A false positive.</strong> What does it cost? <Figure lights={['cost']}>One read</Figure>: {READ_MS} ms. The disk is read, “{target}” is not there, and the program says so. The program’s answer is still right; it only comes later.
          </p>
        )}
      </div>
    </Step>
  );
}
