// d3-scale and d3-shape: the standard library for scales and lines, and these two parts need no DOM.
import { scaleLog } from 'd3-scale';
import { line } from 'd3-shape';
import type { Comparison } from './report.js';
import { duration } from './report.js';

const WIDTH = 640;
const HEIGHT = 360;
const MARGIN = { top: 40, right: 170, bottom: 40, left: 70 };
/** A palette that is safe for colour-blind readers. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9'];

interface Series {
  readonly name: string;
  readonly points: readonly (readonly [size: number, nanoseconds: number])[];
}

/** Plots one figure by size as SVG, with logarithmic axes. @param comparisons those of the figure. */
export function plot(comparisons: readonly Comparison[]): string {
  const { figure, what, unit, sizeUnit } = comparisons[0]!;
  const series = seriesOf(comparisons);
  const points = series.flatMap((one) => one.points);
  const x = scaleLog(extent(points.map(([size]) => size)), [MARGIN.left, WIDTH - MARGIN.right]);
  const y = scaleLog(extent(points.map(([, time]) => time)), [HEIGHT - MARGIN.bottom, MARGIN.top]).nice();
  const path = line<readonly [number, number]>(
    ([size]) => x(size),
    ([, time]) => y(time),
  );
  const sizes = [...new Set(points.map(([size]) => size))];
  const parts = [
    `<text x="${MARGIN.left}" y="20" font-weight="bold">${escape(figure)}: ${escape(what)}</text>`,
    ...powersIn(y.domain()).map(
      (time) =>
        `<path d="M${MARGIN.left} ${y(time)}H${WIDTH - MARGIN.right}" stroke="#ddd"/>` +
        `<text x="${MARGIN.left - 8}" y="${y(time) + 4}" text-anchor="end">${duration(time)}</text>`,
    ),
    ...sizes.map((size) => `<text x="${x(size)}" y="${HEIGHT - MARGIN.bottom + 18}" text-anchor="middle">${size.toLocaleString('en')}</text>`),
    `<text x="${(MARGIN.left + WIDTH - MARGIN.right) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${sizeUnit}; time for each ${unit}</text>`,
    ...series.map(({ name, points: own }, i) => {
      const colour = COLOURS[i % COLOURS.length]!;
      const dots = own.map(([size, time]) => `<circle cx="${x(size)}" cy="${y(time)}" r="3"/>`).join('');
      const key = `<text x="${WIDTH - MARGIN.right + 24}" y="${MARGIN.top + 14 + i * 18}">${escape(name)}</text>`;
      const sample = `<path d="M${WIDTH - MARGIN.right + 8} ${MARGIN.top + 10 + i * 18}h12" stroke="${colour}" stroke-width="2"/>`;
      return `<g fill="${colour}"><path d="${path(own) ?? ''}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}</g>${sample}${key}`;
    }),
  ];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    ...parts,
    '</svg>\n',
  ].join('\n');
}

function seriesOf(comparisons: readonly Comparison[]): Series[] {
  const points = new Map<string, [number, number][]>();
  const add = (name: string, size: number, time: number): void => {
    const own = points.get(name) ?? [];
    if (!own.some(([other]) => other === size)) own.push([size, time]);
    points.set(name, own);
  };
  for (const { size, other, ours, theirs, by } of comparisons) {
    add('Bloom', size, ours.median);
    add(by === undefined ? other : `${other}, ${by.split(',')[0]!}`, size, theirs.median);
  }
  return [...points].map(([name, own]) => ({ name: name.length > 26 ? `${name.slice(0, 25)}…` : name, points: own }));
}

/** @returns the least and the greatest value, widened if they are equal. */
function extent(values: readonly number[]): [number, number] {
  const least = Math.min(...values);
  const greatest = Math.max(...values);
  return least === greatest ? [least / 2, greatest * 2] : [least, greatest];
}

/** 1, 2 and 5 times the powers of ten between two numbers. */
function powersIn(domain: readonly number[]): number[] {
  const [least = 1, greatest = 1] = domain;
  const values: number[] = [];
  for (let power = 10 ** Math.floor(Math.log10(least)); power <= greatest; power *= 10) {
    for (const factor of greatest / least > 300 ? [1] : [1, 2, 5]) {
      const value = power * factor;
      if (value >= least && value <= greatest) values.push(value);
    }
  }
  return values;
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}
