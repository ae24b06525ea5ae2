import { counted } from '@bloom/report';
import { byteSize } from '../controls/sizes.js';
import type { LookupPath } from '../database/level-map.js';
import type { FileState, LiveState } from './live-facts.js';

interface MemoryMapProps {
  readonly state: LiveState;
  /** The results of a lookup in the memtables, by the names of their logs. */
  readonly visits: LookupPath['visits'] | undefined;
  readonly onOpen: ((name: string) => void) | undefined;
}

/** The memtables, each with its log and the part of the log that would survive a power failure. */
export function MemoryMap({ state: { memtables, files, writeBufferSize }, visits, onOpen }: MemoryMapProps) {
  return (
    <ul class="live-memory">
      {memtables.map(({ log, entries, memoryUsage, isFlushing }) => {
        const visit = visits?.get(log);
        return (
          <li key={log} class={`live-memtable ${isFlushing ? 'is-flushing' : ''} ${visit === undefined ? '' : `is-${visit}`}`} data-memtable={log}>
            <div class="live-store">
              <span class="live-name">
                Memtable <span class="muted">{isFlushing ? 'becoming a table' : 'in memory'}</span>
              </span>
              <Meter share={memoryUsage / writeBufferSize} kind="memory" />
              <span class="small">
                {counted(entries, 'entry')}, {byteSize(memoryUsage)} of {byteSize(writeBufferSize)}
              </span>
            </div>
            <LogOf name={log} file={files.find(({ name }) => name === log)} onOpen={onOpen} />
          </li>
        );
      })}
    </ul>
  );
}

function LogOf({ name, file, onOpen }: { readonly name: string; readonly file: FileState | undefined; readonly onOpen: MemoryMapProps['onOpen'] }) {
  const byteLength = file?.byteLength ?? 0;
  const safe = file?.isNamed === true ? file.syncedBytes : 0;
  return (
    <div class="live-store">
      <span class="live-name">
        Log{' '}
        {onOpen === undefined ? (
          name
        ) : (
          <button type="button" class="is-link" onClick={() => onOpen(name)}>
            {name}
          </button>
        )}
      </span>
      <Meter share={byteLength === 0 ? 0 : safe / byteLength} kind="log" />
      <span class="small">
        {byteSize(byteLength)} on disk, <span data-fact="synced">{byteLength === 0 ? 'nothing to lose' : safe === byteLength ? 'all synced' : safe === 0 ? 'nothing synced' : `${byteSize(safe)} synced`}</span>
      </span>
    </div>
  );
}

function Meter({ share, kind }: { readonly share: number; readonly kind: 'memory' | 'log' }) {
  return (
    <span class={`live-meter is-${kind}`} aria-hidden="true">
      <span style={{ width: `${Math.min(1, share) * 100}%` }} />
    </span>
  );
}
