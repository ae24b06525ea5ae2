import { count, counted } from '@bloom/report';
import { useEffect, useId, useState } from 'preact/hooks';
import { BytesText, ByteFormSwitch } from '../bytes/bytes-text.js';
import { type ByteForm, typedForm, type Typing, TYPING_HELP, typingOptions, usualByteForm, usualTyping } from '../bytes/byte-forms.js';
import { Segmented } from '../controls/controls.js';
import { Rows } from '../controls/rows.js';
import { WindowedRows } from '../controls/windowed-rows.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { FailureNotice } from '../table/failure-notice.js';
import { failureFacts, type FailureFacts } from '../worker/failure.js';
import { useLoaded } from '../worker/use-loaded.js';
import type { DatabaseClient } from './database-client.js';
import type { DatabasePage, DatabaseRow, EntryRange } from './database-facts.js';
import { boundsOf } from './entry-bounds.js';
import { type EntrySearch, FIRST_PAGE } from './entry-search.js';

/** The number of entries on a page. */
const PAGE_ROWS = 500;

/** The page that is shown. The next one may be loading. */
interface ShownPage extends DatabasePage {
  readonly number: number;
  readonly step: EntryRange;
  /** Different for each loaded page, so that lists load their rows again. */
  readonly id: number;
}

/** The entries of a database, searched and shown page by page, with all versions of the selected one. */
export function EntryBrowser({ client, onRead }: { readonly client: DatabaseClient; readonly onRead: () => void }) {
  const id = useId();
  const session = useSession();
  const search = useSessionState((state) => state.search);
  const { by, prefix, from, to, page: wanted } = search;
  const typing = search.typing ?? usualTyping(client.facts);
  const form = useSessionState((state) => state.keyForm) ?? usualByteForm(client.facts);
  const [page, setPage] = useState<ShownPage>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [selected, setSelected] = useState<number>();
  const change = (part: Partial<EntrySearch>): void => session.change({ search: { ...session.state.search, page: FIRST_PAGE, ...part } });
  const setForm = (to: ByteForm): void => session.change({ keyForm: to === usualByteForm(client.facts) ? undefined : to });

  const { isIndexedDb } = client.facts;
  const bounds = boundsOf(search, typing, isIndexedDb);
  const boundsKey = JSON.stringify([by, typing, prefix, from, to]);

  useEffect(() => {
    if (bounds === undefined) return;
    let current = true;
    const timer = setTimeout(() => {
      client.worker.page({ ...bounds, ...wanted.step }, PAGE_ROWS).then(
        (found) => {
          if (!current) return;
          setPage((before) => ({ ...found, ...wanted, id: (before?.id ?? 0) + 1 }));
          setSelected(undefined);
          setFailure(undefined);
          onRead();
        },
        (error: unknown) => current && setFailure(failureFacts(error)),
      );
    }, 120);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, boundsKey, wanted]);

  const rows = page?.rows ?? [];
  const chosen = selected === undefined ? undefined : rows[selected];
  const isFirst = wanted.number === 0;
  const hasNext = wanted.step.reverse === true ? true : (page?.hasMore ?? false);
  return (
    <section class="card" aria-labelledby={`${id}-title`}>
      <div class="card-head">
        <h2 id={`${id}-title`}>Entries</h2>
        <ByteFormSwitch form={form} onChange={setForm} />
      </div>
      <div class="entry-search">
        <Segmented
          legend="Search by"
          name="entry-search"
          value={by}
          options={[
            ['prefix', 'Prefix'],
            ['range', 'Range'],
          ]}
          onChange={(to) => change({ by: to })}
        />
        <Segmented
          legend="Typed as"
          name="entry-typing"
          value={typing}
          options={typingOptions(client.facts)}
          onChange={(to) => change({ typing: to })}
        />
        {by === 'prefix' ? (
          <div class="field grow">
            <label for={`${id}-prefix`}>Keys that begin with</label>
            <input id={`${id}-prefix`} type="search" class="mono" value={prefix} spellcheck={false} autocapitalize="off" placeholder="all keys" onInput={({ currentTarget }) => change({ prefix: currentTarget.value })} />
          </div>
        ) : (
          <>
            <div class="field grow">
              <label for={`${id}-from`}>From</label>
              <input id={`${id}-from`} type="search" class="mono" value={from} spellcheck={false} autocapitalize="off" placeholder="the first key" onInput={({ currentTarget }) => change({ from: currentTarget.value })} />
            </div>
            <div class="field grow">
              <label for={`${id}-to`}>To (inclusive)</label>
              <input id={`${id}-to`} type="search" class="mono" value={to} spellcheck={false} autocapitalize="off" placeholder="the last key" onInput={({ currentTarget }) => change({ to: currentTarget.value })} />
            </div>
          </>
        )}
      </div>
      {bounds === undefined && <p class="notice is-warn">{isIndexedDb && typing !== 'indexeddb' ? 'Type the bytes of a whole key, or type it as IndexedDB.' : TYPING_HELP[typing]}</p>}
      {failure !== undefined && <FailureNotice failure={failure} title="These entries could not be read." />}
      {page !== undefined && rows.length === 0 && <p class="muted" role="status">No keys found.</p>}
      {page !== undefined && rows.length > 0 && (
        <>
          <WindowedRows<DatabaseRow>
            label="Entries of the database"
            rowCount={rows.length}
            columns="minmax(16rem, 1fr) minmax(16rem, 1.3fr)"
            minWidth="34rem"
            stackedColumns="minmax(0, 1fr)"
            headings={['Key', 'Value']}
            height={400}
            loadKey={`${page.id} ${form}`}
            load={(start, end) => rows.slice(start, end)}
            selected={selected}
            onSelect={setSelected}
            row={({ key, value }) => [
              <BytesText key="key" bytes={key.bytes.subarray(0, 300)} byteLength={key.byteLength} form={form} />,
              <BytesText key="value" bytes={value.bytes.subarray(0, 200)} byteLength={value.byteLength} form={form} isValue />,
            ]}
          />
          <div class="row">
            <button
              type="button"
              disabled={isFirst}
              onClick={() => change({ page: wanted.number === 1 ? FIRST_PAGE : { number: wanted.number - 1, step: { lt: rows[0]!.key.bytes, reverse: true } } })}
            >
              ← Earlier
            </button>
            <span class="muted small" role="status">
              {isFirst && !hasNext ? counted(rows.length, 'entry') : `${count(page.number * PAGE_ROWS + 1)} to ${count(page.number * PAGE_ROWS + rows.length)}`}
            </span>
            <button
              type="button"
              disabled={!hasNext}
              onClick={() => change({ page: { number: wanted.number + 1, step: { gte: undefined, gt: rows.at(-1)!.key.bytes } } })}
            >
              Later →
            </button>
          </div>
        </>
      )}
      {chosen !== undefined && <KeyDetails client={client} row={chosen} form={form} typing={usualTyping(client.facts)} />}
    </section>
  );
}

function KeyDetails({ client, row, form, typing }: { readonly client: DatabaseClient; readonly row: DatabaseRow; readonly form: ByteForm; readonly typing: Typing }) {
  const session = useSession();
  const key = row.key.bytes;
  const { value: versions, failure: versionFailure } = useLoaded(() => client.worker.versions(key), [client, row]);
  const { value, failure = versionFailure } = useLoaded(() => client.worker.value(key), [client, row]);
  return (
    <section class="entry-details" aria-label="The selected key">
      <div class="card-head">
        <h3>
          <BytesText bytes={key.subarray(0, 600)} byteLength={row.key.byteLength} form={form} />
        </h3>
        <button type="button" onClick={() => session.show('lookup', { query: typedForm(key, typing) })}>
          Follow its lookup
        </button>
      </div>
      {failure !== undefined && <FailureNotice failure={failure} title="Some of it could not be read." />}
      {value !== undefined && (
        <div class="entry-bytes" tabIndex={0} role="region" aria-label="Value">
          <BytesText bytes={value.bytes} byteLength={value.byteLength} form={form} isValue />
        </div>
      )}
      {versions !== undefined && (
        <>
          <h4>All stored versions, newest first</h4>
          <div class="scrolls">
            <Rows label="Versions of the key" headings={['Sequence', 'Kind', 'Where', 'Value']}>
              {versions.map(({ sequence, kind, file, level, value: stored }, i) => (
                <tr key={`${file} ${sequence}`} class={i === 0 ? 'is-newest' : ''}>
                  <td>{count(BigInt(sequence))}</td>
                  <td>{kind}</td>
                  <td>
                    {level === undefined ? 'log' : `level ${level}`}, {file}
                  </td>
                  <td>{kind === 'deletion' ? '–' : <BytesText bytes={stored.bytes.subarray(0, 120)} byteLength={stored.byteLength} form={form} isValue />}</td>
                </tr>
              ))}
            </Rows>
          </div>
        </>
      )}
    </section>
  );
}
