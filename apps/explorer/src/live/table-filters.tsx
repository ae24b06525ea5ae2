import { counted } from '@bloom/report';
import { byteSize, percent } from '../controls/sizes.js';
import type { FilterFill, LiveState, LiveTable } from './live-facts.js';

/** The tables, each with the share of bits that are 1 in its filters. */
export function TableFilters({ state: { tables, facts } }: { readonly state: LiveState }) {
  if (tables.length === 0) return null;
  const levels = new Map(facts?.levels.flatMap((files, level) => files.map(({ name }) => [name, level] as const)));
  return (
    <div class="live-tables">
      <h3>Filters of the tables</h3>
      <ul>
        {[...tables].reverse().map((table) => (
          <li key={table.table} data-table={table.table}>
            <p class="small">
              <strong>{table.table}</strong> <span class="muted">{levels.has(table.table) ? `level ${levels.get(table.table)}` : 'in no level'}</span> {counted(table.entries, 'entry')}, {byteSize(table.byteLength)};{' '}
              {counted(table.filters, 'filter')}, {byteSize(table.filterBytes)}
            </p>
            <Fills table={table} />
          </li>
        ))}
      </ul>
      <p class="small muted">A square is the filter for 2 KiB of the file. Darker squares have more bits that are 1. A square is hollow if no block starts in its 2 KiB, because blocks have about 4 KiB.</p>
    </div>
  );
}

function Fills({ table: { table, fills } }: { readonly table: LiveTable }) {
  const used = fills.filter(({ byteLength }) => byteLength > 0);
  const ones = used.reduce((sum, fill) => sum + shareOf(fill), 0) / Math.max(1, used.length);
  return (
    <div class="live-fills" role="img" aria-label={`${counted(used.length, 'filter')} of ${table}: ${percent(ones)} of their bits are 1`}>
      {fills.map((fill, i) => (
        <span key={i} class={fill.byteLength === 0 ? 'is-empty' : ''} style={fill.byteLength === 0 ? undefined : { '--ones': `${Math.round(shareOf(fill) * 100)}%` }} />
      ))}
    </div>
  );
}

/** The last byte of a filter is the number of probes. */
function shareOf({ byteLength, setBits }: FilterFill): number {
  return byteLength < 2 ? 0 : setBits / ((byteLength - 1) * 8);
}
