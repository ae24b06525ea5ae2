import './database.css';
import '../table/table.css';
import { count, counted } from '@bloom/report';
import { useEffect, useState } from 'preact/hooks';
import { usualByteForm } from '../bytes/byte-forms.js';
import { Anatomy } from '../controls/anatomy.js';
import { Drop, Fact, Progress } from '../controls/controls.js';
import { DropAgain, Opening } from '../controls/opening.js';
import { byteSize } from '../controls/sizes.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { FailureNotice } from '../table/failure-notice.js';
import { TrialCard } from '../trial/trial-card.js';
import { useTask } from '../worker/task.js';
import type { DatabaseClient } from './database-client.js';
import type { DroppedFacts } from './database-facts.js';
import { EntryBrowser } from './entry-browser.js';
import { LevelMap } from './level-map.js';
import { fileOfFolder } from './file-of-folder.js';
import { folderAt, sampleDatabase } from './folder-origin.js';

/** The entries of databases up to this size are counted when they are opened. */
const EAGER_COUNT_BYTES = 32 * 2 ** 20;

/** Asks for a database. */
export function DatabaseDrop({ view }: { readonly view: 'database' | 'lookup' }) {
  const session = useSession();
  const { lost } = useSessionState((state) => state.database);
  return (
    <Drop
      folder
      title="Open a database"
      explanation="Drop a folder that contains a file named CURRENT, such as a browser’s storage, a game world or a blockchain’s data. It stays on your machine and is never changed."
      url={{
        label: 'Address of a folder',
        placeholder: 'https://…/database/',
        onOpen: (url) => session.openDatabase(folderAt(url), view),
      }}
      sampleLabel="Open the sample"
      onFiles={(files) => session.take(files)}
      onSample={() => session.openDatabase(sampleDatabase(), view)}
    >
      {lost !== undefined && <DropAgain name={lost} what="folder" />}
    </Drop>
  );
}

/** The status of a database that is being opened, or cannot be opened. */
export function DatabaseStatus({ view }: { readonly view: 'database' | 'lookup' }) {
  const session = useSession();
  const { opening, failed } = useSessionState((state) => state.database);
  const choices = useSessionState((state) => state.choices);
  const isOfUnknownOrder = failed?.failure.code === 'BLOOM_UNKNOWN_COMPARATOR';
  const tables = failed?.origin.kind === 'files' ? failed.origin.files.filter(({ name }) => /\.(ldb|sst)$/.test(name)) : [];
  return (
    <>
      {opening !== undefined && <Opening name={opening.name} onCancel={() => session.cancelDatabase()} />}
      {choices.length > 0 && (
        <section class="card" aria-label="Several databases">
          <h2>Which of these {count(choices.length)} databases?</h2>
          <ul class="choices">
            {choices.slice(0, 500).map((folder) => (
              <li key={folder.name}>
                <button type="button" onClick={() => session.openDatabase(folder, view)}>
                  {folder.name} {folder.kind === 'files' && <span class="muted">{byteSize(folder.files.reduce((sum, { size }) => sum + size, 0))}</span>}
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {failed !== undefined && (
        <FailureNotice failure={isOfUnknownOrder ? { ...failed.failure, message: unknownOrder(failed.failure.message) } : failed.failure} title="The database could not be opened." />
      )}
      {failed !== undefined && (
        <section class="card" aria-label="What you can do">
          <h2>What you can do</h2>
          {failed.failure.code === 'BLOOM_MISSING_FILE' && failed.origin.kind === 'files' && failed.origin.hasGaps !== true && (
            <div class="row">
              <button type="button" onClick={() => session.openDatabase({ ...failed.origin, hasGaps: true }, view)}>
                Read what is there
              </button>
              <span class="muted small">Entries of the missing tables are missing too, and older versions of their keys may appear instead.</span>
            </div>
          )}
          {isOfUnknownOrder && (
            <div class="row">
              <button type="button" onClick={() => session.openDatabase({ ...failed.origin, isForcedBytewise: true }, view)}>
                Read it in bytewise order
              </button>
              <span class="muted small">Some keys may be missed or appear out of order.</span>
            </div>
          )}
          {tables.length > 0 ? (
            <>
              <p>You can open its tables one by one:</p>
              <ul class="chips">
                {tables.slice(0, 200).map((file) => (
                  <li key={file.name}>
                    <button type="button" onClick={() => session.openTable({ kind: 'file', file, folder: failed.origin })}>
                      {file.name} <span class="muted">{byteSize(file.size)}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </>
          ) : (
            <p>
              The folder must have CURRENT, the MANIFEST that it names, and the tables and logs. “bloom salvage FOLDER -o NEW” writes everything that can still be read to a table, and “bloom repair FOLDER” rebuilds the database.
            </p>
          )}
        </section>
      )}
    </>
  );
}

/** The page's message about an unknown comparator, because the library's message is for programmers. */
function unknownOrder(message: string): string {
  const name = /“([^”]+)”|"([^"]+)"/.exec(message);
  return `Its keys are sorted by a comparator that this page does not have${name === null ? '' : `, ${name[1] ?? name[2]!}`}. The database is not damaged, but only the program that wrote it knows this order.`;
}

/** From the newest to the oldest. */
const PARTS = [
  { colour: 'filter', share: 1.4, title: 'Log', text: 'The newest writes, in the order in which they were made.' },
  { colour: 'level-0', share: 2, title: 'Level 0', text: 'A full log becomes a table here. Key ranges of tables may overlap.' },
  { colour: 'level-1', share: 3, title: 'Level 1', text: 'Merged from level 0. No two tables overlap, so a lookup reads at most one.' },
  { colour: 'level-2', share: 5, title: 'Level 2 and deeper', text: 'Each level holds about ten times as much as the one above. Most of the data is here.' },
] as const;

export function DatabaseView() {
  const { client, opening } = useSessionState((state) => state.database);
  return (
    <div class="page database-view">
      <DatabaseStatus view="database" />
      {client === undefined ? (
        <>
          <header class="view-head">
            <h1>Walk through a database</h1>
            <p class="lead">A LevelDB database is a folder of files. New writes go to a log; everything older is in tables, level by level. Open one to see where its data is, and every version of a key.</p>
          </header>
          {opening === undefined && <Anatomy label="Parts of a database" parts={PARTS} />}
          {opening === undefined && <DatabaseDrop view="database" />}
        </>
      ) : (
        <OpenedDatabase client={client} />
      )}
    </div>
  );
}

/** Opens a table of the database. */
export function useTableOpening({ origin }: DatabaseClient): (name: string) => void {
  const session = useSession();
  return (name) => {
    const file = fileOfFolder(origin, name);
    if (file !== undefined) session.openTable(file);
  };
}

function OpenedDatabase({ client }: { readonly client: DatabaseClient }) {
  const session = useSession();
  const openTable = useTableOpening(client);
  const { facts } = client;
  const stored = session.storedIn(client.origin);
  const form = useSessionState((state) => state.keyForm) ?? usualByteForm(facts);
  const [dropped, setDropped] = useState<readonly DroppedFacts[]>(facts.dropped);
  const refreshDropped = (): void => void client.worker.dropped().then(setDropped, () => undefined);
  const tableCount = facts.levels.reduce((sum, tables) => sum + tables.length, 0);
  return (
    <>
      <header class="view-head">
        <div class="card-head">
          <h1 class="file-name">{facts.name}</h1>
          <div class="row">
            {stored !== undefined && (
              <button type="button" onClick={() => session.openProfile(stored)}>
                Show the stored values
              </button>
            )}
            <a class="button" href={session.linkTo('lookup')} onClick={() => session.saveUrl()}>
              Follow a lookup
            </a>
            <button type="button" onClick={() => session.closeDatabase()}>
              Open another
            </button>
          </div>
        </div>
        <ul class="chips" aria-label="About the database">
          <li class="chip">{byteSize(facts.byteLength)}</li>
          <li class="chip">{counted(tableCount, 'table')}</li>
          <li class="chip">{counted(facts.logs.length, 'log')}</li>
          <li class="chip">order: {facts.comparator}</li>
          <li class="chip">last sequence: {count(BigInt(facts.lastSequence))}</li>
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
        <LevelMap facts={facts} form={form} onOpen={openTable} />
      </section>
      <div class="database-layout">
        <EntryBrowser client={client} onRead={refreshDropped} />
        <div class="table-side">
          <CountCard client={client} onRead={refreshDropped} />
          <DroppedCard dropped={dropped} />
        </div>
      </div>
      {tableCount > 0 && <TrialCard run={client.trials} what="database" form={form} />}
    </>
  );
}

function CountCard({ client, onRead }: { readonly client: DatabaseClient; readonly onRead: () => void }) {
  const { result: entries, failure, progress } = useTask(client.count);
  useEffect(() => {
    if (!client.count.wasStarted && client.facts.byteLength <= EAGER_COUNT_BYTES) void client.count.start();
  }, [client]);
  useEffect(onRead, [entries, failure]);
  const { facts } = client;
  const openTable = useTableOpening(client);
  return (
    <section class="card" aria-label="Contents">
      <h2>Contents</h2>
      {failure !== undefined && <FailureNotice failure={failure} title="Not everything could be read." />}
      {progress !== undefined ? (
        <Progress label="Counting entries" done={progress.done} total={progress.total} onCancel={() => client.count.cancel()} />
      ) : (
        <dl class="facts">
          <Fact name="Visible entries">
            {entries === undefined ? (
              <button type="button" onClick={() => void client.count.start()}>
                Count
              </button>
            ) : (
              <span data-fact="entries">{count(entries)}</span>
            )}
          </Fact>
          <Fact name="Last sequence">{count(BigInt(facts.lastSequence))}</Fact>
          <Fact name="In the log">{counted(facts.logs.reduce((sum, log) => sum + log.entries, 0), 'write')}</Fact>
          <Fact name="MANIFEST">
            <button type="button" class="is-link" onClick={() => openTable(facts.manifest)}>
              {facts.manifest}
            </button>
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
        <p class="notice is-good">Nothing has been skipped so far.</p>
      </section>
    );
  }
  return (
    <section class="card" aria-label="Damage">
      <h2>
        Skipped <span class="muted">{count(dropped.length)}</span>
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
            <p class="small">All other entries are shown, as in LevelDB. A get fails if its entry may be in the damaged part.</p>
            <p class="small">
              <code>{code}</code>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
