import { counted } from '@bloom/report';
import { useMemo, useState } from 'preact/hooks';
import { BytesText } from '../bytes/bytes-text.js';
import { type ByteForm, partsOf } from '../bytes/byte-forms.js';
import { Segmented } from '../controls/controls.js';
import { byteSize } from '../controls/sizes.js';
import type { DatabaseFacts, LevelTableFacts } from './database-facts.js';
import { keyAxis, type KeyScale } from './key-axis.js';

/** The most tables of a level that are drawn as bars. More bars would be too narrow to click. */
const MOST_BARS = 300;
/** The number of bytes of a key in a tooltip. */
const SHOWN_BYTES = 80;

/** The result of a lookup in a table or log. */
export type Visit = 'found' | 'read' | 'skipped' | 'failed' | 'not asked';

interface LevelMapProps {
  readonly facts: DatabaseFacts;
  readonly form: ByteForm;
  readonly onOpen: (name: string) => void;
  readonly lookup?: LookupPath | undefined;
  /** What is being done to tables, by name, for the labels of their bars. */
  readonly marks?: ReadonlyMap<string, string> | undefined;
}

/** The key of a lookup, and its path so far. */
export interface LookupPath {
  readonly key: Uint8Array;
  /** The results in logs and tables, by name. */
  readonly visits: ReadonlyMap<string, Visit>;
  /** The levels that it reached, and whether it searched all their tables. */
  readonly levels: ReadonlyMap<number, boolean>;
}

/** The levels of a database. Each table is drawn at the position of its keys. */
export function LevelMap({ facts, form, onOpen, lookup, marks }: LevelMapProps) {
  const tables = facts.levels.flat();
  const axes = useMemo(() => ({ bytes: keyAxis(facts, 'bytes'), even: keyAxis(facts, 'even') }), [facts]);
  // Keys that are close together are easier to see when they are spread evenly.
  const widthOf = ({ smallest, largest }: LevelTableFacts): number => axes.bytes.position(largest.bytes) - axes.bytes.position(smallest.bytes);
  const isBunched = tables.length > 1 && tables.filter((table) => widthOf(table) < 0.02).length > tables.length / 2;
  const [chosen, setChosen] = useState<KeyScale>();
  // IndexedDB does not sort keys by their bytes.
  const scale = facts.isIndexedDb ? 'even' : (chosen ?? (isBunched ? 'even' : 'bytes'));
  const { ends } = axes[scale];
  const position = (key: Uint8Array): number => axes[scale].position(key);
  const visitOf = (name: string): string => (lookup === undefined ? '' : `is-${(lookup.visits.get(name) ?? 'not asked').replace(' ', '-')}`);
  return (
    <div class={`level-map ${lookup === undefined ? '' : 'has-lookup'}`}>
      <ol class="levels">
        {facts.logs.map((log) => (
          <li key={log.name} class="level is-log">
            <span class="level-name">Log</span>
            <div class="level-lanes">
              <div class={`log-bar ${visitOf(log.name)}`}>
                <button type="button" class="is-link" onClick={() => onOpen(log.name)}>
                  {log.name}
                </button>{' '}
                <span>{counted(log.entries, 'write')}, {byteSize(log.byteLength)}</span>
                {log.tail !== undefined && <span class="muted">It ends in the middle of a record ({log.tail}), as after a crash. That write is ignored.</span>}
              </div>
            </div>
          </li>
        ))}
        {facts.levels.map((levelTables, level) =>
          levelTables.length === 0 ? null : (
            <li key={level} class="level">
              <span class="level-name">
                Level {level} <span class="muted">{counted(levelTables.length, 'table')}</span>
              </span>
              <Lanes tables={levelTables} level={level} form={form} position={position} onOpen={onOpen} lookup={lookup} marks={marks} visitOf={visitOf} />
            </li>
          ),
        )}
      </ol>
      {ends !== undefined && (
        <div class="level-axis small muted">
          <span>
            <BytesText bytes={ends.first} form={form} />
          </span>
          <span>
            <BytesText bytes={ends.last} form={form} />
          </span>
        </div>
      )}
      {lookup === undefined && tables.some(({ filter }) => filter !== 'used') && (
        <ul class="map-legend" aria-label="Bars">
          <li>
            <span class="filter-swatch" aria-hidden="true" /> has a filter
          </li>
          <li>
            <span class="filter-swatch has-no-filter" aria-hidden="true" /> dashed: has no usable filter, so every lookup in its range reads a block
          </li>
        </ul>
      )}
      {lookup !== undefined ? null : tables.length === 0 ? (
        <p class="muted">There are no tables yet: everything is in the log.</p>
      ) : facts.isIndexedDb ? null : (
        <Segmented
          legend="Scale of keys"
          name="key-scale"
          value={scale}
          options={[
            ['bytes', 'By their bytes'],
            ['even', 'Evenly'],
          ]}
          onChange={setChosen}
        />
      )}
    </div>
  );
}

interface LanesProps {
  readonly tables: readonly LevelTableFacts[];
  readonly level: number;
  readonly form: ByteForm;
  readonly position: (key: Uint8Array) => number;
  readonly onOpen: (name: string) => void;
  readonly lookup: LevelMapProps['lookup'];
  readonly marks: LevelMapProps['marks'];
  readonly visitOf: (name: string) => string;
}

function Lanes({ tables, level, form, position, onOpen, lookup, marks, visitOf }: LanesProps) {
  // Tables of level 0 overlap, so each has its own lane, the newest on top. Deeper levels need one lane.
  const lanes = level === 0 ? [...tables].sort((a, b) => Number(BigInt(b.number) - BigInt(a.number))).map((table) => [table]) : [tables];
  const shown = lanes.slice(0, 40);
  // The key’s line ends where the lookup ended.
  const lastAsked = Math.max(...shown.map((lane, i) => (lane.some(({ name }) => lookup?.visits.has(name) === true) ? i : -1)));
  const isCrossed = (lane: number): boolean => lookup?.levels.has(level) === true && (lane <= lastAsked || lookup.levels.get(level) === true);
  const plain = (bytes: Uint8Array): string => partsOf(bytes.subarray(0, SHOWN_BYTES), form).map(({ text }) => text).join('');
  const rest = tables.length - shown.reduce((sum, lane) => sum + Math.min(lane.length, MOST_BARS), 0);
  return (
    <div class="level-lanes">
      {shown.map((lane, i) => (
        <div key={i} class="lane">
          {lookup !== undefined && isCrossed(i) && <span class="key-line" style={{ left: `${position(lookup.key) * 100}%` }} />}
          {lane.slice(0, MOST_BARS).map((table) => {
            const left = position(table.smallest.bytes) * 100;
            const width = position(table.largest.bytes) * 100 - left;
            const mark = marks?.get(table.name);
            return (
              <button
                key={table.number}
                type="button"
                class={`table-bar is-level-${Math.min(level, 3)} ${lookup !== undefined || table.filter === 'used' ? '' : 'has-no-filter'} ${visitOf(table.name)} ${mark === undefined ? '' : 'is-marked'}`}
                style={{ left: `${left}%`, width: `${width}%` }}
                title={`${table.name}: ${byteSize(table.byteLength)}, filter ${table.filter}\n${plain(table.smallest.bytes)} … ${plain(table.largest.bytes)}`}
                aria-label={`Table ${table.name}, level ${level}, ${byteSize(table.byteLength)}, filter ${table.filter}, keys from ${plain(table.smallest.bytes)} to ${plain(table.largest.bytes)}${mark === undefined ? '' : `, ${mark}`}`}
                onClick={() => onOpen(table.name)}
              >
                <span data-number={table.number}>{table.name}</span>
              </button>
            );
          })}
        </div>
      ))}
      {rest > 0 && <p class="small muted">and {counted(rest, 'more table')}</p>}
    </div>
  );
}
