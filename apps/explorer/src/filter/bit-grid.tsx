import './bit-grid.css';
import { LINE_BYTES } from '@bloom/policy-blocked';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useWidth } from '../controls/use-width.js';
import { colourOf, prefersReducedMotion, useColours } from '../shell/theme.js';
import type { Probing } from './built-filter.js';
import type { FilterBits } from './filter-bits.js';

interface BitGridProps {
  readonly label: string;
  readonly filter: FilterBits;
  /** The filter before the key, while a key is being added. */
  readonly before?: FilterBits | undefined;
  readonly probing: Pick<Probing, 'kind' | 'probes' | 'firstZero' | 'wasAdded'> | undefined;
  /** The number of probes shown so far. */
  readonly shownProbes: number;
  readonly selected: number | undefined;
  readonly onSelect: (bit: number) => void;
}

interface Grid {
  readonly cell: number;
  /** The gap between two bytes. */
  readonly byteGap: number;
  readonly bytesPerRow: number;
  readonly rowHeight: number;
  readonly rows: number;
  /** The number of rows of a cache line, which has a gap below it; 0 if cache lines are not drawn. */
  readonly lineRows: number;
}

const LEAST_BYTE_GAP = 8;
const MARGIN = 5;
const MAX_HEIGHT = 420;
/** The gap between two cache lines. */
const LINE_GAP = 8;
const PULSE_MS = 420;
/** The opacity of bits that the key does not use. */
const DIMMED = 0.6;

/** The layout of the grid: the fewest bytes per row with which bits are not too large. Rows fill the width. */
function gridFor(bits: number, width: number): Grid {
  const hasLines = bits >= LINE_BYTES * 8 && bits % (LINE_BYTES * 8) === 0;
  const largest = bits <= 160 ? 42 : bits <= 700 ? 24 : bits <= 3000 ? 16 : bits <= 20_000 ? 11 : 7;
  const inner = width - 2 * MARGIN;
  const cellOf = (bytes: number): number => Math.floor(((inner + LEAST_BYTE_GAP) / bytes - LEAST_BYTE_GAP) / 8);
  let bytesPerRow = 2;
  // Cache lines are whole rows.
  while (cellOf(bytesPerRow) > largest && bytesPerRow < LINE_BYTES) bytesPerRow += hasLines ? bytesPerRow : bytesPerRow < 4 ? 2 : 4;
  const cell = Math.max(5, cellOf(bytesPerRow));
  const byteGap = Math.max(LEAST_BYTE_GAP, Math.floor((inner - bytesPerRow * 8 * cell) / (bytesPerRow - 1)));
  return { cell, byteGap, bytesPerRow, rowHeight: cell + (cell >= 24 ? 6 : cell >= 15 ? 4 : 2), rows: Math.ceil(bits / 8 / bytesPerRow), lineRows: hasLines ? LINE_BYTES / bytesPerRow : 0 };
}

/** All bits of a filter. Bits that are 1 are filled; those of the key in question are coloured and numbered. */
export function BitGrid({ label, filter, before, probing, shownProbes, selected, onSelect }: BitGridProps) {
  const { box, width } = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [top, setTop] = useState(0);
  const colours = useColours();
  const hint = useId();
  const { bits } = filter;

  const grid = gridFor(bits, Math.max(width, 200));
  const lineGaps = (row: number): number => (grid.lineRows === 0 ? 0 : Math.floor(row / grid.lineRows) * LINE_GAP);
  const topOf = (row: number): number => row * grid.rowHeight + lineGaps(row);
  const rowAt = (y: number): number => {
    if (grid.lineRows === 0) return Math.floor(y / grid.rowHeight);
    const lineHeight = grid.lineRows * grid.rowHeight + LINE_GAP;
    const line = Math.floor(y / lineHeight);
    return line * grid.lineRows + Math.min(grid.lineRows - 1, Math.floor((y - line * lineHeight) / grid.rowHeight));
  };
  const fullHeight = topOf(grid.rows) + 2 * MARGIN;
  const height = Math.min(fullHeight, MAX_HEIGHT);
  const position = (bit: number): { x: number; y: number } => {
    const byte = bit >> 3;
    const column = byte % grid.bytesPerRow;
    return { x: MARGIN + column * (8 * grid.cell + grid.byteGap) + (bit & 7) * grid.cell, y: MARGIN + topOf(Math.floor(byte / grid.bytesPerRow)) };
  };

  useEffect(() => {
    const element = canvas.current!;
    const context = element.getContext('2d')!;
    const ratio = devicePixelRatio;
    element.width = Math.max(1, Math.floor(width * ratio));
    element.height = Math.max(1, Math.floor(height * ratio));
    element.style.width = `${width}px`;
    element.style.height = `${height}px`;
    const colour = (name: string): string => colourOf(element, name);
    const [set, clear, edge, ink, no, falseFill, maybeFill, onFill, surface, accent, lineColour] = ['bit-set', 'bit-clear', 'bit-edge', 'ink', 'no', 'false-fill', 'maybe-fill', 'on-fill', 'surface', 'accent', 'line-strong'].map(colour) as [string, string, string, string, string, string, string, string, string, string, string];
    const shown = probing?.probes.slice(0, shownProbes) ?? [];
    const isAdding = probing?.kind === 'adding';
    const shownBits = new Set(shown.map(({ bit }) => bit));
    const wasSet = (bit: number): boolean => (before ?? filter).isSet(bit);
    const isSetNow = (bit: number): boolean => wasSet(bit) || (isAdding && shownBits.has(bit));
    const isFalsePositive = !isAdding && probing?.firstZero === undefined && probing?.wasAdded === false;
    const began = performance.now();
    let frame = 0;
    const draw = (now: number): void => {
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      context.translate(0, -top);
      const firstRow = Math.max(0, rowAt(top));
      const lastRow = Math.min(grid.rows, rowAt(top + height) + 2);
      const lastBit = Math.min(bits, lastRow * grid.bytesPerRow * 8);
      if (grid.lineRows > 0) {
        // A bar next to each cache line, thicker next to the line of the key.
        const touched = new Set(shown.map(({ bit }) => Math.floor(bit / (LINE_BYTES * 8))));
        for (let line = Math.floor(firstRow / grid.lineRows); line * grid.lineRows < lastRow; line++) {
          context.fillStyle = touched.has(line) ? ink : lineColour;
          context.fillRect(0, MARGIN + topOf(line * grid.lineRows), touched.has(line) ? 3 : 1, grid.lineRows * grid.rowHeight - 2);
        }
      }
      const inset = grid.cell >= 15 ? 2 : 1;
      const size = grid.cell - inset;
      const radius = grid.cell >= 15 ? Math.round(grid.cell / 5) : 1.5;
      for (let bit = firstRow * grid.bytesPerRow * 8; bit < lastBit; bit++) {
        const { x, y } = position(bit);
        context.beginPath();
        context.roundRect(x, y, size, size, radius);
        context.fillStyle = wasSet(bit) ? set : clear;
        context.globalAlpha = shown.length > 0 && wasSet(bit) ? DIMMED : 1;
        context.fill();
        context.globalAlpha = 1;
        if (!wasSet(bit) && grid.cell >= 10) {
          context.strokeStyle = edge;
          context.lineWidth = 1;
          context.stroke();
        }
      }
      const order = new Map<number, number[]>();
      for (const [i, { bit }] of shown.entries()) order.set(bit, [...(order.get(bit) ?? []), i + 1]);
      for (const [bit, numbers] of order) {
        const { x, y } = position(bit);
        if (y + grid.cell < top || y > top + height) continue;
        const isSet = isSetNow(bit);
        const mark = isAdding && !wasSet(bit) ? accent : !isSet ? no : isFalsePositive && shownProbes >= probing.probes.length ? falseFill : maybeFill;
        const isNewest = numbers.includes(shown.length);
        const age = Math.min(1, (now - began) / PULSE_MS);
        const swell = isNewest && !prefersReducedMotion() ? (1 - age) ** 2 * 8 : 0;
        const outset = grid.cell >= 15 ? 1 : 0.5;
        context.beginPath();
        context.roundRect(x - outset, y - outset, size + 2 * outset, size + 2 * outset, radius + outset);
        context.fillStyle = isSet ? mark : surface;
        context.fill();
        context.strokeStyle = mark;
        context.lineWidth = isSet ? 1 : grid.cell >= 15 ? 3 : 2.5;
        context.stroke();
        if (swell > 0.5) {
          context.beginPath();
          context.roundRect(x - outset - swell, y - outset - swell, size + 2 * (outset + swell), size + 2 * (outset + swell), radius + swell);
          context.lineWidth = 2.5;
          context.globalAlpha = 1 - swell / 12;
          context.stroke();
          context.globalAlpha = 1;
        }
        if (grid.cell >= 15) {
          context.fillStyle = isAdding && !wasSet(bit) ? surface : isSet ? onFill : no;
          context.font = `700 ${Math.max(10, Math.round(grid.cell * 0.44))}px ${getComputedStyle(element).fontFamily}`;
          context.textAlign = 'center';
          context.textBaseline = 'middle';
          context.fillText(numbers.length > 2 ? `${numbers[0]}…` : numbers.join(','), x + size / 2, y + size / 2 + 1, size);
        }
      }
      if (selected !== undefined && selected < bits) {
        const { x, y } = position(selected);
        context.setLineDash([3, 2]);
        context.strokeStyle = ink;
        context.lineWidth = 2;
        context.strokeRect(x - 3, y - 3, size + 6, size + 6);
        context.setLineDash([]);
      }
      if (now - began < PULSE_MS && shown.length > 0 && !prefersReducedMotion()) frame = requestAnimationFrame(draw);
    };
    draw(began);
    return () => cancelAnimationFrame(frame);
  }, [filter, before, probing, shownProbes, selected, width, height, top, colours]);

  const bitAt = (event: MouseEvent): number | undefined => {
    const bounds = canvas.current!.getBoundingClientRect();
    const x = event.clientX - bounds.left - MARGIN;
    const y = event.clientY - bounds.top - MARGIN + top;
    const byteWidth = 8 * grid.cell + grid.byteGap;
    const column = Math.floor(x / byteWidth);
    const inByte = Math.floor((x - column * byteWidth) / grid.cell);
    if (column < 0 || column >= grid.bytesPerRow || inByte < 0 || inByte > 7) return undefined;
    const bit = (rowAt(y) * grid.bytesPerRow + column) * 8 + inByte;
    return bit >= 0 && bit < bits ? bit : undefined;
  };

  const bringIntoSight = (bit: number): void => {
    const element = box.current!;
    const { y } = position(bit);
    if (y < element.scrollTop) element.scrollTop = y - grid.rowHeight;
    else if (y + grid.cell > element.scrollTop + height) element.scrollTop = y + 2 * grid.rowHeight - height;
  };
  const newest = probing?.probes[shownProbes - 1]?.bit;
  useLayoutEffect(() => {
    if (newest !== undefined && width > 0) bringIntoSight(newest);
  }, [filter, newest, width]);

  const choose = (bit: number): void => {
    onSelect(bit);
    bringIntoSight(bit);
  };

  const move = (event: KeyboardEvent): void => {
    const row = grid.bytesPerRow * 8;
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: row, ArrowUp: -row, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(selected === undefined ? 0 : Math.max(0, Math.min(bits - 1, selected + step)));
  };

  return (
    <div
      ref={box}
      class="bit-grid"
      role="application"
      aria-roledescription="bit array"
      aria-label={`${label}: ${filter.setBits} of ${bits} bits are 1`}
      aria-describedby={hint}
      tabIndex={0}
      style={{ height: `${height}px` }}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      onKeyDown={move}
      onClick={(event) => {
        const bit = bitAt(event);
        if (bit !== undefined) onSelect(bit);
      }}
    >
      <div style={{ height: `${fullHeight}px` }}>
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <span id={hint} class="visually-hidden">
        Arrow keys move from bit to bit. The line below tells which keys set the bit.
      </span>
    </div>
  );
}
