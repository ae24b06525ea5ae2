import './lookup.css';
import '../database/database.css';
import '../table/table.css';
import { count, counted } from '@bloom/report';
import { useEffect, useId, useState } from 'preact/hooks';
import { BytesText, ByteFormSwitch } from '../bytes/bytes-text.js';
import { type ByteForm, typedBytes, typedForm, TYPING_HELP, typingOptions, usualByteForm, usualTyping } from '../bytes/byte-forms.js';
import { Anatomy } from '../controls/anatomy.js';
import { Fact, Progress, Segmented } from '../controls/controls.js';
import { percent } from '../controls/sizes.js';
import { DatabaseDrop, DatabaseStatus, useTableOpening } from '../database/database-view.js';
import type { DatabaseClient } from '../database/database-client.js';
import type { LookupTrace, TraceStep } from '../database/database-facts.js';
import { LevelMap, type LookupPath, type Visit } from '../database/level-map.js';
import { isSameFolder, sampleDatabase } from '../database/folder-origin.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { FailureNotice } from '../table/failure-notice.js';
import { failureFacts, type FailureFacts } from '../worker/failure.js';
import { useTask } from '../worker/task.js';
import type { LookupQuery } from './lookup-query.js';
import { TraceSteps } from './trace-steps.js';

/** The stages of a lookup, in their order. */
const STAGES = [
  { colour: 'filter', share: 1, title: '1 · Log', text: 'Is it among the newest writes? Then the lookup ends here.' },
  { colour: 'index', share: 1, title: '2 · Index of a table', text: 'Which block would hold the key? Only tables with the key in their range are searched.' },
  { colour: 'no', share: 1, title: '3 · Filter', text: 'A certain no saves the read. The lookup goes on to the next table.' },
  { colour: 'data', share: 1.4, title: '4 · Block', text: 'A maybe costs a read. Either the key is here, or the maybe was wrong.' },
] as const;

const NO_KEY = new Uint8Array(0);

export function LookupView() {
  const { client, opening } = useSessionState((state) => state.database);
  return (
    <div class="page lookup-view">
      <DatabaseStatus view="lookup" />
      {client === undefined ? (
        <>
          <header class="view-head">
            <h1>Follow a lookup</h1>
            <p class="lead">Type a key and see where LevelDB looks for it: in the log first, then level by level. In each table, it asks a Bloom filter before it reads a block.</p>
          </header>
          {opening === undefined && <Anatomy label="Steps of a lookup" parts={STAGES} />}
          {opening === undefined && <DatabaseDrop view="lookup" />}
        </>
      ) : (
        <Lookup client={client} />
      )}
    </div>
  );
}

function Lookup({ client }: { readonly client: DatabaseClient }) {
  const id = useId();
  const session = useSession();
  const openTable = useTableOpening(client);
  const query = useSessionState((state) => state.query);
  const typed = query.key;
  const { facts } = client;
  const typing = query.typing ?? usualTyping(facts);
  const form = useSessionState((state) => state.keyForm) ?? usualByteForm(facts);
  const [trace, setTrace] = useState<LookupTrace>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [shown, setShown] = useState(0);
  const key = typedBytes(typed, typing);
  const isSample = isSameFolder(client.origin, sampleDatabase());
  const ask = (part: Partial<LookupQuery>): void => session.change({ query: { ...session.state.query, ...part } });

  useEffect(() => {
    if (key === undefined || typed === '') {
      setTrace(undefined);
      return;
    }
    let current = true;
    const timer = setTimeout(() => {
      client.worker.trace(key).then(
        (found) => {
          if (!current) return;
          setTrace(found);
          setFailure(undefined);
          setShown(found.steps.length);
        },
        (error: unknown) => current && setFailure(failureFacts(error)),
      );
    }, 120);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [client, typed, typing]);

  const tryPresent = (): void => {
    void client.worker.page({}, 200).then(({ rows }) => {
      // Keys that can be typed in the current form are preferred, because other keys would change the form.
      const typed = rows.map(({ key }) => typedForm(key.bytes, typing));
      const alike = typed.filter((form) => form.typing === typing);
      const from = alike.length > 0 ? alike : typed;
      const chosen = from[Math.floor(Math.random() * from.length)];
      if (chosen !== undefined) ask(chosen);
    });
  };
  const steps = trace?.steps ?? [];
  return (
    <>
      <header class="view-head">
        <div class="card-head">
          <h1 class="file-name">
            A lookup in {facts.name}
          </h1>
          <div class="row">
            <a class="button" href={session.linkTo('database')} onClick={() => session.saveUrl()}>
              The whole database
            </a>
            <button type="button" onClick={() => session.closeDatabase()}>
              Open another
            </button>
          </div>
        </div>
      </header>
      <section class="card" aria-label="The key">
        <div class="entry-search">
          <div class="field grow">
            <label for={id}>Key to look up</label>
            <input id={id} type="search" class="mono lookup-key" value={typed} spellcheck={false} autocapitalize="off" autocomplete="off" placeholder={isSample ? 'weather/oslo/2026-02-14' : 'any key'} onInput={({ currentTarget }) => ask({ key: currentTarget.value })} />
          </div>
          <Segmented
            legend="Typed as"
            name="lookup-typing"
            value={typing}
            options={typingOptions(facts)}
            onChange={(to) => ask({ typing: to })}
          />
        </div>
        {key === undefined && <p class="notice is-warn">{TYPING_HELP[typing]}</p>}
        {key !== undefined && key.length > 0 && (
          <div class="row">
            <ByteFormSwitch form={form} onChange={(to) => session.change({ keyForm: to === usualByteForm(facts) ? undefined : to })} />
            <p class="looked-up">
              <span class="muted small">Looked up: </span>
              <BytesText bytes={key} form={form} />
            </p>
          </div>
        )}
        <div class="row lookup-examples">
          <span class="muted small">Try:</span>
          {isSample ? (
            EXAMPLES.map(([example, title]) => (
              <button
                key={example}
                type="button"
                class="is-quiet small"
                onClick={() => ask({ typing: 'text', key: example })}
              >
                {title}
              </button>
            ))
          ) : (
            <button type="button" class="is-quiet small" onClick={tryPresent}>
              a stored key
            </button>
          )}
        </div>
      </section>
      {failure !== undefined && <FailureNotice failure={failure} title="The lookup failed." />}
      {trace !== undefined && key !== undefined && (
        <section class="card" aria-labelledby={`${id}-path`}>
          <div class="card-head">
            <h2 id={`${id}-path`}>Path of the lookup</h2>
            <ul class="map-legend" aria-label="What the lookup does">
              <li>
                <span class="visit-swatch is-skipped" aria-hidden="true" /> the filter says no: not read
              </li>
              <li>
                <span class="visit-swatch is-read" aria-hidden="true" /> searched, not there
              </li>
              <li>
                <span class="visit-swatch is-found" aria-hidden="true" /> the answer
              </li>
            </ul>
          </div>
          <LevelMap facts={facts} onOpen={openTable} form={form} lookup={pathOf(key, steps.slice(0, shown), shown >= steps.length)} />
        </section>
      )}
      <div class="lookup-layout">
        <section class="card" aria-labelledby={`${id}-steps`}>
          <div class="card-head">
            <h2 id={`${id}-steps`}>Step by step</h2>
            {steps.length > 0 && (
              <div class="row">
                <button type="button" disabled={shown <= 1} onClick={() => setShown(1)}>
                  From the start
                </button>
                <button type="button" disabled={shown <= 1} aria-label="One step back" onClick={() => setShown(shown - 1)}>
                  ←
                </button>
                <button type="button" disabled={shown >= steps.length} aria-label="One step forward" onClick={() => setShown(shown + 1)}>
                  →
                </button>
              </div>
            )}
          </div>
          {trace === undefined ? (
            <p class="muted">Type a key, or try one of the keys above.</p>
          ) : (
            <>
              <TraceSteps steps={steps.slice(0, shown)} form={form} total={steps.length} asked={key ?? NO_KEY} storedFilter={(file, number) => client.worker.storedFilter(file, number)} />
              {shown >= steps.length && <Outcome trace={trace} form={form} />}
            </>
          )}
        </section>
        <div class="table-side">
          {trace !== undefined && (
            <section class="card" aria-label="Reads for this key">
              <h2>For this key</h2>
              <dl class="facts big-facts">
                <Fact name="Blocks read">
                  <span data-fact="reads">{count(trace.reads)}</span>
                </Fact>
                <Fact name="Reads saved by filters">
                  <span data-fact="saved" class={trace.saved > 0 ? 'answer-no' : ''}>{count(trace.saved)}</span>
                </Fact>
              </dl>
            </section>
          )}
          <AbsentCard client={client} form={form} />
        </div>
      </div>
    </>
  );
}

/** The results of the steps in each log and table, and the levels that they reached. */
export function pathOf(key: Uint8Array, steps: readonly TraceStep[], isOver: boolean): LookupPath {
  const visits = new Map<string, Visit>();
  const levels = new Map<number, boolean>();
  let hasAnswer = false;
  for (const step of steps) {
    if (step.kind === 'level') levels.set(step.level, true);
    if (step.kind !== 'log' && step.kind !== 'table') continue;
    const isAnswer = step.outcome === 'found' || step.outcome === 'deleted';
    hasAnswer ||= isAnswer;
    visits.set(step.file, step.kind === 'table' && step.failure !== undefined ? 'failed' : isAnswer ? 'found' : step.outcome === 'skipped' ? 'skipped' : 'read');
    if (step.kind === 'table') levels.set(step.level, false);
  }
  const deepest = Math.max(...levels.keys());
  for (const level of levels.keys()) if (level < deepest || (isOver && !hasAnswer)) levels.set(level, true);
  return { key, visits, levels };
}

const EXAMPLES: readonly (readonly [string, string])[] = [
  ['weather/oslo/2026-03-26', 'in the log'],
  ['weather/oslo/2026-03-19', 'in level 0'],
  ['weather/lima/2026-02-25', 'in level 1'],
  ['weather/oslo/2026-01-20', 'in level 2'],
  ['weather/accra/2026-01-11', 'deleted'],
  ['weather/oslo/2026-02-30', 'absent'],
];

export function Outcome({ trace, form }: { readonly trace: LookupTrace; readonly form: ByteForm }) {
  const { outcome, value } = trace;
  return (
    <div role="status" class={`notice ${outcome === 'found' ? 'is-answer' : outcome === 'unknown' ? 'is-bad' : outcome === 'deleted' ? 'is-warn' : ''}`} data-outcome={outcome}>
      <p>
        <strong>
          {outcome === 'found' ? 'Found.' : outcome === 'deleted' ? 'Deleted: the newest version is a deletion, so older ones are ignored.' : outcome === 'absent' ? 'Absent: it is in no log and in no table.' : 'Unknown: a damaged part may contain a newer version, so the lookup fails.'}
        </strong>
      </p>
      {value !== undefined && (
        <p>
          <BytesText bytes={value.bytes} byteLength={value.byteLength} form={form} isValue />
        </p>
      )}
    </div>
  );
}

function AbsentCard({ client, form }: { readonly client: DatabaseClient; readonly form: ByteForm }) {
  const { result, failure, progress } = useTask(client.absentLookups);
  const without = result?.readsWithoutFilters ?? 0;
  const tables = client.facts.levels.flat();
  const filtered = tables.filter(({ filter }) => filter === 'used' || filter === 'unread').length;
  return (
    <section class="card" aria-label="Many absent keys">
      <h2>For 10,000 absent keys</h2>
      <p class="muted small">Each is a stored key with four random bytes after it. Key ranges and indexes cannot rule such keys out. Only a filter can.</p>
      {failure !== undefined && <FailureNotice failure={failure} title="Not all of them could be looked up." />}
      {progress !== undefined ? (
        <Progress label="Looking them up" done={progress.done} total={progress.total} onCancel={() => client.absentLookups.cancel()} />
      ) : (
        <button type="button" class={result === undefined ? 'is-primary' : ''} onClick={() => void client.absentLookups.start()}>
          {result === undefined ? 'Look them up' : 'Again'}
        </button>
      )}
      {result !== undefined && (
        <>
          <div class="read-bars" role="img" aria-label={`${count(without)} block reads without filters, ${count(result.readsWithFilters)} with them`}>
            <p>
              <strong>{count(without)}</strong> without filters
            </p>
            <div class="read-bar is-without" />
            <p>
              <strong>{count(result.readsWithFilters)}</strong> with filters
            </p>
            <div class="read-bar is-with" style={{ width: `${without === 0 ? 0 : (result.readsWithFilters / without) * 100}%` }} />
          </div>
          {result.example !== undefined && (
            <p class="small muted">
              For example <BytesText bytes={result.example.bytes} byteLength={result.example.byteLength} form={form} />. Each run uses different keys.
            </p>
          )}
          {result.failuresWithoutFilters + result.failuresWithFilters > 0 && (
            <p class="notice is-warn">
              Without filters {counted(result.failuresWithoutFilters, 'lookup')} failed, with them {count(result.failuresWithFilters)}: they met a damaged block that may contain the key. Only the others are counted.
            </p>
          )}
          {filtered < tables.length && (
            <p class="notice is-warn" data-fact="no-filters">
              {filtered === 0
                ? 'No table of this database has a usable filter, so each lookup reads a block of every table with the key in its range. LevelDB writes filters only if the program that opens the database sets filter_policy.'
                : `${count(tables.length - filtered)} of ${counted(tables.length, 'table')} have no usable filter: there, each lookup reads a block.`}
            </p>
          )}
          <dl class="facts">
            <Fact name="Lookups">
              <span data-fact="lookups">{count(result.lookups)}</span>
            </Fact>
            <Fact name="Block reads without filters">
              <span data-fact="reads-without">{count(without)}</span>
            </Fact>
            <Fact name="Block reads with filters">
              <span data-fact="reads-with">{count(result.readsWithFilters)}</span>
            </Fact>
            <Fact name="Reads saved by filters">{without === 0 ? '–' : percent(1 - result.readsWithFilters / without)}</Fact>
            <Fact name="False positives">{counted(result.falsePositives, 'read')} <small>wasted</small></Fact>
          </dl>
        </>
      )}
    </section>
  );
}
