import { useMemo } from 'preact/hooks';
import { Segmented } from '../controls/controls.js';
import { KeyName } from '../filter/key-name.js';
import { BitRow } from './bit-row.js';
import { Guess, useGuess } from './guess.js';
import { Figure } from './highlight.js';
import { Step, useStory } from './step.js';
import { useNear } from '../controls/use-near.js';

const STORED = 'Candide';
const ASKED = 'Candide ';

export function TrailingSpace() {
  const [{ ignoresSpaces }, change] = useStory();
  const hasGuessed = useGuess(7) !== undefined;
  const { ref, loaded, problem } = useNear(() => import('./equal-keys.js'));
  const keys = useMemo(() => loaded?.askAnotherForm(STORED, ASKED, ignoresSpaces && hasGuessed), [loaded, ignoresSpaces, hasGuessed]);
  const refusal = useMemo(() => loaded?.refusal(), [loaded]);
  const zero = keys?.askedBits.find((bit) => !keys.storedBits.includes(bit));
  return (
    <Step
      number={7}
      title="A trap: one space too many"
      picture={
        <div ref={ref} class="near">
          {problem !== undefined && (
            <p role="alert" class="notice is-bad">
              This step could not be loaded: {problem}.
            </p>
          )}
          {keys !== undefined && (
            <>
              <p class="same-key">
                To the table, “<KeyName name={STORED} />” and “<KeyName name={ASKED} />” are <strong>{keys.isSameKey ? 'the same key' : 'two keys'}</strong>.
              </p>
              <BitRow bits={keys.bits} isSet={(bit) => keys.storedBits.includes(bit)} added={{ word: STORED, bits: keys.storedBits }} asked={{ word: ASKED, bits: keys.askedBits }} isJudged={hasGuessed} isFalse={!keys.mayMatch} />
              <p class={`picture-note is-reason ${!hasGuessed ? '' : keys.mayMatch ? 'is-no' : 'is-false'}`} data-fact="space-answer">
                {!hasGuessed ? 'What will the filter say?' : keys.mayMatch ? 'The filter: “Maybe.” The book is found.' : 'The filter: “No.” The book is there but is not found.'}
              </p>
            </>
          )}
        </div>
      }
    >
      <p>
        “No” is certain only for exactly the spelling that was added, spaces included. But a table can have its own rule for which keys are equal. In this table of book titles, spaces at the end, shown as ␣, do not count. It stores “{STORED}”. Somebody asks for “<KeyName name={ASKED} />”.
      </p>
      <Guess step={7} question="What does the filter say?" options={['“Maybe”: it is there', '“No”: it is not there']} right={1}>
        To the filter, a space is a character like any other: with it, the hash picks other bits{zero !== undefined && !ignoresSpaces && (
          <>
            , and <Figure lights={[zero]}>bit {zero}</Figure> is 0
          </>
        )}
        . The filter hides a book that is there. The solution is a filter that follows the table’s rule. Switch to it:
      </Guess>
      {hasGuessed && (
        <>
          <Segmented
            legend="The filter hashes titles"
            name="story-spaces"
            value={ignoresSpaces ? 'without' : 'with'}
            options={[
              ['with', 'as they are'],
              ['without', 'without spaces at the end'],
            ]}
            onChange={(value) => change({ ignoresSpaces: value === 'without' })}
          />
          <p>LevelDB’s documentation warns of this trap, but LevelDB cannot detect it. In Bloom, a table’s comparator and its filter policy both declare what they ignore. If they differ, Bloom does not write the table.</p>
          <details>
            <summary>The error that a programmer gets</summary>
            <p class="refusal mono small">{refusal}</p>
          </details>
        </>
      )}
    </Step>
  );
}
