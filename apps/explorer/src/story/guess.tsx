import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { useSession, useSessionState } from '../session/use-session.js';

interface GuessProps {
  readonly step: number;
  readonly question: ComponentChildren;
  readonly options: readonly string[];
  /** The index of the right option. */
  readonly right: number;
  /** The explanation that is shown after a guess. */
  readonly children: ComponentChildren;
}

/** The guess in a step; undefined if there is none yet. */
export function useGuess(step: number): number | undefined {
  return useSessionState(({ story }) => story.guesses[step]);
}

/** A question that the reader answers before the page shows the answer. */
export function Guess({ step, question, options, right, children }: GuessProps) {
  const session = useSession();
  const id = useId();
  const guess = useGuess(step);
  const choose = (i: number): void => {
    const { story } = session.state;
    session.change({ story: { ...story, guesses: { ...story.guesses, [step]: i } } });
  };
  return (
    <div class="guess" data-guess={step} role="group" aria-labelledby={id}>
      <p class="guess-question" id={id}>
        {question}
      </p>
      <div class="guess-options">
        {options.map((option, i) => (
          <button key={option} type="button" aria-pressed={guess === i} class={guess !== undefined && i === right ? 'is-right' : ''} onClick={() => choose(i)}>
            {option}
            {guess !== undefined && i === right && <span aria-hidden="true"> ✓</span>}
          </button>
        ))}
      </div>
      <div role="status" class="guess-answer">
        {guess !== undefined && (
          <>
            <strong>{guess === right ? 'Right.' : 'No.'}</strong> {children}
          </>
        )}
      </div>
    </div>
  );
}
