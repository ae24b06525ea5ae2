import { count, counted, hexNumber } from '@bloom/report';
import { useMemo } from 'preact/hooks';
import { byteSize } from '../controls/sizes.js';
import { type BuiltFilter, neededProbes, POLICY_TITLES, type Probing } from './built-filter.js';
import { FilterBytes } from './filter-bytes.js';

interface BenchProps {
  readonly filter: BuiltFilter;
  /** The filter before the key, while a key is being added. */
  readonly before: BuiltFilter | undefined;
  readonly probing: Probing;
  /** The number of probes shown so far. */
  readonly shown: number;
  readonly isOneOfTwo: boolean;
}

/** The calculation of a key's bits, and the bytes of the filter. */
export function FilterBench({ filter, before, probing, shown: shownOfAll, isOneOfTwo }: BenchProps) {
  const needed = neededProbes(probing);
  const isAsked = probing.key !== '';
  const isAdding = probing.kind === 'adding';
  const shown = isAsked ? Math.min(shownOfAll, needed) : 0;
  // The key is added at the last step.
  const stored = before !== undefined && shown < needed ? before : filter;
  const probedBytes = useMemo(() => new Set(probing.probes.slice(0, shown).map(({ bit }) => bit >> 3)), [probing, shown]);
  const firstZeroByte = !isAdding && probing.firstZero !== undefined && shown > probing.firstZero ? probing.probes[probing.firstZero]!.bit >> 3 : undefined;
  return (
    <div class="bench" data-policy={filter.policy}>
      {isOneOfTwo && <h2 class="bench-title">{POLICY_TITLES[filter.policy]}</h2>}
      <section class="card bench-steps" aria-label={isOneOfTwo ? `From the key to its bits, ${POLICY_TITLES[filter.policy]}` : 'From the key to its bits'}>
        <h2>From the key to its bits</h2>
        {isAsked ? <Steps filter={filter} probing={probing} shown={shown} needed={needed} /> : <p class="muted">Ask about a key to see how its bits are calculated.</p>}
      </section>

      <section class="card bench-bytes" aria-label={isOneOfTwo ? `The bytes in a file, ${POLICY_TITLES[filter.policy]}` : 'The bytes in a file'}>
        <div class="card-head">
          <h2>The bytes in a file</h2>
          <p class="muted small">{byteSize(filter.bytes.length)}, lowest bit of byte 0 first</p>
        </div>
        <FilterBytes filter={stored} probedBytes={probedBytes} firstZeroByte={firstZeroByte} />
        <ul class="hex-legend small muted">
          <li>
            <span class="hex-byte hex-probed">00</span> checked
          </li>
          <li>
            <span class="hex-byte hex-zero">00</span> holds the 0 that proves “no”
          </li>
          <li>
            <span class="hex-byte hex-probes">{hexNumber(filter.probes)}</span> the last byte: {counted(filter.probes, 'probe')} per key
          </li>
        </ul>
      </section>
    </div>
  );
}

function Steps({ filter, probing, shown, needed }: { readonly filter: BuiltFilter; readonly probing: Probing; readonly shown: number; readonly needed: number }) {
  const isBlocked = probing.line !== undefined;
  return (
    <>
      <p class="formula">
        {isBlocked ? (
          <>
            <span>
              hash <code>{hexNumber(probing.hash, 8)}</code> → line <code>{probing.line}</code> of {count((filter.bytes.length - 1) / 64)}
            </span>
            <span>each probe multiplies a second hash by 9e3779b9; its top 9 bits choose a bit of that line</span>
          </>
        ) : (
          <>
            <span>
              h = <code>{hexNumber(probing.hash, 8)}</code>
            </span>
            <span>
              delta = h rotated right by 17 = <code>{hexNumber(probing.delta!, 8)}</code>
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
              <th scope="col">Result</th>
            </tr>
          </thead>
          <tbody>
            {probing.probes.map(({ hash, bit, isSet }, i) => {
              const isShown = i < shown;
              return (
                <tr key={i} class={i >= needed ? 'is-skipped' : isShown ? (i === shown - 1 ? 'is-current' : '') : 'is-waiting'}>
                  <th scope="row">{i + 1}</th>
                  <td>
                    <code>{hexNumber(hash, 8)}</code>
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
                    {i >= needed ? <span class="muted">not checked</span> : !isShown ? '' : probing.kind === 'adding' ? (isSet ? <span class="found-one">already 1</span> : <span class="found-new">0, now 1</span>) : isSet ? <span class="found-one">1</span> : <span class="found-zero">0: never added</span>}
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
