import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useNarrow } from './use-narrow.js';

const ROW_HEIGHT = 34;
/** The height of rows whose last cell is below the others. */
const STACKED_ROW_HEIGHT = 56;
/** The number of extra rows above and below the visible ones. */
const MARGIN = 8;
/** Browsers do not draw elements higher than about 16 million pixels. Longer lists are scaled. */
const MAX_HEIGHT = 8_000_000;

interface WindowProps<Row> {
  readonly label: string;
  readonly rowCount: number;
  /** `grid-template-columns` of each row. */
  readonly columns: string;
  /** Below this width, the list scrolls horizontally. */
  readonly minWidth?: string;
  /** On narrow screens: the columns of all cells except the last, which is below them with the full width. */
  readonly stackedColumns?: string;
  readonly headings: readonly string[];
  readonly height?: number;
  /** Rows `start` to `end`. Called again whenever `loadKey` changes. */
  readonly load: (start: number, end: number) => Promise<readonly Row[]> | readonly Row[];
  readonly loadKey: string;
  readonly row: (row: Row, number: number) => readonly ComponentChildren[];
  readonly rowClass?: (row: Row, number: number) => string;
  readonly selected?: number | undefined;
  readonly onSelect?: ((number: number, row: Row) => void) | undefined;
}

/** A list of any length. Only the visible rows are in the document. */
export function WindowedRows<Row>(props: WindowProps<Row>) {
  const { label, rowCount, stackedColumns, headings, height = 420, load, loadKey, row, rowClass, selected, onSelect } = props;
  const isStacked = useNarrow() && stackedColumns !== undefined;
  const columns = isStacked ? stackedColumns : props.columns;
  const minWidth = (isStacked ? undefined : props.minWidth) ?? '100%';
  const rowHeight = isStacked ? STACKED_ROW_HEIGHT : ROW_HEIGHT;
  const [top, setTop] = useState(0);
  const [loaded, setLoaded] = useState<{ readonly key: string; readonly start: number; readonly rows: readonly Row[] }>();
  const [focused, setFocused] = useState(0);
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  /** A row that the user chose before it was loaded. */
  const chosen = useRef<{ readonly key: string; readonly number: number } | undefined>(undefined);
  const fullHeight = rowCount * rowHeight;
  const shownHeight = Math.min(fullHeight, MAX_HEIGHT);
  const scale = shownHeight === 0 ? 1 : fullHeight / shownHeight;
  const inSight = Math.ceil(height / rowHeight);
  const first = Math.max(0, Math.min(rowCount - inSight, Math.floor((top * scale) / rowHeight)));
  const start = Math.max(0, first - MARGIN);
  const end = Math.min(rowCount, first + inSight + MARGIN);

  useEffect(() => {
    let current = true;
    const rows = load(start, end);
    if (rows instanceof Promise) {
      // `load` shows its failures.
      rows.then((loadedRows) => current && setLoaded({ key: loadKey, start, rows: loadedRows }), () => undefined);
    } else setLoaded({ key: loadKey, start, rows });
    return () => void (current = false);
  }, [start, end, loadKey]);

  const rows = loaded?.key === loadKey ? loaded : undefined;
  const choose = (number: number): void => {
    const found = rows?.rows[number - rows.start];
    chosen.current = found === undefined ? { key: loadKey, number } : undefined;
    if (found !== undefined) onSelect?.(number, found);
  };
  useEffect(() => {
    if (rows !== undefined && chosen.current?.key === loadKey) choose(chosen.current.number);
  }, [loaded]);

  const scrollTo = (number: number): void => {
    const element = scroller.current;
    if (element === null) return;
    const wanted = (number * rowHeight) / scale;
    const visible = element.clientHeight - ROW_HEIGHT;
    if (wanted < element.scrollTop) element.scrollTop = wanted;
    else if (wanted + rowHeight > element.scrollTop + visible) element.scrollTop = wanted + rowHeight - visible;
  };
  useEffect(() => setFocused((number) => Math.max(0, Math.min(number, rowCount - 1))), [rowCount, loadKey]);
  useEffect(() => {
    if (selected === undefined) return;
    setFocused(selected);
    scrollTo(selected);
  }, [selected, loadKey]);

  const move = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: inSight - 1, PageUp: 1 - inSight, Home: -Infinity, End: Infinity };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      chosen.current = undefined;
      const next = Math.max(0, Math.min(rowCount - 1, focused + step));
      setFocused(next);
      scrollTo(next);
    } else if ((event.key === 'Enter' || event.key === ' ') && onSelect !== undefined) {
      event.preventDefault();
      choose(focused);
    }
  };

  return (
    <div
      ref={scroller}
      class={`window ${isStacked ? 'is-stacked' : ''}`}
      style={{ height: `${Math.min(height, rowCount * rowHeight + ROW_HEIGHT + 14)}px` }}
      role="grid"
      aria-label={label}
      aria-rowcount={rowCount + 1}
      aria-colcount={headings.length}
      // Tells screen readers which row has the focus, as long as the row is in the document.
      aria-activedescendant={rowCount > 0 && focused >= start && focused < end ? `${id}-${focused}` : undefined}
      tabIndex={0}
      onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      onKeyDown={move}
    >
      <div class="window-head" role="row" aria-rowindex={1} style={{ gridTemplateColumns: columns, minWidth }}>
        {headings.map((heading) => (
          <span key={heading} role="columnheader">
            {heading}
          </span>
        ))}
      </div>
      <div role="rowgroup" style={{ height: `${shownHeight}px`, minWidth }}>
        {rows?.rows.map((item, i) => {
          const number = rows.start + i;
          // In a scaled list, rows are positioned relative to the scroll position.
          const y = ROW_HEIGHT + (scale === 1 ? number * rowHeight : top + (number - first) * rowHeight);
          return (
            <div
              key={number}
              id={`${id}-${number}`}
              role="row"
              aria-rowindex={number + 2}
              aria-selected={onSelect === undefined ? undefined : number === selected}
              class={`window-row ${number === selected ? 'is-selected' : ''} ${number === focused ? 'is-focused' : ''} ${rowClass?.(item, number) ?? ''}`}
              style={{ top: `${y}px`, gridTemplateColumns: columns, minWidth }}
              onClick={
                onSelect === undefined
                  ? undefined
                  : () => {
                      setFocused(number);
                      onSelect(number, item);
                    }
              }
            >
              {row(item, number).map((cell, column) => (
                <span key={column} role="gridcell">
                  {cell}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
