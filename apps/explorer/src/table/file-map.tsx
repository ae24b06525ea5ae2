import { count, counted } from '@bloom/report';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useWidth } from '../controls/use-width.js';
import { byteSize, percent } from '../controls/sizes.js';
import { colourOf, useColours } from '../shell/theme.js';
import type { TableFacts } from './table-facts.js';

/** Names and colours of the map's parts: block kinds by number, then parts that are not blocks. */
export const PART_TITLES = ['Data', 'Filter', 'Meta', 'Metaindex', 'Index', 'Footer', 'Unused'] as const;
const PART_COLOURS = ['data', 'filter', 'meta', 'metaindex', 'index', 'footer', 'unused'] as const;
const FOOTER_PART = 5;
const UNUSED_PART = 6;
const TRAILER_BYTES = 5;
const FOOTER_BYTES = 48;

/** The parts of a file, in its order and without gaps, in flat arrays. */
export interface FileParts {
  readonly parts: Uint8Array;
  /** The start of each part, and the end of the file. */
  readonly starts: Float64Array;
  /** The number of the block of each part; -1 for parts that are not blocks. */
  readonly blocks: Int32Array;
}

/** The parts of the file in order. Overlapping bytes belong to the first block. */
export function filePartsOf({ kinds, offsets, sizes, byteLength, footerLayout, findings }: TableFacts): FileParts {
  const most = 2 * kinds.length + 3;
  const parts = new Uint8Array(most);
  const starts = new Float64Array(most + 1);
  const blocks = new Int32Array(most);
  let length = 0;
  let position = 0;
  const put = (part: number, end: number, block: number): void => {
    if (end <= position) return;
    parts[length] = part;
    starts[length] = position;
    blocks[length] = block;
    length++;
    position = end;
  };
  for (let i = 0; i < kinds.length; i++) {
    put(UNUSED_PART, offsets[i]!, -1);
    put(kinds[i]!, offsets[i]! + sizes[i]! + TRAILER_BYTES, i);
  }
  if (footerLayout.length > 0 && !findings.some(({ code }) => code === 'BLOOM_NOT_A_TABLE')) {
    put(UNUSED_PART, byteLength - FOOTER_BYTES, -1);
    put(FOOTER_PART, byteLength, -1);
  }
  put(UNUSED_PART, byteLength, -1);
  starts[length] = byteLength;
  return { parts: parts.slice(0, length), starts: starts.slice(0, length + 1), blocks: blocks.slice(0, length) };
}

export function partTitle({ parts, starts, blocks }: FileParts, i: number): string {
  const title = PART_TITLES[parts[i]!]!;
  const number = parts[i] === 0 ? ` block ${count(blocks[i]! + 1)}` : parts[i]! < FOOTER_PART ? ' block' : '';
  return `${title}${number}, ${counted(starts[i + 1]! - starts[i]!, 'byte')} at ${count(starts[i]!)}`;
}

/** The part that contains byte `offset`. */
export function partAt({ starts }: FileParts, offset: number): number {
  let left = 0;
  let right = starts.length - 2;
  while (left < right) {
    const middle = (left + right + 1) >>> 1;
    if (starts[middle]! <= offset) left = middle;
    else right = middle - 1;
  }
  return left;
}

interface FileMapProps {
  readonly fileParts: FileParts;
  readonly byteLength: number;
  /** The offsets of damage. */
  readonly findings: readonly number[];
  readonly selected: number;
  readonly onSelect: (part: number) => void;
}

const STRIP_HEIGHT = 96;
const OVERVIEW_HEIGHT = 22;
const GAP = 26;
const MARKER = 14;
const HEIGHT = MARKER + STRIP_HEIGHT + GAP + OVERVIEW_HEIGHT;
const NARROWEST_BYTES = 64;

/** A map of the file to scale: a strip that can be zoomed, and below it a strip of the whole file. */
export function FileMap({ fileParts, byteLength, findings, selected, onSelect }: FileMapProps) {
  const { box, width } = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [range, setRange] = useState<readonly [number, number]>([0, byteLength]);
  const [hovered, setHovered] = useState<number>();
  const drag = useRef<{ readonly x: number; readonly range: readonly [number, number]; readonly inOverview: boolean; moved: boolean } | undefined>(undefined);
  const colours = useColours();
  const { parts, starts, blocks } = fileParts;
  const partCount = parts.length;

  useEffect(() => setRange([0, byteLength]), [fileParts]);

  const clampedRange = (from: number, to: number): readonly [number, number] => {
    const span = Math.min(byteLength, Math.max(to - from, Math.min(NARROWEST_BYTES, byteLength)));
    const start = Math.max(0, Math.min(byteLength - span, from));
    return [start, start + span];
  };
  const zoom = (factor: number, around = (range[0] + range[1]) / 2): void => {
    setRange(([from, to]) => clampedRange(around - (around - from) * factor, around + (to - around) * factor));
  };
  const reveal = (part: number): void => {
    const start = starts[part]!;
    const end = starts[part + 1]!;
    setRange(([from, to]) => {
      if (start >= from && end <= to) return [from, to];
      const span = Math.max(to - from, (end - start) * 1.2);
      return clampedRange((start + end) / 2 - span / 2, (start + end) / 2 + span / 2);
    });
  };
  useEffect(() => {
    if (selected >= 0 && selected < partCount) reveal(selected);
  }, [selected, fileParts]);

  useEffect(() => {
    const element = canvas.current!;
    const context = element.getContext('2d')!;
    const ratio = devicePixelRatio;
    element.width = Math.max(1, Math.round(width * ratio));
    element.height = Math.round(HEIGHT * ratio);
    element.style.width = `${width}px`;
    element.style.height = `${HEIGHT}px`;
    const colour = (name: string): string => colourOf(element, name);
    const palette = PART_COLOURS.map(colour);
    const other = colour('data-alt');
    const [ink, muted, line, bad, paper] = ['ink', 'muted', 'line', 'false', 'paper'].map(colour) as [string, string, string, string, string];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, HEIGHT);

    /** Draws a strip of `[from, to)`. A pixel has the colour of the most important part in it. */
    const strip = (from: number, to: number, top: number, height: number, separate: boolean): void => {
      const scale = width / (to - from);
      let i = partAt(fileParts, from);
      while (i < partCount && starts[i]! < to) {
        const x = Math.max(0, (starts[i]! - from) * scale);
        const end = Math.min(width, (starts[i + 1]! - from) * scale);
        const wide = end - x;
        if (wide >= 1.5) {
          context.fillStyle = parts[i] === 0 && blocks[i]! % 2 === 1 ? other : palette[parts[i]!]!;
          context.fillRect(x, top, Math.max(1, wide - (separate && wide > 4 ? 1 : 0)), height);
          i++;
          continue;
        }
        // If a pixel has several parts, rarer kinds than data are shown.
        const pixelEnd = Math.floor(x) + 1;
        const last = Math.max(i, Math.min(partCount - 1, partAt(fileParts, Math.min(to - 1, from + pixelEnd / scale))));
        let shown = parts[i]!;
        const step = Math.max(1, Math.floor((last - i) / 16));
        for (let j = i; j <= last; j += step) if (parts[j] !== 0) shown = parts[j]!;
        context.fillStyle = palette[shown]!;
        context.fillRect(Math.floor(x), top, 1, height);
        i = Math.max(i + 1, last);
      }
    };

    const [from, to] = range;
    const scale = width / (to - from);
    strip(from, to, MARKER, STRIP_HEIGHT, true);
    // Names of parts that are wide enough.
    context.font = `600 12px ${getComputedStyle(element).fontFamily}`;
    context.textBaseline = 'middle';
    if ((to - from) / width < 4096) {
      for (let i = partAt(fileParts, from); i < partCount && starts[i]! < to; i++) {
        const x = Math.max(0, (starts[i]! - from) * scale);
        const wide = Math.min(width, (starts[i + 1]! - from) * scale) - x;
        if (wide < 64) continue;
        const name = parts[i] === 0 ? `${blocks[i]! + 1}` : PART_TITLES[parts[i]!]!;
        context.fillStyle = parts[i] === UNUSED_PART ? ink : paper;
        context.fillText(name, x + 8, MARKER + STRIP_HEIGHT / 2, wide - 14);
      }
    }
    context.fillStyle = bad;
    for (const offset of findings) {
      if (offset < from || offset > to) continue;
      const x = (offset - from) * scale;
      // Keeps the mark whole at the ends of the strip.
      const head = Math.max(6, Math.min(width - 6, x));
      context.beginPath();
      context.moveTo(head - 6, 0);
      context.lineTo(head + 6, 0);
      context.lineTo(x, 11);
      context.fill();
      context.fillRect(x - 0.75, 8, 1.5, STRIP_HEIGHT + MARKER - 8);
    }
    for (const [part, style, thickness] of [[hovered, muted, 2], [selected, ink, 3]] as const) {
      if (part === undefined || part < 0 || part >= partCount) continue;
      const x = (starts[part]! - from) * scale;
      const wide = (starts[part + 1]! - starts[part]!) * scale;
      if (x > width || x + wide < 0) continue;
      context.strokeStyle = style;
      context.lineWidth = thickness;
      context.strokeRect(x - 1, MARKER - 1, Math.max(3, wide) + 1, STRIP_HEIGHT + 2);
    }
    // The scale between the two strips.
    context.fillStyle = muted;
    context.font = `12px ${getComputedStyle(element).fontFamily}`;
    context.textBaseline = 'middle';
    context.textAlign = 'left';
    const middle = MARKER + STRIP_HEIGHT + GAP / 2;
    context.fillText(count(Math.round(from)), 0, middle);
    context.textAlign = 'right';
    context.fillText(count(Math.round(to)), width, middle);
    context.textAlign = 'center';
    context.fillText(`${byteSize(to - from)} of ${byteSize(byteLength)}`, width / 2, middle);
    context.textAlign = 'left';
    const top = MARKER + STRIP_HEIGHT + GAP;
    strip(0, byteLength, top, OVERVIEW_HEIGHT, false);
    const left = (from / byteLength) * width;
    const wide = Math.max(6, ((to - from) / byteLength) * width);
    if (to - from < byteLength) {
      context.globalAlpha = 0.6;
      context.fillStyle = paper;
      context.fillRect(0, top, left, OVERVIEW_HEIGHT);
      context.fillRect(left + wide, top, width - left - wide, OVERVIEW_HEIGHT);
      context.globalAlpha = 1;
    }
    context.strokeStyle = to - from < byteLength ? ink : line;
    context.lineWidth = 2;
    context.strokeRect(left + 1, top + 1, wide - 2, OVERVIEW_HEIGHT - 2);
  }, [fileParts, range, width, selected, hovered, findings, colours]);

  const byteAt = (event: MouseEvent): number => {
    const bounds = canvas.current!.getBoundingClientRect();
    return range[0] + ((event.clientX - bounds.left) / width) * (range[1] - range[0]);
  };
  const isInOverview = (event: MouseEvent): boolean => event.clientY - canvas.current!.getBoundingClientRect().top > MARKER + STRIP_HEIGHT + GAP / 2;
  const centreOn = (event: MouseEvent): void => {
    const bounds = canvas.current!.getBoundingClientRect();
    const centre = ((event.clientX - bounds.left) / width) * byteLength;
    setRange(([from, to]) => clampedRange(centre - (to - from) / 2, centre + (to - from) / 2));
  };
  const wheel = (event: WheelEvent): void => {
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      const shift = (event.deltaX / width) * (range[1] - range[0]);
      setRange(([from, to]) => clampedRange(from + shift, to + shift));
    } else zoom(Math.exp(event.deltaY * 0.002), byteAt(event));
  };
  useEffect(() => {
    // Preact's own listener would be passive.
    const element = canvas.current!;
    element.addEventListener('wheel', wheel, { passive: false });
    return () => element.removeEventListener('wheel', wheel);
  });

  const move = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 20, PageDown: -20, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step !== undefined) onSelect(Math.max(0, Math.min(partCount - 1, selected + step)));
    else if (event.key === '+' || event.key === '=') zoom(0.5, selected >= 0 ? (starts[selected]! + starts[selected + 1]!) / 2 : undefined);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0') setRange([0, byteLength]);
    else return;
    event.preventDefault();
  };

  const shares = useMemo(() => {
    const bytes = new Array<number>(PART_TITLES.length).fill(0);
    const counts = new Array<number>(PART_TITLES.length).fill(0);
    for (let i = 0; i < partCount; i++) {
      bytes[parts[i]!]! += starts[i + 1]! - starts[i]!;
      counts[parts[i]!]!++;
    }
    return PART_TITLES.map((title, i) => ({ title, colour: PART_COLOURS[i]!, bytes: bytes[i]!, count: counts[i]! })).filter((share) => share.bytes > 0);
  }, [fileParts]);

  return (
    <div class="file-map">
      <div class="card-head">
        <h2>Map of the file</h2>
        <div class="row" role="group" aria-label="Zoom">
          <button type="button" onClick={() => zoom(0.5)} aria-label="Zoom in">
            +
          </button>
          <button type="button" onClick={() => zoom(2)} aria-label="Zoom out">
            −
          </button>
          <button type="button" onClick={() => setRange([0, byteLength])}>
            Whole file
          </button>
        </div>
      </div>
      <div
        ref={box}
        class="file-map-strip"
        role="slider"
        tabIndex={0}
        aria-label="Map of the file"
        aria-orientation="horizontal"
        aria-valuemin={1}
        aria-valuemax={partCount}
        aria-valuenow={selected + 1}
        aria-valuetext={selected >= 0 && selected < partCount ? partTitle(fileParts, selected) : 'nothing'}
        onKeyDown={move}
      >
        <canvas
          ref={canvas}
          aria-hidden="true"
          onPointerDown={(event) => {
            const inOverview = isInOverview(event);
            drag.current = { x: event.clientX, range, inOverview, moved: false };
            canvas.current!.setPointerCapture(event.pointerId);
            if (inOverview) centreOn(event);
          }}
          onPointerMove={(event) => {
            const dragged = drag.current;
            if (dragged === undefined) {
              setHovered(isInOverview(event) ? undefined : partAt(fileParts, byteAt(event)));
              return;
            }
            if (dragged.inOverview) {
              centreOn(event);
              return;
            }
            if (Math.abs(event.clientX - dragged.x) > 4) dragged.moved = true;
            if (!dragged.moved) return;
            const shift = ((dragged.x - event.clientX) / width) * (dragged.range[1] - dragged.range[0]);
            setRange(clampedRange(dragged.range[0] + shift, dragged.range[1] + shift));
          }}
          onPointerUp={(event) => {
            const dragged = drag.current;
            drag.current = undefined;
            if (dragged === undefined || dragged.inOverview || dragged.moved) return;
            onSelect(partAt(fileParts, Math.max(0, Math.min(byteLength - 1, byteAt(event)))));
          }}
          onPointerCancel={() => (drag.current = undefined)}
          onPointerLeave={() => setHovered(undefined)}
        />
      </div>
      <p class="file-map-hover small muted" aria-hidden="true">
        {hovered === undefined ? 'Click a block to open it. Scroll to zoom, drag to move. Keys: arrows, + − 0.' : partTitle(fileParts, hovered)}
      </p>
      <ul class="map-legend" aria-label="Parts of the file">
        {shares.map(({ title, colour, bytes, count: number }) => (
            <li key={title}>
              <span class={`map-swatch is-${colour}`} aria-hidden="true" />
              {title} <span class="muted">{number > 1 ? `${count(number)} · ` : ''}{byteSize(bytes)} · {percent(bytes / byteLength)}</span>
            </li>
          ))}
      </ul>
    </div>
  );
}
