import { BloomFilterPolicy, buildFilter, probesFor } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import { useId, useMemo } from 'preact/hooks';
import { byteSize } from '../controls/sizes.js';
import { KEY_SAMPLES } from '../filter/key-samples.js';
import { READ_MS } from './disk-path.js';
import { Guess, useGuess } from './guess.js';
import { Figure, useLit } from './highlight.js';
import { Step, useStory } from './step.js';
import { FEW_BITS, MOST_BITS, USUAL_BITS } from './story-state.js';

const KEYS = 1000;
const COLUMNS = 40;
const PITCH = 10;
const encoder = new TextEncoder();

const stored = (): Uint8Array[] => {
  const fruit = KEY_SAMPLES.fruit.keys();
  const pairs = KEY_SAMPLES.cities.keys().flatMap((city) => fruit.flatMap((name) => [`${city} ${name}`, `${name} ${city}`]));
  return pairs.slice(0, KEYS).map((key) => encoder.encode(key));
};
const absent = (): Uint8Array[] => Array.from({ length: KEYS }, (_, i) => encoder.encode(`stranger ${i + 1}`));

/** The absent keys for which a filter with this number of bits per key answers “maybe”. */
function passedBy(bitsPerKey: number, keys: readonly Uint8Array[], strangers: readonly Uint8Array[]): { readonly byteLength: number; readonly passed: ReadonlySet<number> } {
  const policy = new BloomFilterPolicy(bitsPerKey);
  const filter = buildFilter(policy, keys);
  return { byteLength: filter.length, passed: new Set(strangers.flatMap((key, i) => (policy.keyMayMatch(key, filter) ? [i] : []))) };
}

export function BitsPerKey() {
  const [{ bitsPerKey: chosen }, change] = useStory();
  const id = useId();
  const keys = useMemo(stored, []);
  const strangers = useMemo(absent, []);
  const hasGuessed = useGuess(5) !== undefined;
  const bitsPerKey = hasGuessed ? chosen : FEW_BITS;
  const few = useMemo(() => passedBy(FEW_BITS, keys, strangers).passed.size, []);
  const usual = useMemo(() => passedBy(USUAL_BITS, keys, strangers).passed.size, []);
  const { byteLength, passed } = useMemo(() => passedBy(bitsPerKey, keys, strangers), [bitsPerKey]);
  return (
    <Step
      number={5}
      title="A few more bits, far fewer mistakes"
      picture={
        <>
          <p class="picture-title">
            <span class="word-false" data-fact="wrong">
              {count(passed.size)}
            </span>{' '}
            of {count(KEYS)} absent keys cost a read
          </p>
          <Dots passed={passed} />
          <ul class="legend small" aria-label="Dots">
            <li>
              <span class="dot-swatch is-wrong" aria-hidden="true" /> a wrong “maybe”: {READ_MS} ms wasted
            </li>
            <li>
              <span class="dot-swatch" aria-hidden="true" /> a certain “no”: the disk is not read
            </li>
          </ul>
          <div class="field">
            <label for={id}>
              <span data-fact="story-bits">{counted(bitsPerKey, 'bit')}</span> for each key
            </label>
            <input id={id} type="range" min={1} max={MOST_BITS} step={1} value={bitsPerKey} disabled={!hasGuessed} aria-valuetext={`${counted(bitsPerKey, 'bit')} for each key: ${count(passed.size)} of ${count(KEYS)} absent keys cost a read`} onInput={({ currentTarget }) => change({ bitsPerKey: Number(currentTarget.value) })} />
          </div>
          <dl class="facts">
            <div>
              <dt>Memory</dt>
              <dd>{byteSize(byteLength)}</dd>
            </div>
            <div>
              <dt>Wasted disk time</dt>
              <dd>
                {seconds(passed.size)} <small>without a filter: {seconds(KEYS)}</small>
              </dd>
            </div>
          </dl>
        </>
      }
    >
      <p>
        These are real filters with {count(KEYS)} keys, which is what a database calls the words that are looked up. The filter is asked about another {count(KEYS)} keys, which are all absent. Each dot is one of them. With {counted(FEW_BITS, 'bit')} of memory for each key, <Figure lights={['wrong']}>{count(few)}</Figure> get a wrong “maybe”.
      </p>
      <Guess step={5} question={`Twice the memory: ${USUAL_BITS} bits for each key. How many wrong answers are left?`} options={['about half', 'about a tenth', 'none']} right={1}>
        With {counted(USUAL_BITS, 'bit')}, {count(usual)} of {count(few)} are left. Each key can set {probesFor(USUAL_BITS)} bits to 1 instead of {probesFor(FEW_BITS)}, so {probesFor(USUAL_BITS)} are checked, and a single 0 among them means “no”. The slider is at {counted(bitsPerKey, 'bit')}, with <Figure lights={['wrong']}>{count(passed.size)}</Figure> wrong answers: drag it.
      </Guess>
      {hasGuessed && (
        <div class="row">
          {[FEW_BITS, USUAL_BITS, 16].map((bits) => (
            <button key={bits} type="button" aria-pressed={bitsPerKey === bits} onClick={() => change({ bitsPerKey: bits })}>
              {counted(bits, 'bit')}
            </button>
          ))}
        </div>
      )}
    </Step>
  );
}

function seconds(reads: number): string {
  const ms = reads * READ_MS;
  return ms < 1000 ? `${count(ms)} ms` : `${count(ms / 1000)} s`;
}

/** All dots of a kind are one path, because a thousand elements would make the slider slow. */
function Dots({ passed }: { readonly passed: ReadonlySet<number> }) {
  const lit = useLit();
  const path = (isWanted: (i: number) => boolean): string => {
    let d = '';
    for (let i = 0; i < KEYS; i++) if (isWanted(i)) d += `M${(i % COLUMNS) * PITCH + PITCH / 2} ${Math.floor(i / COLUMNS) * PITCH + PITCH / 2}h0`;
    return d;
  };
  return (
    <svg class={`dots ${lit.has('wrong') ? 'is-lit' : ''}`} viewBox={`0 0 ${COLUMNS * PITCH} ${(KEYS / COLUMNS) * PITCH}`} role="img" aria-label={`${count(KEYS)} absent keys: ${count(passed.size)} get a wrong “maybe”, all others a certain “no”.`}>
      <path class="dots-right" d={path((i) => !passed.has(i))} />
      <path class="dots-wrong" d={path((i) => passed.has(i))} />
    </svg>
  );
}
