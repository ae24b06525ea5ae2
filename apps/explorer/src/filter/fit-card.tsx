import './fit-card.css';
import { count, counted } from '@bloom/report';
import { useEffect, useId, useMemo, useState } from 'preact/hooks';
import { Segmented } from '../controls/controls.js';
import { Rows } from '../controls/rows.js';
import { percent } from '../controls/sizes.js';
import { FailureNotice } from '../table/failure-notice.js';
import type { FailureFacts } from '../worker/failure.js';
import { chartInWords, FitChart, worstPoint } from './fit-chart.js';
import { FitClient } from './fit-client.js';
import { FIT_BITS_PER_KEY, type FitRange } from './fit-curve.js';
import { FEWEST_KEYS, type KeyPattern, MOST_KEYS } from './fit-patterns.js';

const PATTERNS: readonly (readonly [KeyPattern, string])[] = [
  ['digits', '16 digits'],
  ['bytes', '64-bit'],
  ['random', 'Random'],
];
const ABOUT: Record<KeyPattern, string> = {
  digits: 'Every second number, such as 0000000000000042 and 0000000000000044. The filter is asked about the numbers between them, such as 0000000000000043.',
  bytes: 'Every second big-endian number of 8 bytes, such as 00 00 00 00 00 00 00 2a and 00 00 00 00 00 00 00 2c. The filter is asked about the numbers between them.',
  random: 'Keys of 16 random bytes. The filter is asked about other random keys. Their hashes are independent, so no length is bad, and fitting changes little.',
};

interface FitCardProps {
  readonly keys: number;
  readonly pattern: KeyPattern;
  readonly onChange: (part: { readonly fitKeys?: number; readonly fitPattern?: KeyPattern }) => void;
}

/** The rate by number of keys, with LevelDB's length and with a fitted length. */
export function FitCard({ keys, pattern, onChange }: FitCardProps) {
  const id = useId();
  const client = useMemo(() => new FitClient(), []);
  const [, setMeasured] = useState(0);
  const [failure, setFailure] = useState<FailureFacts>();
  useEffect(() => () => client.close(), []);
  useEffect(() => {
    const controller = new AbortController();
    setFailure(undefined);
    void client.measure(pattern, keys, () => setMeasured((times) => times + 1), controller.signal).then(setFailure);
    return () => controller.abort();
    // One measurement covers all numbers of keys.
  }, [pattern]);
  const points = client.points(pattern);
  const here = points.get(keys);
  const isMeasured = points.size > MOST_KEYS - FEWEST_KEYS;
  const worst = isMeasured ? worstPoint(points)! : undefined;
  return (
    <>
      <p>
        LevelDB computes a filter’s length from the number of keys alone: {counted(FIT_BITS_PER_KEY, 'bit')} for each. For numbers, some lengths are bad: keys that differ only in
        their last characters map to the same few bits. With one key more or less, the filter answers <strong class="word-maybe">maybe</strong> to far more or far fewer absent numbers.
      </p>
      <p>
        A <strong>fitted filter</strong> tries several lengths and numbers of probes, and keeps the one that lets the fewest neighbours of its own keys pass. LevelDB can use it, because it takes both numbers
        from the filter.
      </p>
      <div class="fit-controls">
        <Segmented legend="Keys" name={`${id}-pattern`} value={pattern} options={PATTERNS} onChange={(fitPattern) => onChange({ fitPattern })} />
        <div class="field">
          <label for={id}>
            <span data-fact="fit-keys">{counted(keys, 'key')}</span> in the filter
          </label>
          <input
            id={id}
            type="range"
            min={FEWEST_KEYS}
            max={MOST_KEYS}
            step={1}
            value={keys}
            aria-valuetext={here === undefined ? counted(keys, 'key') : `${counted(keys, 'key')}: LevelDB’s length lets ${percent(here.leveldb.rate)} of absent keys pass, a fitted filter ${percent(here.fitted.rate)}`}
            onInput={({ currentTarget }) => onChange({ fitKeys: Number(currentTarget.value) })}
          />
        </div>
        {pattern !== 'random' && (
          <button type="button" disabled={worst === undefined || worst.keys === keys} onClick={() => onChange({ fitKeys: worst!.keys })}>
            {worst === undefined ? 'Measuring…' : `LevelDB’s worst: ${counted(worst.keys, 'key')}`}
          </button>
        )}
      </div>
      <p class="muted small">{ABOUT[pattern]}</p>
      {failure !== undefined && <FailureNotice failure={failure} title="The filters could not be measured." />}
      <div class="fit-result" data-measured={isMeasured}>
        <figure class="fit-figure">
          <FitChart points={points} keys={keys} label={chartInWords(points, keys)} onKeys={(fitKeys) => onChange({ fitKeys })} />
          <figcaption class="small">
            <ul class="legend" aria-label="Lines of the chart">
              <li>
                <span class="line-swatch is-leveldb" aria-hidden="true" /> LevelDB’s length
              </li>
              <li>
                <span class="line-swatch is-fitted" aria-hidden="true" /> fitted
              </li>
            </ul>
          </figcaption>
        </figure>
        <Rows kind="fit-rows" caption={here === undefined ? `Measuring filters of ${counted(keys, 'key')}…` : `${counted(here.filters, 'filter')} of ${counted(keys, 'key')}, each with different keys`} headings={['', 'LevelDB’s', 'Fitted']}>
          <tr>
            <th scope="row">Absent keys that get a maybe</th>
            <td>
              <strong class="word-false" data-fact="fit-rate-leveldb">{here === undefined ? '…' : percent(here.leveldb.rate)}</strong>
            </td>
            <td>
              <strong class="word-no" data-fact="fit-rate-fitted">{here === undefined ? '…' : percent(here.fitted.rate)}</strong>
            </td>
          </tr>
          <tr>
            <th scope="row">Bytes</th>
            <td data-fact="fit-bytes-leveldb">{here === undefined ? '…' : <Range of={here.leveldb.bytes} />}</td>
            <td data-fact="fit-bytes-fitted">{here === undefined ? '…' : <Range of={here.fitted.bytes} />}</td>
          </tr>
          <tr>
            <th scope="row">Probes per key</th>
            <td data-fact="fit-probes-leveldb">{here === undefined ? '…' : <Range of={here.leveldb.probes} />}</td>
            <td data-fact="fit-probes-fitted">{here === undefined ? '…' : <Range of={here.fitted.probes} />}</td>
          </tr>
        </Rows>
      </div>
    </>
  );
}

function Range({ of: { least, most, mean } }: { readonly of: FitRange }) {
  if (least === most) return <>{count(least)}</>;
  return (
    <>
      {count(least)} to {count(most)} <small class="muted">{mean.toFixed(1)} on average</small>
    </>
  );
}
