import { percent } from '../controls/sizes.js';

const WIDTH = 460;
const HEIGHT = 250;
const LEFT = 58;
const BOTTOM = 34;
const TOP = 14;
const RIGHT = 14;
/** The lowest rate of the axis. */
const LOWEST = 1e-6;

/** A line of the chart. */
export interface RateSeries {
  readonly name: 'ideal' | 'leveldb';
  readonly points: readonly (readonly [x: number, rate: number])[];
}

/** A measured filter. */
export interface RateDot {
  readonly kind: 'leveldb' | 'fitted' | 'blocked';
  readonly label: string;
  readonly x: number;
  /** A rate of 0 is drawn at the bottom: it is too low to be measured with these keys. */
  readonly rate: number;
}

interface RateChartProps {
  readonly label: string;
  readonly xTitle: string;
  readonly xMax: number;
  readonly series: readonly RateSeries[];
  readonly dots: readonly RateDot[];
}

/** Rates on a logarithmic axis. */
export function RateChart({ label, xTitle, xMax, series, dots }: RateChartProps) {
  const rates = [...series.flatMap(({ points }) => points.map(([, rate]) => rate)), ...dots.map(({ rate }) => rate)].filter((rate) => rate > 0);
  const lowest = Math.max(LOWEST, 10 ** Math.floor(Math.log10(Math.min(0.01, ...rates))));
  const decades = Math.round(-Math.log10(lowest));
  const x = (value: number): number => LEFT + (value / xMax) * (WIDTH - LEFT - RIGHT);
  const y = (rate: number): number => TOP + (Math.min(decades, -Math.log10(Math.max(rate, lowest))) / decades) * (HEIGHT - BOTTOM - TOP);
  const step = tickStep(xMax);
  return (
    <svg class="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {Array.from({ length: decades + 1 }, (_, i) => (
        <g key={i}>
          <line class="curve-grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(10 ** -i)} y2={y(10 ** -i)} />
          <text x={LEFT - 7} y={y(10 ** -i) + 4} text-anchor="end">
            {i <= 2 ? percent(10 ** -i) : `${Number((100 * 10 ** -i).toPrecision(1))}%`}
          </text>
        </g>
      ))}
      {Array.from({ length: Math.floor(xMax / step) + 1 }, (_, i) => (
        <text key={i} x={x(i * step)} y={HEIGHT - BOTTOM + 15} text-anchor="middle">
          {i * step}
        </text>
      ))}
      <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 3} text-anchor="middle">
        {xTitle}
      </text>
      {series.map(({ name, points }) => (
        <path key={name} class={`curve-line is-${name}`} d={points.map(([at, rate], i) => `${i === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(rate).toFixed(1)}`).join('')} />
      ))}
      {dots.map(({ kind, label: name, x: at, rate }, i) => {
        const isLeft = at > xMax * 0.55;
        return (
          <g key={kind} class={`curve-dot is-${kind}`} data-dot={kind}>
            {kind === 'blocked' ? <rect x={x(at) - 5.5} y={y(rate) - 5.5} width="11" height="11" /> : <circle cx={x(at)} cy={y(rate)} r="6" />}
            <text x={x(at) + (isLeft ? -12 : 12)} y={y(rate) + (i === 0 ? -7 : rate > lowest ? 14 : -22)} text-anchor={isLeft ? 'end' : 'start'}>
              {name}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

function tickStep(most: number): number {
  return most <= 12 ? 2 : most <= 30 ? 4 : 10 * Math.ceil(most / 80);
}
