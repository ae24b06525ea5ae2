import { counted } from '@bloom/report';
import { useId, useMemo, useState } from 'preact/hooks';
import { KeyName } from '../filter/key-name.js';
import { useProbeSteps } from '../filter/probe-steps.js';
import { BitRow } from './bit-row.js';
import { Guess } from './guess.js';
import { Figure } from './highlight.js';
import { Step, useStory } from './step.js';
import { distinctBits, FIRST_WORD, ROW_BITS, rowOf } from './story-row.js';
import { MAX_WORD_LENGTH } from './story-state.js';
import { BitFigures } from './bit-figures.js';

export function FirstWord() {
  const [{ words }, change] = useStory();
  const id = useId();
  const [typed, setTyped] = useState(words[0] ?? FIRST_WORD);
  const first = words[0];
  const row = useMemo(() => rowOf(first === undefined ? [] : [first]), [first]);
  const bits = useMemo(() => (first === undefined ? [] : distinctBits(row, first)), [row, first]);
  const steps = useProbeSteps(first, bits.length);
  const shown = bits.slice(0, steps.shown);
  return (
    <Step
      number={2}
      title={`Remember words in ${ROW_BITS} bits`}
      picture={
        <>
          <p class="picture-title">A row of bits, in memory</p>
          <BitRow
            bits={ROW_BITS}
            isSet={(bit) => shown.includes(bit)}
            added={first === undefined ? undefined : { word: first, bits: shown }}
            fresh={new Set(shown)}
          />
          <p class="picture-note">{first === undefined ? 'Every bit is 0. Nothing has been added.' : steps.shown < bits.length ? 'Adding…' : `${counted(bits.length, 'bit')} of ${ROW_BITS} turned from 0 to 1.`}</p>
        </>
      }
    >
      <p>
        A bit is a box that holds 0 or 1. Keep <Figure lights={['row']}>{ROW_BITS} bits</Figure>, numbered from 0 to {ROW_BITS - 1}, in memory, where checking them takes almost no time. All are 0. Each word that is stored on the disk is also added here.
      </p>
      <Guess step={2} question="How many bits does it take to add a word?" options={['one for each letter', '3', `all ${ROW_BITS}`]} right={1}>
        Here it is three, however long the word is. A fixed calculation, a <em>hash</em>, picks them, so the same word always maps to the same bits. Try it.
      </Guess>
      <form
        class="field"
        onSubmit={(event) => {
          event.preventDefault();
          if (typed !== '') change({ words: [typed], asked: '' });
        }}
      >
        <label for={id}>Your first word</label>
        <div class="field-line">
          <input id={id} type="text" value={typed} maxLength={MAX_WORD_LENGTH} autocomplete="off" autocapitalize="off" spellcheck={false} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
          <button type="submit" class={first === undefined ? 'is-primary' : ''} disabled={typed === ''}>
            {first === undefined ? 'Add it' : 'Clear and add this word'}
          </button>
        </div>
      </form>
      <div role="status">
        {first !== undefined && (
          <p>
            “<KeyName name={first} />” maps to <BitFigures bits={bits} />
            {bits.length < 3 && (bits.length === 1 ? ', three times: in such a short row, that happens' : ', one of them twice: in such a short row, that happens')}. Those bits are 1 now. The word itself is not stored.
          </p>
        )}
      </div>
    </Step>
  );
}
