import { useWidth } from '../controls/use-width.js';
import { useLit } from './highlight.js';

/** A word and its bits. */
export interface RowWord {
  readonly word: string;
  readonly bits: readonly number[];
}

interface BitRowProps {
  readonly bits: number;
  readonly isSet: (bit: number) => boolean;
  /** An added word, drawn above the row, with its bits that are shown so far. */
  readonly added?: RowWord | undefined;
  /** The bits that the last word set to 1. */
  readonly fresh?: ReadonlySet<number>;
  /** The word in question, drawn below the row. */
  readonly asked?: RowWord | undefined;
  /** Whether to show the result, which is hidden until the reader has guessed it. */
  readonly isJudged?: boolean;
  /** Whether the answer of the bits is wrong. */
  readonly isFalse?: boolean;
}

const WIDE = 560;
const CHIP = 34;
/** The distance between a word and the row. */
const REACH = 64;
const ROW_GAP = 30;
const BYTE_GAP = 7;
const MAX_CELL = 34;
const SHOWN_LETTERS = 16;

/** A row of bits, the word that set some of them to 1, and the word in question. */
export function BitRow({ bits, isSet, added, fresh, asked, isJudged = true, isFalse = false }: BitRowProps) {
  const { box, width } = useWidth();
  const lit = useLit();

  const columns = width >= WIDE ? 32 : 16;
  const gaps = (columns / 8 - 1) * BYTE_GAP;
  const cell = Math.max(8, Math.min(MAX_CELL, Math.floor((width - gaps - 4) / columns)));
  const rowWidth = columns * cell + gaps;
  const left = Math.max(2, Math.floor((width - rowWidth) / 2));
  const rows = bits / columns;
  const rowHeight = cell + 4 + ROW_GAP;
  const top = added === undefined ? 18 : CHIP + REACH;
  const rowsHeight = rows * rowHeight - ROW_GAP;
  const bottom = top + rowsHeight;
  const height = bottom + (asked === undefined ? 20 : REACH + CHIP + 2);
  const place = (bit: number): { x: number; y: number } => {
    const column = bit % columns;
    return { x: left + column * cell + Math.floor(column / 8) * BYTE_GAP, y: top + Math.floor(bit / columns) * rowHeight };
  };
  const tone = (bit: number): string => {
    if (asked?.bits.includes(bit) === true) return !isJudged ? 'is-asked' : isFalse ? 'is-false' : isSet(bit) ? 'is-one' : 'is-proof';
    if (fresh?.has(bit) === true) return 'is-new';
    return added?.bits.includes(bit) === true ? 'is-kept' : '';
  };
  const middle = width / 2;
  const line = (bit: number, from: number): string => {
    const { x, y } = place(bit);
    const to = { x: x + cell / 2, y: from < y ? y : y + cell };
    const bend = (to.y - from) * 0.55;
    return `M${middle} ${from}C${middle} ${from + bend} ${to.x} ${to.y - bend} ${to.x} ${to.y}`;
  };
  const named = new Set([...(added?.bits ?? []), ...(asked?.bits ?? [])]);
  const say = ({ word, bits: its }: RowWord, verb: string): string => `“${word}” ${verb} ${its.map((bit) => (isJudged ? `bit ${bit}, which is ${isSet(bit) ? 1 : 0}` : `bit ${bit}`)).join('; ')}.`;
  const ones = Array.from({ length: bits }, (_, bit) => bit).filter(isSet);
  const label = `A row of ${bits} bits, ${ones.length} of them 1. ${added === undefined ? '' : say(added, 'was added:')} ${asked === undefined ? '' : say(asked, 'maps to')}`;
  return (
    <div ref={box} class="bit-row">
      {width > 0 && (
        <svg role="img" aria-label={label} width={width} height={height} viewBox={`0 0 ${width} ${height}`} data-ones={ones.join()}>
          {added?.bits.map((bit) => <path key={bit} class={`row-line ${fresh?.has(bit) === true ? 'is-new' : 'is-kept'} ${lit.has(String(bit)) ? 'is-lit' : ''}`} d={line(bit, CHIP)} />)}
          {asked?.bits.map((bit) => <path key={bit} class={`row-line ${tone(bit)} ${lit.has(String(bit)) ? 'is-lit' : ''}`} d={line(bit, bottom + REACH)} />)}
          {Array.from({ length: bits }, (_, bit) => {
            const { x, y } = place(bit);
            const isLit = lit.has(String(bit)) || lit.has('row') || (lit.has('ones') && isSet(bit));
            return (
              <g key={bit} class={`row-bit ${isSet(bit) ? 'is-set' : ''} ${tone(bit)} ${isLit ? 'is-lit' : ''}`} data-bit={bit}>
                <rect x={x + 1} y={y} width={cell - 2} height={cell} rx={Math.min(5, cell / 5)} />
                <text x={x + cell / 2} y={y + cell / 2 + 1} font-size={Math.max(10, Math.min(16, cell * 0.55))}>
                  {isSet(bit) ? 1 : 0}
                </text>
                {(named.has(bit) || isLit) && !lit.has('row') && (
                  <text class="row-number" x={x + cell / 2} y={asked?.bits.includes(bit) === true && (!named.has(bit) || added?.bits.includes(bit) !== true) ? y - 8 : y + cell + 11}>
                    {bit}
                  </text>
                )}
              </g>
            );
          })}
          {added !== undefined && <Chip word={added.word} x={middle} y={0} kind="is-added" />}
          {asked !== undefined && <Chip word={asked.word} x={middle} y={bottom + REACH} kind="is-asked" />}
        </svg>
      )}
    </div>
  );
}

function Chip({ word, x, y, kind }: { readonly word: string; readonly x: number; readonly y: number; readonly kind: string }) {
  const text = (word.length > SHOWN_LETTERS ? `${word.slice(0, SHOWN_LETTERS - 1)}…` : word).replace(/^\s+|\s+$/g, (spaces) => '␣'.repeat(spaces.length));
  const verb = kind === 'is-added' ? '+ ' : '';
  const shown = `${verb}${text}${kind === 'is-asked' ? ' ?' : ''}`;
  const width = shown.length * 9.6 + 28;
  return (
    <g class={`row-chip ${kind}`}>
      <rect x={x - width / 2} y={y + 1} width={width} height={CHIP - 2} rx="16" />
      <text x={x} y={y + CHIP / 2 + 1}>
        {shown}
      </text>
    </g>
  );
}
