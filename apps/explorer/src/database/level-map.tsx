import { useMemo, useState } from 'preact/hooks';
import { BytesText } from '../bytes/bytes-text.js';
import { type KeyForm, textParts } from '../bytes/key-form.js';
import { Segmented } from '../controls/controls.js';
import { byteSize, counted } from '../controls/sizes.js';
import type { DatabaseFacts, LevelTableFacts } from './database-facts.js';

/** More tables of one level than these are too narrow to touch. */
const MOST_BARS = 300;
const NUMBER_BYTES = 6;

type Scale = 'bytes' | 'even';

/** What a lookup did with a table or log. */
export type Visit = 'found' | 'read' | 'skipped' | 'failed' | 'not asked';

interface LevelMapProps {
  readonly facts: DatabaseFacts;
  readonly onOpen: (name: string) => void;
  /** The key of a lookup, and by name what it did with logs and tables. */
  readonly lookup?: { readonly key: Uint8Array; readonly visits: ReadonlyMap<string, Visit> } | undefined;
}

/** Levels one above the other, each table where its keys are. */
export function LevelMap({ facts, onOpen, lookup }: LevelMapProps) {
  const tables = facts.levels.flat();
  const positions = useMemo(() => ({ bytes: byteScale(tables), even: evenScale(facts) }), [facts]);
  // Keys that bunch together say more when they are spread evenly.
  const isBunched = tables.length > 1 && tables.filter((table) => positions.bytes(table.largest.userKey.bytes) - positions.bytes(table.smallest.userKey.bytes) < 0.01).length > tables.length / 2;
  const [chosen, setChosen] = useState<Scale>();
  const scale = chosen ?? (isBunched || facts.isIndexedDb ? 'even' : 'bytes');
  const position = positions[scale];
  const form: KeyForm = facts.isIndexedDb ? 'indexeddb' : facts.isMinecraft ? 'minecraft' : 'text';
  const sorted = [...tables].sort((a, b) => position(a.smallest.userKey.bytes) - position(b.smallest.userKey.bytes));
  const first = sorted[0];
  const last = [...tables].sort((a, b) => position(b.largest.userKey.bytes) - position(a.largest.userKey.bytes))[0];
  const visitOf = (name: string): string => (lookup === undefined ? '' : `is-${(lookup.visits.get(name) ?? 'not asked').replace(' ', '-')}`);
  return (
    <div class={`level-map ${lookup === undefined ? '' : 'has-lookup'}`}>
      <ol class="levels">
        {facts.logs.map((log) => (
          <li key={log.name} class="level is-log">
            <span class="level-name">Log</span>
            <div class="level-lanes">
              <div class={`log-bar ${visitOf(log.name)}`}>
                {log.name} <span>{counted(log.entries, 'write')}, {byteSize(log.byteLength)}</span>
                {log.tail !== undefined && <span class="muted">It ends in the middle of a record ({log.tail}), as after a crash: that write never counted.</span>}
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
              <Lanes tables={levelTables} level={level} position={position} onOpen={onOpen} lookup={lookup} visitOf={visitOf} />
            </li>
          ),
        )}
      </ol>
      {first !== undefined && last !== undefined && (
        <div class="level-axis small muted">
          <span><BytesText bytes={first.smallest.userKey.bytes} form={form} /></span>
          <span><BytesText bytes={last.largest.userKey.bytes} form={form} /></span>
        </div>
      )}
      {lookup !== undefined ? null : tables.length === 0 ? (
        <p class="muted">No tables yet: everything is in the log.</p>
      ) : (
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
  readonly position: (key: Uint8Array) => number;
  readonly onOpen: (name: string) => void;
  readonly lookup: LevelMapProps['lookup'];
  readonly visitOf: (name: string) => string;
}

function Lanes({ tables, level, position, onOpen, lookup, visitOf }: LanesProps) {
  // Level 0 overlaps: each table has a lane of its own, the newest on top. Deeper levels need one.
  const lanes = level === 0 ? [...tables].sort((a, b) => Number(BigInt(b.number) - BigInt(a.number))).map((table) => [table]) : [tables];
  const shown = lanes.slice(0, 40);
  const rest = tables.length - shown.reduce((sum, lane) => sum + Math.min(lane.length, MOST_BARS), 0);
  return (
    <div class="level-lanes">
      {shown.map((lane, i) => (
        <div key={i} class="lane">
          {lookup !== undefined && <span class="key-line" style={{ left: `${Math.max(0, Math.min(1, position(lookup.key))) * 100}%` }} />}
          {lane.slice(0, MOST_BARS).map((table) => {
            const left = position(table.smallest.userKey.bytes) * 100;
            const width = Math.max(0.4, position(table.largest.userKey.bytes) * 100 - left);
            return (
              <button
                key={table.number}
                type="button"
                class={`table-bar is-level-${Math.min(level, 3)} ${lookup !== undefined || table.filter === 'used' ? '' : 'has-no-filter'} ${visitOf(table.name)}`}
                style={{ left: `${Math.min(99.6, left)}%`, width: `${width}%` }}
                title={`${table.name}: ${byteSize(table.byteLength)}, filter ${table.filter}\n${plain(table.smallest.userKey.bytes)} … ${plain(table.largest.userKey.bytes)}`}
                aria-label={`Table ${table.name}, level ${level}, ${byteSize(table.byteLength)}, filter ${table.filter}, keys from ${plain(table.smallest.userKey.bytes)} to ${plain(table.largest.userKey.bytes)}`}
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

function plain(bytes: Uint8Array): string {
  return textParts(bytes.subarray(0, 80))
    .map(({ text }) => text)
    .join('');
}

/** Keys as numbers: the bytes after those that all bounds have in common. */
function byteScale(tables: readonly LevelTableFacts[]): (key: Uint8Array) => number {
  const bounds = tables.flatMap(({ smallest, largest }) => [smallest.userKey.bytes, largest.userKey.bytes]);
  let common = bounds[0]?.length ?? 0;
  for (const bound of bounds) {
    let length = 0;
    while (length < common && bound[length] === bounds[0]![length]) length++;
    common = length;
  }
  const numberOf = (key: Uint8Array): number => {
    let number = 0;
    for (let i = common; i < common + NUMBER_BYTES; i++) number = number * 256 + (key[i] ?? 0);
    return number;
  };
  const numbers = bounds.map(numberOf);
  const least = Math.min(...numbers);
  const span = Math.max(...numbers) - least || 1;
  return (key) => (numberOf(key) - least) / span;
}

/** The bounds of all tables in their order, at equal distances: the order is that of the deepest levels and of the sort by bytes. */
function evenScale(facts: DatabaseFacts): (key: Uint8Array) => number {
  const bounds = facts.levels.flat().flatMap(({ smallest, largest }) => [smallest.userKey.bytes, largest.userKey.bytes]);
  const keyOf = (key: Uint8Array): string => Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const places = [...new Set(bounds.map(keyOf))].sort();
  const span = Math.max(1, places.length - 1);
  return (key) => {
    const wanted = keyOf(key);
    const next = places.findIndex((place) => place >= wanted);
    // Between two bounds: in the middle of them.
    return (next < 0 ? span : places[next] === wanted ? next : next - 0.5) / span;
  };
}
