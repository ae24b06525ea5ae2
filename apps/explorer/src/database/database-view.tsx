import './database.css';
import '../table/table.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Anatomy } from '../controls/anatomy.js';
import { Drop, droppedFiles, Fact, Progress } from '../controls/controls.js';
import { byteSize, count, counted } from '../controls/sizes.js';
import type { ViewProps } from '../shell/view-props.js';
import { navigate } from '../shell/route.js';
import { FailureNotice } from '../table/failure-notice.js';
import { openTable } from '../table/opened-table.js';
import { failureFacts, type FailureFacts } from '../worker/failure.js';
import type { DatabaseClient } from './database-client.js';
import type { DroppedFacts, FolderOrigin } from './database-facts.js';
import { EntryBrowser } from './entry-browser.js';
import { LevelMap } from './level-map.js';
import { closeDatabase, type DatabaseOpening, paramsOf, useDatabase } from './opened-database.js';

/** Databases up to this size are counted without being asked to. */
const EAGER_COUNT_BYTES = 32 * 2 ** 20;

/** The folder that was dropped: its name, where the browser says it. */
export function originOfFiles(files: readonly File[]): FolderOrigin {
  const path = files.find(({ name }) => name === 'CURRENT')?.webkitRelativePath ?? '';
  const folder = path.split('/').at(-2);
  return { kind: 'files', name: folder ?? 'dropped folder', files };
}

/** Asks for a database. */
export function DatabaseDrop({ opening, view, wantedFolder }: { readonly opening: DatabaseOpening; readonly view: 'database' | 'lookup'; readonly wantedFolder: string | null }) {
  const openFiles = (files: readonly File[]): void => {
    if (files.length === 0) return;
    const origin = originOfFiles(files);
    void opening.open(origin).then((isOpen) => isOpen && navigate(view, { folder: origin.name }));
  };
  return (
    <Drop
      folder
      title="Open a database"
      explanation="Drop the folder that has a file named CURRENT: of a browser’s storage, a game world, a chain. It stays on your machine, and is never changed."
      urlLabel="Address of a folder"
      urlPlaceholder="https://…/database/"
      sampleLabel="Open the sample"
      onFiles={openFiles}
      onUrl={(url) => navigate(view, { url })}
      onSample={() => navigate(view, { sample: '1' })}
    >
      {wantedFolder !== null && <p class="notice is-warn">“{wantedFolder}” is not kept when the page is left. Drop it again to go on.</p>}
    </Drop>
  );
}

/** What stands above a database that is not there yet, or cannot be opened. */
export function DatabaseStatus({ opening }: { readonly opening: DatabaseOpening }) {
  const { failure, refused } = opening;
  const openFile = (file: File): void => {
    void openTable({ kind: 'file', file }).then(() => navigate('table', { file: file.name }));
  };
  const tables = refused?.origin.kind === 'files' ? refused.origin.files.filter(({ name }) => /\.(ldb|sst)$/.test(name)) : [];
  return (
    <>
      {opening.opening !== undefined && (
        <p role="status" class="notice">
          Opening {opening.opening}…{' '}
          <button type="button" class="is-link" onClick={opening.cancel}>
            Cancel
          </button>
        </p>
      )}
      {failure !== undefined && <FailureNotice failure={failure} title="The database could not be opened." />}
      {failure !== undefined && refused !== undefined && (
        <section class="card" aria-label="How to go on">
          <h2>How to go on</h2>
          {/comparator/i.test(failure.message) && (
            <div class="row">
              <button type="button" onClick={() => void opening.open(refused.origin, true)}>
                Read it in bytewise order nevertheless
              </button>
              <span class="muted small">Wrong for some keys: they may be missed.</span>
            </div>
          )}
          {tables.length > 0 ? (
            <>
              <p>Its tables can be looked at one by one:</p>
              <ul class="chips">
                {tables.slice(0, 200).map((file) => (
                  <li key={file.name}>
                    <button type="button" onClick={() => openFile(file)}>
                      {file.name} <span class="muted">{byteSize(file.size)}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </>
          ) : (
            <p>
              The folder must have CURRENT, the MANIFEST that it names, and the tables and logs. “bloom salvage FOLDER” writes what can still be read into a new one.
            </p>
          )}
        </section>
      )}
    </>
  );
}

/** From the newest to the oldest. */
const PARTS = [
  { colour: 'filter', share: 1.4, title: 'Log', text: 'The newest writes, in the order in which they came.' },
  { colour: 'level-0', share: 2, title: 'Level 0', text: 'A full log becomes a table here. Key ranges of tables may overlap.' },
  { colour: 'level-1', share: 3, title: 'Level 1', text: 'Merged from level 0. No two tables overlap, so a lookup asks at most one.' },
  { colour: 'level-2', share: 5, title: 'Level 2 and deeper', text: 'Each level holds about ten times as much as the one above. Most of the data is here.' },
] as const;

export function DatabaseView({ params }: ViewProps) {
  const opening = useDatabase(params);
  const { client } = opening;
  const openFiles = (files: readonly File[]): void => {
    const origin = originOfFiles(files);
    void opening.open(origin).then((isOpen) => isOpen && navigate('database', { folder: origin.name }));
  };
  return (
    <div
      class="page database-view"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        if (event.dataTransfer !== null) void droppedFiles(event.dataTransfer).then((files) => files.length > 0 && openFiles(files));
      }}
    >
      {client === undefined ? (
        <>
          <header class="view-head">
            <h1>Walk through a database</h1>
            <p class="lead">A LevelDB database is a folder of files. New writes go to a log; tables below it hold the rest, level by level. Open one and see what lies where, and every version of a key.</p>
          </header>
          <DatabaseStatus opening={opening} />
          {opening.opening === undefined && <Anatomy label="Parts of a database" parts={PARTS} />}
          {opening.opening === undefined && <DatabaseDrop opening={opening} view="database" wantedFolder={params.get('folder')} />}
        </>
      ) : (
        <>
          <DatabaseStatus opening={opening} />
          <OpenedDatabase
            key={client.origin.name}
            client={client}
            params={params}
            onClose={() => {
              closeDatabase();
              navigate('database');
            }}
          />
        </>
      )}
    </div>
  );
}

/** Goes to a table of the database. */
export function openTableOf({ origin }: DatabaseClient, name: string): void {
  if (origin.kind === 'url') {
    const base = origin.url.endsWith('/') ? origin.url : `${origin.url}/`;
    navigate('table', { url: base + name });
    return;
  }
  const file = origin.files.find((candidate) => candidate.name === name) ?? origin.files.find((candidate) => candidate.name === name.replace(/\.ldb$/, '.sst'));
  if (file !== undefined) void openTable({ kind: 'file', file }).then(() => navigate('table', { file: file.name }));
}

function OpenedDatabase({ client, params, onClose }: { readonly client: DatabaseClient; readonly params: URLSearchParams; readonly onClose: () => void }) {
  const { facts } = client;
  const [dropped, setDropped] = useState<readonly DroppedFacts[]>(facts.dropped);
  const refreshDropped = (): void => void client.dropped().then(setDropped, () => undefined);
  const tableCount = facts.levels.reduce((sum, tables) => sum + tables.length, 0);
  return (
    <>
      <header class="view-head">
        <div class="card-head">
          <h1 class="file-name">{facts.name}</h1>
          <div class="row">
            <a class="button" href={`#/lookup?${new URLSearchParams(paramsOf(client)).toString()}`}>
              Follow a lookup
            </a>
            <button type="button" onClick={onClose}>
              Open another
            </button>
          </div>
        </div>
        <ul class="chips" aria-label="About the database">
          <li class="chip">{byteSize(facts.byteLength)}</li>
          <li class="chip">{counted(tableCount, 'table')}</li>
          <li class="chip">{counted(facts.logs.length, 'log')}</li>
          <li class="chip">order: {facts.comparator}</li>
          <li class="chip">last write: {count(Number(facts.lastSequence))}</li>
          {facts.isIndexedDb && <li class="chip">Chromium’s IndexedDB</li>}
          {facts.isMinecraft && <li class="chip">Minecraft world</li>}
          {dropped.length > 0 && <li class="chip is-bad">{counted(dropped.length, 'place')} damaged</li>}
        </ul>
      </header>
      <section class="card" aria-labelledby="levels-title">
        <div class="card-head">
          <h2 id="levels-title">Levels</h2>
          <p class="muted small">Newest on top. Each bar is a table, drawn where its keys are. Click one to look inside.</p>
        </div>
        <LevelMap facts={facts} onOpen={(name) => openTableOf(client, name)} />
      </section>
      <div class="database-layout">
        <EntryBrowser client={client} params={params} onRead={refreshDropped} />
        <div class="table-side">
          <CountCard client={client} onRead={refreshDropped} />
          <DroppedCard dropped={dropped} />
        </div>
      </div>
    </>
  );
}

function CountCard({ client, onRead }: { readonly client: DatabaseClient; readonly onRead: () => void }) {
  const [entries, setEntries] = useState<number>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [progress, setProgress] = useState<{ readonly done: number; readonly total: number }>();
  const controller = useRef<AbortController | undefined>(undefined);
  const start = (): void => {
    const mine = (controller.current = new AbortController());
    setProgress({ done: 0, total: 1 });
    setFailure(undefined);
    client
      .count({ signal: mine.signal, onProgress: (done, total) => controller.current === mine && setProgress({ done, total }) })
      .then(setEntries, (error: unknown) => {
        const reason = failureFacts(error);
        if (reason.name !== 'AbortError') setFailure(reason);
      })
      .finally(() => {
        if (controller.current === mine) setProgress(undefined);
        onRead();
      });
  };
  useEffect(() => {
    if (client.facts.byteLength <= EAGER_COUNT_BYTES) start();
    return () => controller.current?.abort();
  }, [client]);
  const { facts } = client;
  return (
    <section class="card" aria-label="Contents">
      <h2>Contents</h2>
      {failure !== undefined && <FailureNotice failure={failure} title="Not everything could be read." />}
      {progress !== undefined ? (
        <Progress label="Counting entries" done={progress.done} total={progress.total} onCancel={() => controller.current?.abort()} />
      ) : (
        <dl class="facts">
          <Fact name="Visible entries">
            {entries === undefined ? (
              <button type="button" onClick={start}>
                Count
              </button>
            ) : (
              <span data-fact="entries">{count(entries)}</span>
            )}
          </Fact>
          <Fact name="Writes so far">{count(Number(facts.lastSequence))}</Fact>
          <Fact name="In the log">{counted(facts.logs.reduce((sum, log) => sum + log.entries, 0), 'write')}</Fact>
          <Fact name="MANIFEST">
            <small>{facts.manifest}</small>
          </Fact>
        </dl>
      )}
    </section>
  );
}

function DroppedCard({ dropped }: { readonly dropped: readonly DroppedFacts[] }) {
  if (dropped.length === 0) {
    return (
      <section class="card" aria-label="Damage">
        <h2>Damage</h2>
        <p class="notice is-good">Nothing was left out of what was read so far.</p>
      </section>
    );
  }
  return (
    <section class="card" aria-label="Damage">
      <h2>
        Left out <span class="muted">{count(dropped.length)}</span>
      </h2>
      <ul class="findings">
        {dropped.slice(0, 50).map(({ file, offset, byteLength, reason, code }) => (
          <li key={`${file} ${offset}`} class="notice is-bad">
            <p>
              <strong>
                {file} at {count(offset)}
              </strong>
              : {reason}
              {byteLength !== undefined && ` (${counted(byteLength, 'byte')})`}
            </p>
            <p class="small">Everything else is shown, as LevelDB would. A get whose answer may hide there fails instead of guessing.</p>
            <p class="small">
              <code>{code}</code>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
