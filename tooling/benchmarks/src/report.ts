import type { Figure, Other } from './figures.js';
import { type Rounds, spread, type Spread } from './measure.js';

/** A comparison with one contender at one size. */
export interface Comparison {
  readonly figure: string;
  readonly what: string;
  readonly unit: Figure['unit'];
  readonly size: number;
  readonly sizeUnit: Figure['sizeUnit'];
  readonly other: Other['contender'];
  /** What the other contender does differently, if anything. */
  readonly by: string | undefined;
  /** Our time divided by theirs, over the rounds. */
  readonly ratio: Spread;
  readonly goal: number | undefined;
  /** Nanoseconds per unit. */
  readonly ours: Spread;
  readonly theirs: Spread;
}

/** @param rounds in each round, our time first, then those of `others`. */
export function compare(figure: Figure, others: readonly Other[], size: number, rounds: Rounds): Comparison[] {
  return others.map((other, i) => ({
    figure: figure.name,
    what: figure.what,
    unit: figure.unit,
    size,
    sizeUnit: figure.sizeUnit,
    other: other.contender,
    by: other.by,
    ratio: spread(rounds.map((times) => times[0]! / times[i + 1]!)),
    goal: other.goal,
    ours: spread(rounds.map((times) => times[0]!)),
    theirs: spread(rounds.map((times) => times[i + 1]!)),
  }));
}

const COLUMNS = ['ratio', 'goal', '', 'spread', 'figure', 'size', 'against', 'ours', 'theirs', 'for each'];

/** The comparisons as a table in Markdown, ratios first. */
export function comparisonTable(comparisons: readonly Comparison[]): string {
  const rows = comparisons.map((c) => [
    ratio(c.ratio.median),
    c.goal === undefined ? '' : String(c.goal),
    c.goal === undefined ? '' : c.ratio.median <= c.goal ? 'met' : 'not met',
    `${ratio(c.ratio.least)}–${ratio(c.ratio.greatest)}`,
    c.figure,
    size(c.size, c.sizeUnit),
    c.by === undefined ? c.other : `${c.other}, ${c.by}`,
    duration(c.ours.median),
    duration(c.theirs.median),
    c.unit,
  ]);
  return markdownTable(COLUMNS, rows);
}

export function markdownTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, i) => Math.max(column.length, ...rows.map((row) => row[i]!.length)));
  const line = (cells: readonly string[]): string => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`;
  return [line(columns), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

/** How many goals are met, in one line. */
export function goalLine(comparisons: readonly Comparison[]): string {
  const goals = comparisons.filter(({ goal }) => goal !== undefined);
  const met = goals.filter(({ goal, ratio: { median } }) => median <= goal!);
  return `${met.length} of ${goals.length} goals met`;
}

export function ratio(value: number): string {
  return value < 0.095 ? value.toFixed(3) : value.toFixed(2);
}

export function size(value: number, unit: string): string {
  return `${value.toLocaleString('en')} ${unit}`;
}

/** Formats nanoseconds in a suitable unit. */
export function duration(nanoseconds: number): string {
  const [scale, unit] = nanoseconds < 1e3 ? [1, 'ns'] : nanoseconds < 1e6 ? [1e3, 'µs'] : [1e6, 'ms'];
  const value = nanoseconds / scale;
  return `${value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : value.toFixed(0)} ${unit}`;
}
