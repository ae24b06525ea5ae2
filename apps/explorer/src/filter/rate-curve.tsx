import { count, percent } from '../controls/sizes.js';
import type { BuiltFilter } from './built-filter.js';

const WIDTH = 420;
const HEIGHT = 190;
const LEFT = 44;
const BOTTOM = 26;
const TOP = 12;
const RIGHT = 10;
/** The most points of the curve; of few keys, each is one. */
const MOST_POINTS = 80;

/** How the rate of false positives grows with the number of keys, for filters of one size; and where this one is. */
export function RateCurve({ filter, expectedKeys, measured }: { readonly filter: BuiltFilter; readonly expectedKeys: number; readonly measured: number }) {
  const added = filter.keys.length;
  const mostKeys = Math.max(2 * expectedKeys, Math.ceil(added * 1.2), 4);
  const points = Math.min(MOST_POINTS, mostKeys);
  const keysAt = (i: number): number => Math.round((mostKeys * i) / points);
  const rates = Array.from({ length: points + 1 }, (_, i) => filter.expectedRate(keysAt(i)));
  const highest = niceCeiling(Math.max(rates[points]!, measured, 0.001));
  const x = (keys: number): number => LEFT + (keys / mostKeys) * (WIDTH - LEFT - RIGHT);
  const y = (rate: number): number => HEIGHT - BOTTOM - (rate / highest) * (HEIGHT - BOTTOM - TOP);
  const line = rates.map((rate, i) => `${i === 0 ? 'M' : 'L'}${x(keysAt(i)).toFixed(1)} ${y(rate).toFixed(1)}`).join('');
  const here = { x: x(added), y: y(measured) };
  // The line rises to the right: there is more room to the left.
  const labelLeft = here.x > WIDTH * 0.36;
  return (
    <svg
      class="curve"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`False positives by number of keys, from none at no key to ${percent(rates[points]!)} at ${count(mostKeys)} keys. You are here: ${count(added)} keys, ${percent(measured)} measured.`}
    >
      {[0, 0.5, 1].map((part) => (
        <g key={part}>
          <line class="curve-grid" x1={LEFT} x2={WIDTH - RIGHT} y1={y(highest * part)} y2={y(highest * part)} />
          <text class="curve-label" x={LEFT - 6} y={y(highest * part) + 4} text-anchor="end">
            {percent(highest * part)}
          </text>
        </g>
      ))}
      <line class="curve-design" x1={x(expectedKeys)} x2={x(expectedKeys)} y1={TOP} y2={HEIGHT - BOTTOM} />
      <text class="curve-label" x={x(expectedKeys)} y={HEIGHT - 8} text-anchor="middle">
        sized for {count(expectedKeys)}
      </text>
      <text class="curve-label" x={LEFT} y={HEIGHT - 8} text-anchor="middle">
        0
      </text>
      <text class="curve-label" x={WIDTH - RIGHT} y={HEIGHT - 8} text-anchor="end">
        {count(mostKeys)} keys
      </text>
      <path class="curve-area" d={`${line}L${x(mostKeys)} ${y(0)}L${x(0)} ${y(0)}Z`} />
      <path class="curve-line" d={line} />
      <circle class="curve-here" cx={here.x} cy={here.y} r="6" />
      <text class="curve-here-label" x={here.x + (labelLeft ? -11 : 11)} y={Math.max(TOP + 10, here.y - 9)} text-anchor={labelLeft ? 'end' : 'start'}>
        you are here
      </text>
    </svg>
  );
}

/** The next of 1, 2, 5, 10 … at or above `rate`. */
function niceCeiling(rate: number): number {
  const power = 10 ** Math.floor(Math.log10(rate));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rate - 1e-12)!;
  return Math.min(1, step * power);
}
