import { count, counted } from '@bloom/report';
import { Rows } from '../controls/rows.js';
import { useId, useState } from 'preact/hooks';
import { BytesText } from '../bytes/bytes-text.js';
import { Action } from './action-button.js';
import { Outcome } from '../lookup/lookup-view.js';
import { TraceSteps } from '../lookup/trace-steps.js';
import type { LiveClient, WatchedVersion } from './live-client.js';
import type { LiveState } from './live-facts.js';

/** The number of bytes of a value that a list shows. */
const SHOWN_BYTES = 28;

interface KeyWatchProps {
  readonly client: LiveClient;
  readonly state: LiveState;
  readonly keyBytes: Uint8Array;
}

/** The stored versions of a key, and its lookup in the current state or in a snapshot. */
export function KeyWatch({ client, state, keyBytes }: KeyWatchProps) {
  const id = useId();
  const [chosen, setChosen] = useState<number>();
  const { snapshots, facts } = state;
  const isOpen = facts !== undefined;
  const sequence = snapshots.find((snapshot) => snapshot.id === chosen)?.sequence;
  const { lookup, seek } = client;
  return (
    <>
      <section class="card" aria-labelledby={`${id}-versions`}>
        <h2 id={`${id}-versions`}>
          Versions of <BytesText bytes={keyBytes} form="text" />
        </h2>
        {client.watched.length === 0 ? (
          <p class="muted">This key is not stored. Put it, or write a thousand.</p>
        ) : (
          <div class="scrolls" tabIndex={0} role="group" aria-label="Versions, newest first">
            <Rows headings={['Write', 'Value', 'Where']}>
              {client.watched.map((version) => (
                <VersionRow key={version.sequence} version={version} isHeld={snapshots.some((snapshot) => snapshot.sequence === version.sequence)} />
              ))}
            </Rows>
          </div>
        )}
        <p class="small muted">A compaction drops a version once a newer one hides it from every reader, and a deletion once it has nothing left to hide. A snapshot keeps the versions that it can see.</p>
      </section>
      <section class="card" aria-labelledby={`${id}-look`}>
        <h2 id={`${id}-look`}>Look it up, now or in the past</h2>
        <fieldset class="live-snapshots">
          <legend>Read the database as of</legend>
          <label class="row check-row">
            <input type="radio" name="live-as-of" checked={sequence === undefined} onChange={() => setChosen(undefined)} /> now
          </label>
          {snapshots.map((snapshot) => (
            <div key={snapshot.id} class="row" data-snapshot={snapshot.id}>
              <label class="row check-row">
                <input type="radio" name="live-as-of" checked={snapshot.id === chosen} onChange={() => setChosen(snapshot.id)} /> snapshot {count(snapshot.id)}, after write {count(BigInt(snapshot.sequence))}
              </label>
              <button type="button" class="is-quiet small" onClick={() => client.act((live) => live.release(snapshot.id))}>
                Release<span class="visually-hidden"> snapshot {snapshot.id}</span>
              </button>
            </div>
          ))}
        </fieldset>
        <div class="row">
          <Action isPrimary isReady={isOpen} onPress={() => void client.lookUp(keyBytes, sequence)}>
            Look up
          </Action>
          <Action isReady={isOpen} onPress={() => void client.seekTo(keyBytes, sequence)}>
            Seek
          </Action>
          <Action isReady={isOpen} onPress={() => client.act((live) => live.hold())}>
            Hold a snapshot
          </Action>
        </div>
        {lookup !== undefined && (
          <>
            <p class="small muted">
              {lookup.sequence === undefined ? 'As of your lookup' : `As of write ${count(BigInt(lookup.sequence))}`}: {counted(lookup.trace.reads, 'block')} read, {counted(lookup.trace.saved, 'read')} saved by filters.
            </p>
            <TraceSteps steps={lookup.trace.steps} form="text" total={lookup.trace.steps.length} asked={keyBytes} />
            <Outcome trace={lookup.trace} form="text" />
          </>
        )}
        {seek !== undefined && (
          <>
            <p class="small muted">A cursor merges memtables and levels. These are the newest versions of the keys from this one on.</p>
            {seek.rows.length === 0 ? (
              <p>There is no key at or after this one.</p>
            ) : (
              <ol class="live-seek" aria-label="Entries from the key on">
                {seek.rows.map(({ key, value }, i) => (
                  <li key={i}>
                    <BytesText bytes={key.bytes} byteLength={key.byteLength} form="text" /> <span class="muted"><BytesText bytes={value.bytes.subarray(0, SHOWN_BYTES)} byteLength={value.byteLength} form="text" isValue /></span>
                  </li>
                ))}
              </ol>
            )}
            {seek.hasMore && <p class="small muted">… and more.</p>}
          </>
        )}
      </section>
    </>
  );
}

function VersionRow({ version: { kind, sequence, value, file, level, isGone }, isHeld }: { readonly version: WatchedVersion; readonly isHeld: boolean }) {
  return (
    <tr class={isGone ? 'is-gone' : ''} data-version={sequence} data-gone={isGone}>
      <th scope="row">{count(BigInt(sequence))}</th>
      <td>{kind === 'deletion' ? <em>deleted</em> : <BytesText bytes={value.bytes.subarray(0, SHOWN_BYTES)} byteLength={value.byteLength} form="text" isValue />}</td>
      <td>
        {isGone ? <strong>gone</strong> : level === undefined ? `memtable, ${file}` : `level ${level}, ${file}`}
        {isHeld && !isGone && <span class="muted"> (held by a snapshot)</span>}
      </td>
    </tr>
  );
}
