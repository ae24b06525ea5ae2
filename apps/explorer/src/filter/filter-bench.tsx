import { useId, useMemo } from 'preact/hooks';
import { Fact } from '../controls/controls.js';
import { byteSize, count, counted, percent } from '../controls/sizes.js';
import { type BuiltFilter, neededProbes, POLICY_TITLES, type Probing } from './built-filter.js';
import { useDesignedRate } from './designed-rate.js';
import { FilterBytes } from './filter-bytes.js';
import { RateCurve } from './rate-curve.js';

interface BenchProps {
  readonly filter: BuiltFilter;
  readonly probing: Probing;
  /** How many probes are shown already. */
  readonly shown: number;
  readonly settings: { readonly bitsPerKey: number; readonly expectedKeys: number; readonly hasOwnProbes: boolean };
  readonly isOneOfTwo: boolean;
}

/** One filter in numbers: how good it is, how the key is looked up, its bytes. */
export function FilterBench({ filter, probing, shown: shownOfAll, settings, isOneOfTwo }: BenchProps) {
  const id = useId();
  const needed = neededProbes(probing);
  const shown = Math.min(shownOfAll, needed);
  const measured = useMemo(() => filter.measuredRate(), [filter]);
  const measuredRate = measured.passed / measured.asked;
  const probedBytes = useMemo(() => new Set(probing.probes.slice(0, shown).map(({ bit }) => bit >> 3)), [probing, shown]);
  const firstZeroByte = probing.firstZero !== undefined && shown > probing.firstZero ? probing.probes[probing.firstZero]!.bit >> 3 : undefined;
  return (
    <div class="bench" data-policy={filter.policy}>
      {isOneOfTwo && <h2 class="bench-title">{POLICY_TITLES[filter.policy]}</h2>}
      <section class="card bench-rate" aria-labelledby={`${id}-rate`}>
        <h2 id={`${id}-rate`}>How often is a yes wrong?</h2>
        <Rates filter={filter} measured={measured} settings={settings} />
        <RateCurve filter={filter} expectedKeys={settings.expectedKeys} measured={measuredRate} />
        <p class="muted small">
          The dot shows this filter, measured with 10,000 keys that were never added. The line shows an ideal filter of the same size. The more keys a filter holds, the more bits are 1, and the more often a key that was never added finds only 1s.
        </p>
      </section>

      <section class="card bench-steps" aria-labelledby={`${id}-steps`}>
        <h2 id={`${id}-steps`}>From the key to its bits</h2>
        <Steps filter={filter} probing={probing} shown={shown} needed={needed} />
      </section>

      <section class="card bench-bytes" aria-labelledby={`${id}-bytes`}>
        <div class="card-head">
          <h2 id={`${id}-bytes`}>The bytes in a file</h2>
          <p class="muted small">{byteSize(filter.bytes.length)}, lowest bit of byte 0 first</p>
        </div>
        <FilterBytes filter={filter} probedBytes={probedBytes} firstZeroByte={firstZeroByte} />
        <ul class="hex-legend small muted">
          <li>
            <span class="hex-byte hex-probed">00</span> checked
          </li>
          <li>
            <span class="hex-byte hex-zero">00</span> holds the 0 that proves “no”
          </li>
          <li>
            <span class="hex-byte hex-probes">{filter.probes.toString(16).padStart(2, '0')}</span> the last byte: {counted(filter.probes, 'probe')} per key
          </li>
        </ul>
      </section>
    </div>
  );
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
            <span>each probe multiplies a second hash by 9e3779b9; its top 9 bits choose a bit of that line</span>
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
              <th scope="col" aria-label="Probe">#</th>
              <th scope="col">h</th>
              <th scope="col">{isBlocked ? 'bit' : `h mod ${count(filter.bits)}`}</th>
              <th scope="col">Byte, bit</th>
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
                    {i >= needed ? <span class="muted">not checked</span> : !isShown ? '' : isSet ? <span class="found-one">1</span> : <span class="found-zero">0: never added</span>}
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

function Rates({ filter, measured, settings }: { readonly filter: BuiltFilter; readonly measured: { passed: number; asked: number }; readonly settings: BenchProps['settings'] }) {
  const { bitsPerKey, expectedKeys, hasOwnProbes } = settings;
  const designed = useDesignedRate(bitsPerKey, expectedKeys);
  const expected = filter.expectedRate();
  return (
    <dl class="facts">
      <Fact name="Bits that are 1">
        {percent(filter.setBits / filter.bits)} <small>{count(filter.setBits)} of {count(filter.bits)}</small>
      </Fact>
      <Fact name="This filter, measured">
        <span data-fact="measured">{percent(measured.passed / measured.asked)}</span>{' '}
        <small>
          {count(measured.passed)} of {count(measured.asked)} absent keys
        </small>
      </Fact>
      <Fact name="An ideal filter">
        {percent(expected)} <small>with {counted(filter.keys.length, 'key')}</small>
      </Fact>
      {filter.policy === 'leveldb' && !hasOwnProbes && (
        <Fact name="LevelDB’s, on average">
          {designed.isCurrent && designed.answer !== undefined ? percent(designed.answer) : '…'} <small>with {counted(expectedKeys, 'key')}</small>
        </Fact>
      )}
      <Fact name="Probes per key">{filter.probes}</Fact>
    </dl>
  );
}
