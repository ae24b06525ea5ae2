import { LINE_BYTES } from '@bloom/policy-blocked';
import { count, counted } from '@bloom/report';
import { Fragment } from 'preact';
import { useId, useMemo, useRef, useState } from 'preact/hooks';
import { prefersReducedMotion } from '../shell/theme.js';
import { BitGrid } from './bit-grid.js';
import { type BuiltFilter, neededProbes, POLICY_TITLES, type Probing, verdictOf } from './built-filter.js';
import { KeyName, spaceWarning } from './key-name.js';
import { type FilterState, MAX_KEYS } from './filter-state.js';
import type { ProbeSteps } from './probe-steps.js';
import { Verdict } from './verdict.js';

/** With more keys than this, the keys that set a bit are not shown: finding them would delay the animation. */
const MOST_KEYS_WITH_OWNERS = 2000;

const LINE_BITS = LINE_BYTES * 8;

/** The number of bits that are listed. If the answer needs more, these are listed too. */
const MOST_TILES = 9;

/** Windows up to this width have the style of small screens. */
const SMALL_WIDTH = 600;

interface StageProps {
  readonly state: FilterState;
  readonly filters: readonly BuiltFilter[];
  /** The filters before the key, while a key is being added. */
  readonly before: readonly BuiltFilter[] | undefined;
  readonly probings: readonly Probing[];
  readonly steps: ProbeSteps;
  readonly message: string;
  readonly onQuery: (query: string) => void;
  readonly onAdd: (key: string) => void;
  readonly onShowAdding: () => void;
  readonly onShowNo: () => void;
  readonly onShowFalsePositive: () => void;
}

/** A key, its bits, the answer, and the reason for it. */
export function FilterStage({ state, filters, before, probings, steps, message, onQuery, onAdd, onShowAdding, onShowNo, onShowFalsePositive }: StageProps) {
  const id = useId();
  const stage = useRef<HTMLElement>(null);
  const isAdded = state.keys.includes(state.query);
  const isOneOfTwo = filters.length > 1;
  const first = filters[0]!;
  const isOver = steps.shown >= steps.needed;
  const isEmpty = state.query === '';
  const lesson = isEmpty || state.isAdding ? 1 : isOver ? LESSON_OF[verdictOf(probings[0]!)] : 0;
  const warning = spaceWarning(state.query);
  const probes = counted(first.probes, 'bit');
  const lessons = [
    {
      title: 'Adding a key sets its bits to 1',
      text: `Each key always maps to the same ${probes} of the ${count(first.bits)}; a fixed calculation picks them. Adding the key sets them all to 1. Nothing ever sets a bit back to 0.`,
      action: 'Add a key and watch',
      run: onShowAdding,
    },
    {
      title: 'A single 0 proves “no”',
      text: 'Was a key added? Check its bits, which are always the same. If one is 0, the key was never added: adding it would have set that bit to 1.',
      action: 'Show me a certain no',
      run: onShowNo,
    },
    {
      title: 'All 1s prove nothing: “maybe”',
      text: 'If all its bits are 1, the key may have been added. Or other keys that use the same bits set them to 1. The filter cannot tell the two cases apart, so it answers “maybe”.',
      action: 'Show me a wrong maybe',
      run: onShowFalsePositive,
    },
  ];
  const act = (run: () => void): void => {
    run();
    // Scrolls on small screens, so that the result is visible.
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
        <AddedWords keys={state.keys} query={state.query} />
        <form
          class="check"
          onSubmit={(event) => {
            event.preventDefault();
            if (isEmpty) return;
            if (isAdded) onQuery(state.query);
            else onAdd(state.query);
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
            <button type="submit" disabled={isEmpty || (isAdded && !state.isAdding) || state.keys.length >= MAX_KEYS}>
              {isAdded ? (state.isAdding ? 'Ask about it' : 'Added') : 'Add it'}
            </button>
          </div>
          {warning !== undefined && <p class="small muted">{warning}</p>}
        </form>
        <p role="status" class="visually-hidden-when-empty notice is-warn">
          {message}
        </p>
        <div role="status" class={isOneOfTwo ? 'side-by-side' : ''}>
          {isEmpty ? (
            <div class="verdict is-question">
              <p class="verdict-word">Is “{GUESS}” one of them?</p>
              <p>The filter cannot read the list. It has only the {count(first.bits)} bits below. What will it say?</p>
              <button type="button" class="is-primary" onClick={() => onQuery(GUESS)}>
                Ask about “{GUESS}”
              </button>
            </div>
          ) : (
            filters.map((filter, i) => <Verdict key={filter.policy} filter={filter} probing={probings[i]!} shown={steps.shown} isOneOfTwo={isOneOfTwo} />)
          )}
        </div>
        <div class={isOneOfTwo ? 'side-by-side' : ''}>
          {filters.map((filter, i) => (
            <Picture key={filter.policy} filter={filter} before={before?.[i]} probing={probings[i]!} steps={steps} isOneOfTwo={isOneOfTwo} isFirst={i === 0} />
          ))}
        </div>
      </div>
    </section>
  );
}

const LESSON_OF = { added: 1, no: 2, 'true positive': 3, 'false positive': 3 } as const;

/** The key that the page asks about first. */
const GUESS = 'pear';
/** The number of added words that are named. */
const NAMED_WORDS = 14;

/** The keys in the filter, abbreviated. */
function AddedWords({ keys, query }: { readonly keys: readonly string[]; readonly query: string }) {
  // The key in question, or the last added key, is always named.
  const last = keys.includes(query) ? query : undefined;
  const named = keys.length <= NAMED_WORDS ? keys : [...keys.slice(0, NAMED_WORDS - 1).filter((key) => key !== last), ...(last === undefined ? [] : [last])];
  const rest = keys.length - named.length;
  return (
    <p class="added-words">
      {keys.length === 0 ? (
        <strong>No key has been added yet.</strong>
      ) : (
        <>
          <strong>{counted(keys.length, 'key was', 'keys were')} added:</strong>{' '}
          {named.map((key, i) => (
            <Fragment key={key}>
              {i > 0 && ', '}
              <span class={key === query ? 'is-asked' : ''}>
                <KeyName name={key} />
              </span>
            </Fragment>
          ))}
          {rest > 0 && ` and ${count(rest)} more`}.
        </>
      )}
    </p>
  );
}

interface PictureProps {
  readonly filter: BuiltFilter;
  readonly before: BuiltFilter | undefined;
  readonly probing: Probing;
  readonly steps: ProbeSteps;
  readonly isOneOfTwo: boolean;
  /** Only the first picture has the step buttons, which control all pictures. */
  readonly isFirst: boolean;
}

function Picture({ filter, before, probing, steps, isOneOfTwo, isFirst }: PictureProps) {
  const id = useId();
  const [selected, setSelected] = useState<number>();
  const needed = neededProbes(probing);
  const isAsked = probing.key !== '';
  const isAdding = probing.kind === 'adding';
  const tiles = probing.probes.length <= MOST_TILES ? probing.probes.length : Math.max(needed, MOST_TILES);
  const shown = isAsked ? Math.min(steps.shown, needed) : 0;
  const owners = useMemo(() => (filter.keys.length > MOST_KEYS_WITH_OWNERS ? undefined : filter.ownersOf(probing.probes.map(({ bit }) => bit))), [filter, probing]);
  return (
    <section class="picture" aria-labelledby={`${id}-bits`}>
      <div class="picture-head">
        <h3 id={`${id}-bits`}>{isOneOfTwo ? POLICY_TITLES[filter.policy] : !isAsked ? 'Everything that the filter stores' : <>The bits of “<KeyName name={probing.key} />”</>}</h3>
        {isFirst && isAsked && (
          <div class="row step-buttons">
            <button type="button" onClick={steps.play}>
              <span aria-hidden="true">▶</span> <span class="play-word">Replay</span>
            </button>
            <button type="button" disabled={steps.shown === 0} onClick={() => steps.goTo(steps.shown - 1)} aria-label="One step back">
              ←
            </button>
            <button type="button" disabled={steps.shown >= steps.needed} onClick={() => steps.goTo(steps.shown + 1)} aria-label="One step forward">
              →
            </button>
          </div>
        )}
      </div>
      {isAsked && <ol class="probes" aria-label="Bits of the key">
        {probing.probes.slice(0, tiles).map(({ bit, isSet }, i) => {
          const by = owners?.get(bit)?.filter((key) => key !== probing.key) ?? [];
          const isShown = i < shown;
          if (isAdding) return <AddedBit key={i} number={i + 1} bit={bit} wasSet={isSet} isShown={isShown} by={by} />;
          return (
            <li key={i} class={`probe ${i >= needed ? 'is-unneeded' : !isShown ? 'is-waiting' : isSet ? (isFalse(probing) && shown >= needed ? 'is-one is-false' : 'is-one') : 'is-zero'}`}>
              <span class="probe-number">{i + 1}</span>
              <span class="probe-bit">bit {count(bit)}</span>
              <span class="probe-value">{i >= needed ? '–' : isShown ? (isSet ? '1' : '0') : '?'}</span>
              <span class="probe-owner">
                {i >= needed ? 'not needed' : !isShown || (isSet && owners === undefined) ? '' : !isSet ? 'the proof' : by.length === 0 ? 'not shared' : (
                  <>
                    <span class="probe-by">by </span>
                    <KeyName name={by[0]!} />
                    {by.length > 1 && ` +${by.length - 1}`}
                  </>
                )}
              </span>
            </li>
          );
        })}
        {tiles < probing.probes.length && <li class="probe is-unneeded is-rest">and {counted(probing.probes.length - tiles, 'more bit')}, not needed</li>}
      </ol>}
      <BitGrid label={isOneOfTwo ? `Bits, ${POLICY_TITLES[filter.policy]}` : 'Bits'} filter={filter} before={before} probing={isAsked ? probing : undefined} shownProbes={shown} selected={selected} onSelect={setSelected} />
      <div class="picture-foot">
        <p class="bit-owners small" role="status">
          {selected === undefined || selected >= filter.bits ? <span class="muted">Click a bit to see which keys set it to 1.</span> : <BitOwners filter={filter} bit={selected} />}
        </p>
        <p class="legend small">
          <span>
            <span class="swatch is-set" /> 1
          </span>
          <span>
            <span class="swatch is-clear" /> 0
          </span>
          {isAdding ? (
            <>
              <span>
                <span class="swatch is-new" /> set to 1 now
              </span>
              <span>
                <span class="swatch is-probed" /> was already 1
              </span>
            </>
          ) : (
            <>
              <span>
                <span class={`swatch ${isFalse(probing) ? 'is-false' : 'is-probed'}`} /> checked: 1
              </span>
              <span>
                <span class="swatch is-proof" /> checked: 0
              </span>
            </>
          )}
          {filter.bits >= LINE_BITS && <span>each row of 64 bytes: a cache line</span>}
        </p>
      </div>
    </section>
  );
}

/** A bit of a key that is being added. */
function AddedBit({ number, bit, wasSet, isShown, by }: { readonly number: number; readonly bit: number; readonly wasSet: boolean; readonly isShown: boolean; readonly by: readonly string[] }) {
  return (
    <li class={`probe ${!isShown ? 'is-waiting' : wasSet ? 'is-one' : 'is-new'}`}>
      <span class="probe-number">{number}</span>
      <span class="probe-bit">bit {count(bit)}</span>
      <span class="probe-value">{!isShown ? '?' : wasSet ? '1' : '0→1'}</span>
      <span class="probe-owner">
        {!isShown ? '' : !wasSet ? 'set to 1 now' : by.length === 0 ? 'already 1' : (
          <>
            already 1, by <KeyName name={by[0]!} />
          </>
        )}
      </span>
    </li>
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
      {place} was set to 1 by{' '}
      <strong>
        {shown.map((key, i) => (
          <Fragment key={key}>
            {i > 0 && ', '}
            <KeyName name={key} />
          </Fragment>
        ))}
      </strong>
      {rest > 0 && ` and ${count(rest)} more`}.
    </>
  );
}
