import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { Fact } from '../controls/controls.js';
import { byteSize, count, counted, percent } from '../controls/sizes.js';
import { prefersReducedMotion } from '../shell/theme.js';
import { BitGrid } from './bit-grid.js';
import { type BuiltFilter, POLICY_TITLES, type Probing, verdictOf } from './built-filter.js';
import { useDesignedRate } from './designed-rate.js';
import { FilterBytes } from './filter-bytes.js';
import { RateCurve } from './rate-curve.js';

const STEP_MS = 380;

/** The filter's answer to a key, in words. */
export function Verdict({ filter, query, isOneOfTwo }: { readonly filter: BuiltFilter; readonly query: string; readonly isOneOfTwo: boolean }) {
  const probing = useMemo(() => filter.probingOf(query), [filter, query]);
  const verdict = verdictOf(probing);
  const { firstZero, probes } = probing;
  const name = query === '' ? 'the empty key' : `“${query}”`;
  const zero = firstZero === undefined ? undefined : probes[firstZero]!;
  return (
    <div class={`verdict is-${verdict.replace(' ', '-')}`} data-policy={filter.policy} data-verdict={verdict}>
      <span class="verdict-mark" aria-hidden="true">
        {verdict === 'no' ? '✕' : verdict === 'true positive' ? '✓' : '!'}
      </span>
      <div>
        {isOneOfTwo && <p class="small muted">{POLICY_TITLES[filter.policy]}</p>}
        <p class="verdict-word">{verdict === 'no' ? 'No. That is certain.' : verdict === 'true positive' ? 'Probably yes. And it is so.' : 'Probably yes. But that is wrong.'}</p>
        <p>
          {zero !== undefined ? (
            <>
              Bit {count(zero.bit)} is 0. If {name} had been added, it would be 1.
            </>
          ) : verdict === 'true positive' ? (
            <>
              {capital(`all ${counted(distinctBits(probing), 'bit')}`)} of {name} {distinctBits(probing) === 1 ? 'is' : 'are'} 1, because you added it. The filter itself cannot tell:
              other keys could have set them.
            </>
          ) : (
            <>
              A <strong>false positive</strong>: you never added {name}, yet all of its {counted(distinctBits(probing), 'bit')} are 1. Other keys set them.
            </>
          )}
        </p>
      </div>
    </div>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function distinctBits({ probes }: Probing): number {
  return new Set(probes.map(({ bit }) => bit)).size;
}

interface BenchProps {
  readonly filter: BuiltFilter;
  readonly query: string;
  readonly settings: { readonly bitsPerKey: number; readonly expectedKeys: number; readonly hasOwnProbes: boolean };
  readonly isOneOfTwo: boolean;
}

/** One filter: its bits, how the key is looked up, how good it is, its bytes. */
export function FilterBench({ filter, query, settings, isOneOfTwo }: BenchProps) {
  const id = useId();
  const probing = useMemo(() => filter.probingOf(query), [filter, query]);
  const needed = probing.firstZero === undefined ? probing.probes.length : probing.firstZero + 1;
  const [shown, play, setShown] = useSteps(probing, needed);
  const [selected, setSelected] = useState<number>();
  const measured = useMemo(() => filter.measuredRate(), [filter]);
  const measuredRate = measured.passed / measured.asked;
  const looked = probing.probes.slice(0, shown);
  const probedBytes = useMemo(() => new Set(looked.map(({ bit }) => bit >> 3)), [probing, shown]);
  const firstZeroByte = probing.firstZero !== undefined && shown > probing.firstZero ? probing.probes[probing.firstZero]!.bit >> 3 : undefined;
  return (
    <div class="bench" data-policy={filter.policy}>
      <section class="card" aria-labelledby={`${id}-bits`}>
        <div class="card-head">
          <h2 id={`${id}-bits`}>{isOneOfTwo ? POLICY_TITLES[filter.policy] : 'The bits'}</h2>
          <p class="legend small">
            <span class="swatch is-set" /> 1 <span class="swatch is-clear" /> 0 <span class="swatch is-probed" /> looked at for this key
          </p>
        </div>
        <BitGrid label={isOneOfTwo ? `Bits, ${POLICY_TITLES[filter.policy]}` : 'Bits'} filter={filter} probing={probing} shownProbes={shown} selected={selected} onSelect={setSelected} />
        <p class="bit-owners" role="status">
          {selected === undefined || selected >= filter.bits ? (
            <span class="muted">Click a bit to see which keys set it.</span>
          ) : (
            <BitOwners filter={filter} bit={selected} />
          )}
        </p>
      </section>

      <section class="card" aria-labelledby={`${id}-steps`}>
        <div class="card-head">
          <h2 id={`${id}-steps`}>Step by step</h2>
          <div class="row">
            <button type="button" onClick={play}>
              Play
            </button>
            <button type="button" disabled={shown === 0} onClick={() => setShown(shown - 1)} aria-label="One step back">
              ←
            </button>
            <button type="button" disabled={shown >= needed} onClick={() => setShown(shown + 1)} aria-label="One step on">
              →
            </button>
          </div>
        </div>
        <Steps filter={filter} probing={probing} shown={shown} needed={needed} />
      </section>

      <section class="card" aria-labelledby={`${id}-rate`}>
        <h2 id={`${id}-rate`}>How often is its yes wrong?</h2>
        <Rates filter={filter} measured={measured} settings={settings} />
        <RateCurve filter={filter} expectedKeys={settings.expectedKeys} measured={measuredRate} />
        <p class="muted small">
          The line is an ideal filter of this size: the more keys it holds, the more bits are 1, and the more often a stranger finds all of its own set.
        </p>
      </section>

      <section class="card" aria-labelledby={`${id}-bytes`}>
        <div class="card-head">
          <h2 id={`${id}-bytes`}>The bytes in a file</h2>
          <p class="muted small">{byteSize(filter.bytes.length)}; bit 0 is the lowest of byte 0</p>
        </div>
        <FilterBytes filter={filter} probedBytes={probedBytes} firstZeroByte={firstZeroByte} />
        <p class="muted small">
          <span class="hex-byte hex-probed">00</span> looked at <span class="hex-byte hex-zero">00</span> holds the 0 that says no{' '}
          <span class="hex-byte hex-probes">{filter.probes.toString(16).padStart(2, '0')}</span> the last byte: {counted(filter.probes, 'probe')} a key
        </p>
      </section>
    </div>
  );
}

/** How many probes are shown: played one after another, or all at once where motion is not wanted. */
function useSteps(probing: Probing, needed: number): [number, () => void, (shown: number) => void] {
  const [shown, setShown] = useState(needed);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isFirst = useRef(true);
  const stop = (): void => clearTimeout(timer.current);
  const play = (): void => {
    stop();
    if (prefersReducedMotion()) {
      setShown(needed);
      return;
    }
    let step = 0;
    const advance = (): void => {
      setShown(++step);
      if (step < needed) timer.current = setTimeout(advance, STEP_MS);
    };
    setShown(0);
    timer.current = setTimeout(advance, STEP_MS / 2);
  };
  useEffect(() => {
    if (isFirst.current) setShown(needed);
    else play();
    isFirst.current = false;
    return stop;
  }, [probing]);
  const set = (count: number): void => {
    stop();
    setShown(count);
  };
  return [Math.min(shown, needed), play, set];
}

function hex8(number: number): string {
  return number.toString(16).padStart(8, '0');
}

function Steps({ filter, probing, shown, needed }: { readonly filter: BuiltFilter; readonly probing: Probing; readonly shown: number; readonly needed: number }) {
  const isBlocked = probing.line !== undefined;
  return (
    <>
      <p class="formula">
        {isBlocked ? (
          <>
            <span>
              hash <code>{hex8(probing.hash)}</code> → line <code>{probing.line}</code> of {count((filter.bytes.length - 1) / 64)}
            </span>
            <span>a second hash × 9e3779b9 for each probe; its top 9 bits choose the bit of that line</span>
          </>
        ) : (
          <>
            <span>
              h = <code>{hex8(probing.hash)}</code>
            </span>
            <span>
              delta = h rotated right by 17 = <code>{hex8(probing.delta!)}</code>
            </span>
            <span>each step: h + delta</span>
          </>
        )}
      </p>
      <div class="scrolls">
        <table class="rows steps">
          <thead>
            <tr>
              <th scope="col">Probe</th>
              <th scope="col">h</th>
              <th scope="col">{isBlocked ? 'bit' : `h mod ${count(filter.bits)}`}</th>
              <th scope="col">Byte, bit in it</th>
              <th scope="col">Finds</th>
            </tr>
          </thead>
          <tbody>
            {probing.probes.map(({ hash, bit, isSet }, i) => {
              const isShown = i < shown;
              return (
                <tr key={i} class={i >= needed ? 'is-skipped' : isShown ? (i === shown - 1 ? 'is-current' : '') : 'is-waiting'}>
                  <th scope="row">{i + 1}</th>
                  <td>
                    <code>{hex8(hash)}</code>
                  </td>
                  <td>
                    <code>{count(bit)}</code>
                  </td>
                  <td>
                    <code>
                      {count(bit >> 3)}, {bit & 7}
                    </code>
                  </td>
                  <td>
                    {i >= needed ? <span class="muted">not looked at</span> : !isShown ? '' : isSet ? <span class="found-one">1</span> : <span class="found-zero">0: never added</span>}
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

function BitOwners({ filter, bit }: { readonly filter: BuiltFilter; readonly bit: number }) {
  const owners = useMemo(() => filter.ownersOf(bit), [filter, bit]);
  const place = `Bit ${count(bit)} (byte ${count(bit >> 3)}, bit ${bit & 7} in it)`;
  if (owners.length === 0) return <>{place} is 0: none of the keys uses it.</>;
  const shown = owners.slice(0, 8);
  const rest = owners.length - shown.length;
  return (
    <>
      {place} is 1, set by <strong>{shown.join(', ')}</strong>
      {rest > 0 && ` and ${count(rest)} more`}.
    </>
  );
}

function Rates({ filter, measured, settings }: { readonly filter: BuiltFilter; readonly measured: { passed: number; asked: number }; readonly settings: BenchProps['settings'] }) {
  const { bitsPerKey, expectedKeys, hasOwnProbes } = settings;
  const designed = useDesignedRate(bitsPerKey, expectedKeys);
  const expected = filter.expectedRate();
  return (
    <dl class="facts">
      <Fact name="Bits that are 1">
        {percent(filter.setBits / filter.bits)} <small>{count(filter.setBits)} of {count(filter.bits)}</small>
      </Fact>
      <Fact name="Measured now">
        <span data-fact="measured">{percent(measured.passed / measured.asked)}</span>{' '}
        <small>
          {count(measured.passed)} of {count(measured.asked)} strangers
        </small>
      </Fact>
      <Fact name="Expected now">
        {percent(expected)} <small>with {counted(filter.keys.length, 'key')}</small>
      </Fact>
      {filter.policy === 'leveldb' && !hasOwnProbes && (
        <Fact name="When full">
          {designed.isCurrent && designed.answer !== undefined ? percent(designed.answer) : '…'} <small>with {counted(expectedKeys, 'key')}</small>
        </Fact>
      )}
      <Fact name="Probes a key">{filter.probes}</Fact>
    </dl>
  );
}
