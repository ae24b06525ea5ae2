import './opfs.css';
import { count, counted } from '@bloom/report';
import { useEffect, useId, useReducer, useRef, useState } from 'preact/hooks';
import { visibleText } from '../bytes/quoted-text.js';
import { byteSize } from '../controls/sizes.js';
import { Rows } from '../controls/rows.js';
import { useSession } from '../session/use-session.js';
import { FailureNotice } from '../table/failure-notice.js';
import { failureFacts, type FailureFacts } from '../worker/failure.js';
import { OpfsClient, type OpfsState, LISTED_ENTRIES } from './opfs-client.js';

const NO_STATE: OpfsState = { entries: undefined, hasMore: false, files: [], answer: undefined, failure: undefined };

/** What the files that other views open are copies of. */
const COPIED = 'the database in this browser';

/** A database in the origin private file system, which persists when the page is reloaded. */
export function OpfsView() {
  const [, redraw] = useReducer((drawn: number) => drawn + 1, 0);
  const client = useRef<OpfsClient | undefined>(undefined);
  const [refused, setRefused] = useState<FailureFacts>();
  useEffect(() => {
    try {
      client.current = new OpfsClient(() => redraw(undefined));
    } catch (error) {
      setRefused(failureFacts(error));
    }
    redraw(undefined);
    return () => client.current?.close();
  }, []);
  const state = client.current?.state ?? NO_STATE;
  const failure = refused ?? state.failure;
  return (
    <div class="page opfs-view">
      <header class="view-head">
        <h1>A database in your browser</h1>
        <p class="lead">LevelDB’s files, in the private file system that this browser gives to the page. Put something in, then reload the page or open it in a second tab: it is still there.</p>
      </header>
      {failure !== undefined && <FailureNotice failure={failure} title="This did not work." />}
      <div class="opfs-columns">
        <Form client={client.current} state={state} />
        <Entries client={client.current} state={state} />
      </div>
      <Folder client={client.current} state={state} />
    </div>
  );
}

interface Shown {
  readonly client: OpfsClient | undefined;
  readonly state: OpfsState;
}

function Form({ client, state: { answer } }: Shown) {
  const id = useId();
  const [key, setKey] = useState('');
  const [value, setValue] = useState('');
  const isReady = client !== undefined && key !== '';
  return (
    <form
      class="card"
      aria-label="Write and read"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) client.put(key, value);
      }}
    >
      <div class="field">
        <label for={`${id}-key`}>Key</label>
        <input id={`${id}-key`} type="text" autocomplete="off" spellcheck={false} placeholder="apple" value={key} onInput={({ currentTarget }) => setKey(currentTarget.value)} />
      </div>
      <div class="field">
        <label for={`${id}-value`}>Value</label>
        <input id={`${id}-value`} type="text" autocomplete="off" spellcheck={false} placeholder="red" value={value} onInput={({ currentTarget }) => setValue(currentTarget.value)} />
      </div>
      <div class="row">
        <button type="submit" class="is-primary" aria-disabled={!isReady}>
          Put
        </button>
        <button type="button" aria-disabled={!isReady} onClick={() => isReady && client.get(key)}>
          Get
        </button>
        <button type="button" aria-disabled={!isReady} onClick={() => isReady && client.delete(key)}>
          Delete
        </button>
      </div>
      <p role="status" class="opfs-answer" data-fact="answer">
        {answer === undefined ? (
          <span class="muted small">Once an entry appears in the list, it is in the log. It is still there after the tab or the browser was closed.</span>
        ) : answer.value === undefined ? (
          <>
            There is no <b>{visibleText(answer.key)}</b>.
          </>
        ) : (
          <>
            <b>{visibleText(answer.key)}</b> is <b>{visibleText(answer.value)}</b>.
          </>
        )}
      </p>
    </form>
  );
}

function Entries({ client, state: { entries, hasMore } }: Shown) {
  return (
    <section class="card" aria-label="Entries">
      <div class="card-head">
        <h2>Entries</h2>
        {entries !== undefined && (
          <p class="small muted" data-fact="entries">
            {hasMore ? `the first ${count(LISTED_ENTRIES)} entries` : counted(entries.length, 'entry', 'entries')}
          </p>
        )}
      </div>
      {entries === undefined ? (
        <p role="status" class="muted">
          Opening…
        </p>
      ) : entries.length === 0 ? (
        <p class="muted">No entries yet. Put the first one.</p>
      ) : (
        // Focusable, so that it can be scrolled with the keyboard.
        <div class="scrolls opfs-entries" role="group" aria-label="Entries, sorted by key" tabIndex={0}>
          <Rows headings={['Key', 'Value']}>
            {entries.map(([key, value]) => (
              <tr key={key} data-key={key}>
                <th scope="row" class="bytes-text">
                  <EntryText text={key} />
                </th>
                <td class="bytes-text">
                  <EntryText text={value} />
                </td>
              </tr>
            ))}
          </Rows>
        </div>
      )}
      {entries !== undefined && entries.length > 0 && (
        <div class="row">
          <button type="button" class="is-quiet small" onClick={() => client?.deleteAll()}>
            Delete all entries
          </button>
        </div>
      )}
    </section>
  );
}

/** The number of characters of a key or value in the list. Get shows all of them. */
const LISTED_CHARACTERS = 500;

function EntryText({ text }: { readonly text: string }) {
  return (
    <>
      {visibleText(text, LISTED_CHARACTERS)}
      {text.length > LISTED_CHARACTERS && <span class="bytes-empty"> … {counted(text.length, 'character')}</span>}
    </>
  );
}

function Folder({ client, state: { files } }: Shown) {
  const session = useSession();
  const [failure, setFailure] = useState<FailureFacts>();
  async function withFiles(use: (files: readonly File[]) => void): Promise<void> {
    try {
      use((await client?.filesNow()) ?? []);
    } catch (error) {
      setFailure(failureFacts(error));
    }
  }
  const open = (): Promise<void> => withFiles((all) => session.openDatabase({ kind: 'files', name: 'database', files: all, copyOf: COPIED }));
  const openOne = (name: string): Promise<void> =>
    withFiles((all) => {
      const file = all.find((one) => one.name === name);
      if (file !== undefined) session.openTable({ kind: 'file', file, copyOf: COPIED });
    });
  return (
    <section class="card" aria-label="The folder">
      <div class="card-head">
        <h2>The folder</h2>
        <p class="small muted">The files that LevelDB would write, byte for byte.</p>
      </div>
      {failure !== undefined && <FailureNotice failure={failure} title="The files cannot be read." />}
      <ul class="opfs-files" aria-label="Files">
        {files.map(({ name, byteLength }) => (
          <li key={name} data-file={name}>
            {/\.(log|ldb)$|^MANIFEST-/.test(name) ? (
              <button type="button" class="is-link" onClick={() => void openOne(name)}>
                {name}
              </button>
            ) : (
              <span>{name}</span>
            )}
            <span class="muted small">{byteSize(byteLength)}</span>
          </li>
        ))}
      </ul>
      <div class="row">
        <button type="button" aria-disabled={files.length === 0} onClick={() => files.length > 0 && void open()}>
          Open as a database
        </button>
        <span class="small muted">opens a copy of the current files in the database view</span>
      </div>
    </section>
  );
}
