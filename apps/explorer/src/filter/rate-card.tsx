import { bestProbes, idealFalsePositiveRate, MIN_BITS, probesFor } from '@bloom/policy';
import { count, counted } from '@bloom/report';
import { useId, useMemo } from 'preact/hooks';
import { Fact } from '../controls/controls.js';
import { percent } from '../controls/sizes.js';
import { useHasComeNear } from '../controls/use-near.js';
import type { BuiltFilter } from './built-filter.js';
import { RateChart, type RateSeries } from './rate-chart.js';
import { useDesignedRates } from './use-rates.js';

/** The axis ends here or later. */
const USUAL_MOST_BITS = 24;
/** The share of absent keys with the hash of a stored key that the card mentions. Smaller ones are not. */
const NOTABLE_COLLISIONS = 1e-5;

/** The rate of an ideal filter of the same size with the best number of probes. LevelDB's filters have at least 64 bits. */
function idealRate(bitsPerKey: number, keys: number): number {
  const bits = Math.max(bitsPerKey, MIN_BITS / keys);
  return idealFalsePositiveRate({ bitsPerKey: bits, probes: bestProbes(bits), keys });
}

interface RateCardProps {
  /** One filter, or two of the same size. */
  readonly filters: readonly BuiltFilter[];
  readonly bitsPerKey: number;
  readonly expectedKeys: number;
  readonly hasOwnProbes: boolean;
}

/** The measured rates of the filters, and the rates of LevelDB's average and of an ideal filter by bits per key. */
export function RateCard({ filters, bitsPerKey, expectedKeys, hasOwnProbes }: RateCardProps) {
  const id = useId();
  const first = filters[0]!;
  const isOneOfTwo = filters.length > 1;
  const measured = useMemo(() => filters.map((filter) => filter.measuredRate()), [filters]);
  const most = Math.max(USUAL_MOST_BITS, bitsPerKey);
  // The whole curve takes a second of processor time, which not everyone scrolls down to.
  const { ref, hasComeNear } = useHasComeNear<HTMLElement>('0px');
  const { rates: designed, isWhole } = useDesignedRates(bitsPerKey, expectedKeys, most, hasComeNear);
  const ideal = useMemo(
    () => Array.from({ length: most }, (_, i) => [i + 1, idealRate(i + 1, expectedKeys)] as const),
    [most, expectedKeys],
  );
  const points = [...designed].filter(([bits]) => bits <= most).sort(([a], [b]) => a - b);
  // A logarithmic axis has no 0.
  const leveldb = points.filter(([, rate]) => rate > 0);
  const lastBits = leveldb.at(-1)?.[0];
  const series: RateSeries[] = [{ name: 'ideal', points: ideal }];
  if (leveldb.length > 1) series.push({ name: 'leveldb', points: leveldb });
  const rateOf = (i: number): number => measured[i]!.passed / measured[i]!.asked;
  const filledBits = first.keys.length === 0 ? undefined : first.bits / first.keys.length;
  const dots = filters.map(({ policy }, i) => ({ kind: policy, label: isOneOfTwo ? (policy === 'leveldb' ? 'LevelDB’s' : 'one cache line') : 'this filter', x: bitsPerKey, rate: rateOf(i) }));
  const usual = designed.get(bitsPerKey);
  const idealHere = idealRate(bitsPerKey, expectedKeys);
  const bitsHere = Math.max(bitsPerKey, MIN_BITS / expectedKeys);
  const collisions = expectedKeys / 2 ** 32;
  return (
    <section ref={ref} class="card bench-rate" aria-labelledby={`${id}-rate`}>
      <h2 id={`${id}-rate`}>How many absent keys get a maybe?</h2>
      <p class="muted small">
        This is measured with {count(measured[0]!.asked)} keys that were never added. How often a maybe is wrong is another question: that
        depends on how many of the keys you ask about were added.
      </p>
      <dl class="facts">
        {filters.map((filter, i) => (
          <Fact key={filter.policy} name={isOneOfTwo ? (filter.policy === 'leveldb' ? 'LevelDB’s, measured' : 'One cache line, measured') : 'This filter, measured'}>
            <span data-fact={i === 0 ? 'measured' : 'measured-other'}>{percent(rateOf(i))}</span>{' '}
            <small>
              {count(measured[i]!.passed)} of {count(measured[i]!.asked)}
            </small>
          </Fact>
        ))}
        {!hasOwnProbes && (
          <Fact name="LevelDB’s, usually">
            <span data-fact="usual">{usual === undefined ? '…' : percent(usual)}</span> <small>with {counted(expectedKeys, 'key')}</small>
          </Fact>
        )}
        <Fact name="An ideal filter">
          <span data-fact="ideal">{percent(idealHere)}</span> <small>{counted(bestProbes(bitsHere), 'probe')}, all independent</small>
        </Fact>
        <Fact name="Bits that are 1">
          {filters.map((filter) => percent(filter.setBits / filter.bits)).join(' and ')}{' '}
          <small>
            {filters.map((filter) => count(filter.setBits)).join(' and ')} of {count(first.bits)}
          </small>
        </Fact>
        <Fact name="Probes per key">{[...new Set(filters.map(({ probes }) => probes))].join(' and ')}</Fact>
      </dl>
      <RateChart
        label={`The share of absent keys that get a maybe, by bits per key, on a logarithmic axis. An ideal filter at ${bitsPerKey} bits: ${percent(idealHere)}. ${usual === undefined ? '' : `LevelDB’s, usually: ${percent(usual)}. `}Measured: ${dots.map(({ label, rate }) => `${label} ${percent(rate)}`).join(', ')}.`}
        xTitle="bits per key"
        xMax={most}
        series={series}
        dots={dots}
      />
      <ul class="legend small" aria-label="Lines of the chart">
        <li>
          <span class="line-swatch is-ideal" aria-hidden="true" /> an ideal filter
        </li>
        <li>
          <span class="line-swatch is-leveldb" aria-hidden="true" /> LevelDB’s, usually{!isWhole && `, being measured${lastBits === undefined ? '' : `: ${counted(points.length, 'point')} so far`}`}
        </li>
      </ul>
      <p class="muted small">
        Both lines begin at 1 bit per key and end at {count(most)}
        {isWhole && lastBits !== undefined && lastBits < most && `, LevelDB’s at ${count(lastBits)}: with more, none of the keys got a maybe, and a logarithmic axis has no 0`}. LevelDB’s line is the higher one. LevelDB rounds the number of probes down ({counted(bitsPerKey, 'bit')}: {probesFor(bitsPerKey)}, where {bestProbes(bitsHere)} {bestProbes(bitsHere) === 1 ? 'is' : 'are'} best), and it derives all probes of a key from one 32-bit hash, so those of two keys coincide more often than by chance: each further
        bit helps less.
        {collisions > NOTABLE_COLLISIONS && ` Among ${count(expectedKeys)} keys, ${percent(collisions)} of absent ones have the same hash as a stored key, and no number of bits can tell those apart.`}
      </p>
      {filledBits !== undefined && Math.abs(filledBits / bitsPerKey - 1) > 0.2 && !isOneOfTwo && (
        <p class="muted small">
          It holds {counted(first.keys.length, 'key')} and is sized for {count(expectedKeys)}, so its dot is {filledBits > bitsPerKey ? 'lower' : 'higher'} than the lines.
        </p>
      )}
    </section>
  );
}
