import '../database/database.css';
import '../lookup/lookup.css';
import './live.css';
import { count, counted } from '@bloom/report';
import { useEffect, useId, useState } from 'preact/hooks';
import { typedBytes } from '../bytes/byte-forms.js';
import { Segmented } from '../controls/controls.js';
import { LevelMap } from '../database/level-map.js';
import { pathOf } from '../lookup/lookup-view.js';
import { useChanges } from '../session/watchable.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { FailureNotice } from '../table/failure-notice.js';
import { EventText, shownEvents } from './event-text.js';
import { KeyWatch } from './key-watch.js';
import { LiveClient } from './live-client.js';
import type { LiveState, Making } from './live-facts.js';
import type { LiveQuery } from './live-query.js';
import { FileList } from './file-list.js';
import { Action } from './action-button.js';
import { MemoryMap } from './memory-map.js';
import type { PaceName } from './pace.js';
import { TableFilters } from './table-filters.js';

const PACE_TITLES: readonly (readonly [PaceName, string])[] = [
  ['at-once', 'At once'],
  ['slow', 'Slow motion'],
  ['step', 'Step by step'],
];
const SHOWN_EVENTS = 80;
const SHOWN_WAITING = 3;

export function LiveView() {
  const session = useSession();
  const client = session.liveDatabase(() => new LiveClient());
  useChanges(client);
  const query = useSessionState((state) => state.live);
  const change = (part: Partial<LiveQuery>): void => session.change({ live: { ...session.state.live, ...part } });
  const key = typedBytes(query.key, 'text')!;
  useEffect(() => client.act((live) => live.setPace(query.pace)), [client, query.pace]);
  useEffect(() => client.watch(key), [client, query.key]);
  const { state } = client;
  return (
    <div class="page live-view">
      <header class="view-head">
        <h1>A live database</h1>
        <p class="lead">LevelDB at work in this page’s memory. Write, and watch the log, the memtable and the levels. Crash it, and see what is left.</p>
        <p class="small">
          It disappears with the page. <a href={session.linkTo('opfs')}>Keep a database in this browser</a> instead, and it is there after a reload and in every tab.
        </p>
      </header>
      {client.failure !== undefined && <FailureNotice failure={client.failure} title="This did not work." />}
      {state === undefined ? (
        <p role="status" class="muted">
          Creating a database…
        </p>
      ) : (
        <>
          {state.problem !== undefined && <p role="alert" class="notice is-bad">{state.problem}</p>}
          <div class="live-top">
            <Actions client={client} state={state} query={query} keyBytes={key} onKey={(text) => change({ key: text })} />
            <PaceCard client={client} state={state} pace={query.pace} onPace={(pace) => change({ pace })} />
          </div>
          <div class="live-layout">
            <Picture client={client} state={state} />
            <div class="live-side">
              <EventList client={client} />
              <KeyWatch client={client} state={state} keyBytes={key} />
            </div>
          </div>
        </>
      )}
    </div>
  );
}

interface ActionsProps {
  readonly client: LiveClient;
  readonly state: LiveState;
  readonly query: LiveQuery;
  readonly keyBytes: Uint8Array;
  readonly onKey: (key: string) => void;
}

function Actions({ client, state, query, keyBytes, onKey }: ActionsProps) {
  const id = useId();
  const [value, setValue] = useState('hello');
  const [sync, setSync] = useState(false);
  const isOpen = state.facts !== undefined;
  const put = (): void => client.act((live) => live.put(keyBytes, typedBytes(value, 'text')!, sync));
  return (
    <section class="card" aria-label="Write">
      <form
        class="live-entry"
        onSubmit={(event) => {
          event.preventDefault();
          if (isOpen) put();
        }}
      >
        <div class="field">
          <label for={`${id}-key`}>Key</label>
          <input id={`${id}-key`} type="text" class="mono" value={query.key} spellcheck={false} autocapitalize="off" autocomplete="off" onInput={({ currentTarget }) => onKey(currentTarget.value)} />
        </div>
        <div class="field">
          <label for={`${id}-value`}>Value</label>
          <input id={`${id}-value`} type="text" class="mono" value={value} spellcheck={false} autocapitalize="off" autocomplete="off" onInput={({ currentTarget }) => setValue(currentTarget.value)} />
        </div>
        <div class="row">
          <button type="submit" aria-disabled={!isOpen}>
            Put
          </button>
          <Action isReady={isOpen} onPress={() => client.act((live) => live.delete(keyBytes, sync))}>
            Delete
          </Action>
        </div>
      </form>
      <div class="row">
        <Action isPrimary isReady={isOpen} onPress={() => client.act((live) => live.writeMany(sync))}>
          Write a thousand
        </Action>
        <Action isReady={isOpen} onPress={() => client.act((live) => live.flush())}>
          Flush
        </Action>
        <Action isReady={isOpen} onPress={() => client.act((live) => live.compact())}>
          Compact all
        </Action>
        <label class="row check-row small">
          <input type="checkbox" checked={sync} onChange={({ currentTarget }) => setSync(currentTarget.checked)} /> Sync each write
        </label>
      </div>
      <div class="row">
        <Action isReady={isOpen} onPress={() => client.crash('program')}>
          Crash the program
        </Action>
        <Action isReady={isOpen} onPress={() => client.crash('power')}>
          Cut the power
        </Action>
        <button type="button" class="is-quiet" onClick={() => client.startOver()}>
          Start over
        </button>
      </div>
      <p class="small muted">“Write a thousand” writes to 600 users; a tenth of the writes are deletions. The memtable has the smallest size that LevelDB allows, 64 KiB, so that it soon fills up.</p>
    </section>
  );
}

function PaceCard({ client, state, pace, onPace }: { readonly client: LiveClient; readonly state: LiveState; readonly pace: PaceName; readonly onPace: (pace: PaceName) => void }) {
  const [next, ...rest] = state.waiting;
  return (
    <section class="card" aria-label="Pace">
      <Segmented legend="How fast it changes files" name="live-pace" value={pace} options={PACE_TITLES} onChange={onPace} />
      {pace === 'step' && (
        <div class="row">
          <Action isPrimary isReady={next !== undefined} onPress={() => client.act((live) => live.step())}>
            Next step
          </Action>
          {rest.length > 0 && <span class="small muted">and {counted(rest.length, 'more waits', 'more wait')}</span>}
        </div>
      )}
      <p class="live-next" data-fact="next-step">
        {next === undefined ? (
          <span class="muted">{state.running > 0 ? 'Working…' : 'Nothing to do.'}</span>
        ) : (
          <>
            <span class="muted">Next: </span>
            <strong>{next}</strong>
          </>
        )}
      </p>
      {rest.slice(0, SHOWN_WAITING).map((waiting, i) => (
        <p key={i} class="small muted">
          then {waiting}
        </p>
      ))}
      <p class="small muted">A step is one change of the folder: bytes are appended, or a file is created, synced, renamed or deleted. Reads never wait.</p>
    </section>
  );
}

function Picture({ client, state }: { readonly client: LiveClient; readonly state: LiveState }) {
  const session = useSession();
  const { facts, making, versions, tables } = state;
  const { lookup } = client;
  if (facts === undefined) {
    return (
      <section class="card" aria-label="The database">
        <h2>Opening the database</h2>
        <p role="status" class="muted">
          The MANIFEST is read, the logs are replayed, and their contents become tables.
        </p>
        <FileList files={state.files} />
      </section>
    );
  }
  const open = (name: string): void => void client.file(name).then((file) => session.openTable({ kind: 'file', file }), () => undefined);
  // A lookup in an older version may have searched other tables.
  const path = lookup?.versions === versions ? pathOf(lookup.key, lookup.trace.steps, true) : undefined;
  const entries = facts.levels.flat().reduce((sum, { name }) => sum + (tables.find(({ table }) => table === name)?.entries ?? 0), 0);
  const marks = new Map(making?.kind === 'compaction' ? making.inputs.map((name) => [name, 'being merged']) : []);
  return (
    <section class="card" aria-label="The database">
      <div class="card-head">
        <h2>The database now</h2>
        <p class="small muted">
          The last write is <span data-fact="last-sequence">{count(BigInt(facts.lastSequence))}</span>. <span data-fact="table-entries">{count(entries)}</span> versions are in{' '}
          <span data-fact="tables">{counted(facts.levels.flat().length, 'table')}</span>.
        </p>
      </div>
      <MemoryMap state={state} visits={path?.visits} onOpen={open} />
      <LevelMap facts={{ ...facts, logs: [] }} form="text" onOpen={open} marks={marks} lookup={path} />
      <p class="live-making" data-fact="making">
        {making === undefined ? <span class="muted">There is no background work.</span> : <MakingText making={making} />}
      </p>
      <TableFilters state={state} />
      <FileList files={state.files} />
    </section>
  );
}

function MakingText({ making }: { readonly making: Making }) {
  return making.kind === 'flush' ? (
    <>
      <strong>Flushing</strong> the memtable of {making.log} to {making.table}.
    </>
  ) : (
    <>
      <strong>Merging</strong> {making.inputs.join(', ')} into level {making.level + 1}
      {making.outputs.length > 0 && `: ${making.outputs.join(', ')}`}.
    </>
  );
}

function EventList({ client }: { readonly client: LiveClient }) {
  const shown = shownEvents(client.events);
  return (
    <section class="card" aria-label="What happens">
      <h2>What happens</h2>
      {/* In the tab order, so that it can be scrolled with keys. */}
      <div class="live-events" role="log" aria-label="Events, newest first" aria-live="off" tabIndex={0}>
        <ol>
        {shown.slice(0, SHOWN_EVENTS).map((one) => (
          <li key={one.id} class={`is-${one.event.kind}`} data-event={one.event.kind}>
            <EventText shown={one} />
          </li>
        ))}
        </ol>
      </div>
    </section>
  );
}
