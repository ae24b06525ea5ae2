import { counted } from '@bloom/report';
import { percent } from '../controls/sizes.js';
import { useNarrow } from '../controls/use-narrow.js';
import type { FitPoint } from './fit-curve.js';
import type { FitPoints } from './fit-client.js';
import { FEWEST_KEYS, MOST_KEYS } from './fit-patterns.js';

const LEFT = 46;
const BOTTOM = 40;
/** The space above the lines for the figures of the marked number of keys. */
const TOP = 34;
const RIGHT = 14;
/** The chart's size in its own units. It is smaller on a narrow screen, so that its text keeps its size. */
const WIDE_SIZE = { width: 720, height: 300 };
const NARROW_SIZE = { width: 340, height: 270 };
/** Half the width of the figures above the mark. */
const HALF_LABEL = 104;
const KINDS = ['leveldb', 'fitted'] as const;

interface FitChartProps {
  readonly points: FitPoints;
  readonly keys: number;
  readonly label: string;
  /** Called when the user drags the mark. The slider does the same by keyboard. */
  readonly onKeys: (keys: number) => void;
}

/** The rates of both policies by number of keys. The chosen number is marked. */
export function FitChart({ points, keys, label, onKeys }: FitChartProps) {
  const { width, height } = useNarrow() ? NARROW_SIZE : WIDE_SIZE;
  const x = (count: number): number => LEFT + ((count - FEWEST_KEYS) / (MOST_KEYS - FEWEST_KEYS)) * (width - LEFT - RIGHT);
  const y = (rate: number): number => TOP + (1 - rate) * (height - BOTTOM - TOP);
  const sorted = [...points.values()].sort((a, b) => a.keys - b.keys);
  const here = points.get(keys);
  const drag = (event: PointerEvent & { readonly currentTarget: SVGSVGElement }): void => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const wanted = FEWEST_KEYS + ((at - LEFT) / (width - LEFT - RIGHT)) * (MOST_KEYS - FEWEST_KEYS);
    onKeys(Math.max(FEWEST_KEYS, Math.min(MOST_KEYS, Math.round(wanted))));
  };
  return (
    <svg
      class="curve fit-chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={label}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) drag(event);
      }}
    >
      {[0, 0.25, 0.5, 0.75, 1].map((rate) => (
        <g key={rate}>
          <line class="curve-grid" x1={LEFT} x2={width - RIGHT} y1={y(rate)} y2={y(rate)} />
          <text x={LEFT - 7} y={y(rate) + 4} text-anchor="end">
            {rate * 100}%
          </text>
        </g>
      ))}
      {[FEWEST_KEYS, 32, 64, 96, MOST_KEYS].map((tick) => (
        <text key={tick} x={x(tick)} y={height - BOTTOM + 17} text-anchor="middle">
          {tick}
        </text>
      ))}
      <text x={(LEFT + width - RIGHT) / 2} y={height - 4} text-anchor="middle">
        keys in the filter
      </text>
      <line class="fit-mark" x1={x(keys)} x2={x(keys)} y1={TOP} y2={height - BOTTOM} />
      {KINDS.map((kind) => (
        <path key={kind} class={`curve-line is-${kind}`} d={sorted.map((point, i) => `${i === 0 ? 'M' : 'L'}${x(point.keys).toFixed(1)} ${y(point[kind].rate).toFixed(1)}`).join('')} />
      ))}
      {here !== undefined && (
        <>
          <circle class="curve-dot is-leveldb" data-dot="leveldb" cx={x(keys)} cy={y(here.leveldb.rate)} r="6" />
          <rect class="curve-dot is-fitted" data-dot="fitted" x={x(keys) - 5.5} y={y(here.fitted.rate) - 5.5} width="11" height="11" />
          <text class="fit-figures" x={Math.max(LEFT + HALF_LABEL - 20, Math.min(width - HALF_LABEL, x(keys)))} y={TOP - 14} text-anchor="middle">
            <tspan class="is-leveldb">LevelDB’s {percent(here.leveldb.rate)}</tspan>
            <tspan class="is-fitted" dx="12">
              fitted {percent(here.fitted.rate)}
            </tspan>
          </text>
        </>
      )}
    </svg>
  );
}

/** A description of the chart. */
export function chartInWords(points: FitPoints, keys: number): string {
  const all = [...points.values()];
  const here = points.get(keys);
  if (here === undefined) return 'The share of absent keys that get a “maybe”, by the number of keys. It is being measured.';
  const worst = worstPoint(points)!;
  const mean = (kind: (typeof KINDS)[number]): number => all.reduce((sum, point) => sum + point[kind].rate, 0) / all.length;
  return `The share of absent keys that get a “maybe”, by the number of keys, from ${FEWEST_KEYS} to ${MOST_KEYS}. LevelDB’s length lets ${percent(mean('leveldb'))} pass on average, and most with ${counted(worst.keys, 'key')}: ${percent(worst.leveldb.rate)}. Fitted filters let ${percent(mean('fitted'))} pass on average. With ${counted(keys, 'key')}: ${percent(here.leveldb.rate)} and ${percent(here.fitted.rate)}.`;
}

/** The number of keys at which LevelDB's filters let the most absent keys pass. */
export function worstPoint(points: FitPoints): FitPoint | undefined {
  return [...points.values()].reduce<FitPoint | undefined>((worst, point) => (worst === undefined || point.leveldb.rate > worst.leveldb.rate ? point : worst), undefined);
}
