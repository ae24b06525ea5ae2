import { useId, useMemo, useRef, useState } from 'preact/hooks';
import { count, counted } from '../controls/sizes.js';
import { prefersReducedMotion } from '../shell/theme.js';
import { BitGrid } from './bit-grid.js';
import { type BuiltFilter, neededProbes, POLICY_TITLES, type Probing, verdictOf } from './built-filter.js';
import { type FilterState, MAX_KEYS } from './filter-state.js';
import type { ProbeSteps } from './probe-steps.js';
import { Verdict } from './verdict.js';

/** With more keys than these, finding those that set a bit takes longer than a frame. */
const MOST_KEYS_WITH_OWNERS = 2000;

/** As wide as a window may be whose style is that of small screens. */
const SMALL_WIDTH = 600;

interface StageProps {
  readonly state: FilterState;
  readonly filters: readonly BuiltFilter[];
  readonly probings: readonly Probing[];
  readonly steps: ProbeSteps;
  readonly message: string;
  readonly onQuery: (query: string) => void;
  readonly onAdd: (key: string) => void;
  readonly onShowAdding: () => void;
  readonly onShowNo: () => void;
  readonly onShowFalsePositive: () => void;
}

/** A key, the bits that it leads to, the answer, and the reason for it. */
export function FilterStage({ state, filters, probings, steps, message, onQuery, onAdd, onShowAdding, onShowNo, onShowFalsePositive }: StageProps) {
  const id = useId();
  const stage = useRef<HTMLElement>(null);
  const isAdded = state.keys.includes(state.query);
  const isOneOfTwo = filters.length > 1;
  const first = filters[0]!;
  const isOver = steps.shown >= steps.needed;
  const lesson = isOver ? LESSON_OF[verdictOf(probings[0]!)] : 0;
  const probes = counted(first.probes, 'bit');
  const lessons = [
    {
      title: 'Adding a key makes its bits 1',
      text: `Each key always points to the same ${probes} of the ${count(first.bits)}; a fixed calculation picks them. Adding the key makes them all 1. Nothing ever makes a bit 0 again.`,
      action: 'Add a key and watch',
      run: onShowAdding,
    },
    {
      title: 'A single 0 proves “no”',
      text: 'Was a key added? Check its bits, always the same ones. If one is 0, the key was never added: adding it would have made that bit 1.',
      action: 'Show me a certain no',
      run: onShowNo,
    },
    {
      title: 'All 1s do not prove “yes”',
      text: 'If all its bits are 1, the key may have been added. Or other keys that use the same bits made them 1. The filter cannot tell the two cases apart, so “yes” means only “probably”.',
      action: 'Show me a wrong yes',
      run: onShowFalsePositive,
    },
  ];
  const act = (run: () => void): void => {
    run();
    // What happens is to be seen, on a small screen too.
    const element = stage.current!;
    if (innerWidth <= SMALL_WIDTH) element.scrollIntoView({ behavior: prefersReducedMotion() ? 'auto' : 'smooth' });
  };
  return (
    <section ref={stage} class="card stage" aria-label="Try it">
      <ol class="lessons">
        {lessons.map(({ title, text, action, run }, i) => (
          <li key={title} class={`lesson ${lesson === i + 1 ? 'is-now' : ''}`}>
            <h2>
              <span class="lesson-number">{i + 1}</span> {title}
            </h2>
            <p>{text}</p>
            <button type="button" onClick={() => act(run)}>
              {action}
            </button>
          </li>
        ))}
      </ol>
      <div class="stage-main">
        <form
          class="check"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isAdded && state.query !== '') onAdd(state.query);
          }}
        >
          <label for={id}>Type a key to ask about it</label>
          <div class="check-line">
            <input
              id={id}
              class="check-input"
              type="text"
              value={state.query}
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              placeholder="Type any word"
              onInput={({ currentTarget }) => onQuery(currentTarget.value)}
            />
            <button type="submit" disabled={isAdded || state.query === '' || state.keys.length >= MAX_KEYS}>
              {isAdded ? 'Added' : 'Add it'}
            </button>
          </div>
        </form>
        <p role="status" class="visually-hidden-when-empty notice is-warn">
          {message}
        </p>
        <div role="status" class={isOneOfTwo ? 'side-by-side' : ''}>
          {filters.map((filter, i) => (
            <Verdict key={filter.policy} filter={filter} probing={probings[i]!} shown={steps.shown} isOneOfTwo={isOneOfTwo} />
          ))}
        </div>
        <div class={isOneOfTwo ? 'side-by-side' : ''}>
          {filters.map((filter, i) => (
            <Picture key={filter.policy} filter={filter} probing={probings[i]!} steps={steps} isOneOfTwo={isOneOfTwo} isFirst={i === 0} />
          ))}
        </div>
      </div>
    </section>
  );
}

const LESSON_OF = { 'true positive': 1, no: 2, 'false positive': 3 } as const;

interface PictureProps {
  readonly filter: BuiltFilter;
  readonly probing: Probing;
  readonly steps: ProbeSteps;
  readonly isOneOfTwo: boolean;
  /** The buttons that step stand once: they step through all pictures. */
  readonly isFirst: boolean;
}

function Picture({ filter, probing, steps, isOneOfTwo, isFirst }: PictureProps) {
  const id = useId();
  const [selected, setSelected] = useState<number>();
  const needed = neededProbes(probing);
  const shown = Math.min(steps.shown, needed);
  const owners = useMemo(() => (filter.keys.length > MOST_KEYS_WITH_OWNERS ? undefined : filter.ownersOf(probing.probes.map(({ bit }) => bit))), [filter, probing]);
  return (
    <section class="picture" aria-labelledby={`${id}-bits`}>
      <div class="picture-head">
        <h3 id={`${id}-bits`}>{isOneOfTwo ? POLICY_TITLES[filter.policy] : probing.key === '' ? 'The bits of the empty key' : `The bits of “${probing.key}”`}</h3>
        {isFirst && (
          <div class="row step-buttons">
            <button type="button" onClick={steps.play}>
              <span aria-hidden="true">▶</span> <span class="play-word">Replay</span>
            </button>
            <button type="button" disabled={steps.shown === 0} onClick={() => steps.goTo(steps.shown - 1)} aria-label="One step back">
              ←
            </button>
            <button type="button" disabled={steps.shown >= steps.needed} onClick={() => steps.goTo(steps.shown + 1)} aria-label="One step on">
              →
            </button>
          </div>
        )}
      </div>
      <ol class="probes" aria-label="Bits of the key">
        {probing.probes.map(({ bit, isSet }, i) => {
          const by = owners?.get(bit)?.filter((key) => key !== probing.key) ?? [];
          const isShown = i < shown;
          return (
            <li key={i} class={`probe ${i >= needed ? 'is-unneeded' : !isShown ? 'is-waiting' : isSet ? (isFalse(probing) && shown >= needed ? 'is-one is-false' : 'is-one') : 'is-zero'}`}>
              <span class="probe-number">{i + 1}</span>
              <span class="probe-bit">bit {count(bit)}</span>
              <span class="probe-value">{i >= needed ? '–' : isShown ? (isSet ? '1' : '0') : '?'}</span>
              <span class="probe-owner">
                {i >= needed ? 'not needed' : !isShown || (isSet && owners === undefined) ? '' : !isSet ? 'the proof' : by.length === 0 ? 'not shared' : (
                  <>
                    <span class="probe-by">by </span>
                    {by[0]}
                    {by.length > 1 && ` +${by.length - 1}`}
                  </>
                )}
              </span>
            </li>
          );
        })}
      </ol>
      <BitGrid label={isOneOfTwo ? `Bits, ${POLICY_TITLES[filter.policy]}` : 'Bits'} filter={filter} probing={probing} shownProbes={shown} selected={selected} onSelect={setSelected} />
      <div class="picture-foot">
        <p class="bit-owners small" role="status">
          {selected === undefined || selected >= filter.bits ? <span class="muted">Click a bit to see which keys made it 1.</span> : <BitOwners filter={filter} bit={selected} />}
        </p>
        <p class="legend small">
          <span>
            <span class="swatch is-set" /> 1
          </span>
          <span>
            <span class="swatch is-clear" /> 0
          </span>
          <span>
            <span class={`swatch ${isFalse(probing) ? 'is-false' : 'is-probed'}`} /> checked: 1
          </span>
          <span>
            <span class="swatch is-proof" /> checked: 0
          </span>
        </p>
      </div>
    </section>
  );
}

function isFalse(probing: Probing): boolean {
  return verdictOf(probing) === 'false positive';
}

function BitOwners({ filter, bit }: { readonly filter: BuiltFilter; readonly bit: number }) {
  const owners = useMemo(() => filter.ownersOf([bit]).get(bit)!, [filter, bit]);
  const place = `Bit ${count(bit)} (byte ${count(bit >> 3)}, bit ${bit & 7} in it)`;
  if (owners.length === 0) return <>{place} is 0: no key uses it.</>;
  const shown = owners.slice(0, 8);
  const rest = owners.length - shown.length;
  return (
    <>
      {place} was made 1 by <strong>{shown.join(', ')}</strong>
      {rest > 0 && ` and ${count(rest)} more`}.
    </>
  );
}
