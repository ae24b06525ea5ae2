import './lookup.css';
import '../database/database.css';
import '../table/table.css';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { BytesText } from '../bytes/bytes-text.js';
import { type KeyForm, typedBytes } from '../bytes/key-form.js';
import { Anatomy } from '../controls/anatomy.js';
import { Fact, Progress, Segmented } from '../controls/controls.js';
import { count, counted, percent } from '../controls/sizes.js';
import { DatabaseDrop, DatabaseStatus, openTableOf } from '../database/database-view.js';
import type { DatabaseClient } from '../database/database-client.js';
import type { AbsentLookups, LookupTrace, TraceStep } from '../database/database-facts.js';
import { hexDigits } from '../database/entry-browser.js';
import { LevelMap, type Visit } from '../database/level-map.js';
import { closeDatabase, paramsOf, useDatabase } from '../database/opened-database.js';
import type { ViewProps } from '../shell/view-props.js';
import { navigate, replaceState } from '../shell/route.js';
import { FailureNotice } from '../table/failure-notice.js';
import { failureFacts, type FailureFacts } from '../worker/failure.js';
import { TraceSteps } from './trace-steps.js';

/** In the order in which they are asked. */
const STAGES = [
  { colour: 'filter', share: 1, title: '1 · Log', text: 'Is it among the newest writes? Then the lookup ends here.' },
  { colour: 'index', share: 1, title: '2 · Index of a table', text: 'Which block would hold the key? Only tables whose range it falls into are asked.' },
  { colour: 'no', share: 1, title: '3 · Filter', text: 'A certain no saves the read: on to the next table.' },
  { colour: 'data', share: 1.4, title: '4 · Block', text: 'A maybe costs a read. Either the key is here, or the yes was wrong.' },
] as const;

export function LookupView({ params }: ViewProps) {
  const opening = useDatabase(params);
  const { client } = opening;
  return (
    <div class="page lookup-view">
      {client === undefined ? (
        <>
          <header class="view-head">
            <h1>Follow a lookup</h1>
            <p class="lead">Type a key and see where LevelDB looks for it: in the log first, then level by level. In each table a Bloom filter is asked before a block is read.</p>
          </header>
          <DatabaseStatus opening={opening} />
          {opening.opening === undefined && <Anatomy label="Steps of a lookup" parts={STAGES} />}
          {opening.opening === undefined && <DatabaseDrop opening={opening} view="lookup" wantedFolder={params.get('folder')} />}
        </>
      ) : (
        <>
          <DatabaseStatus opening={opening} />
          <Lookup
            key={client.origin.name}
            client={client}
            params={params}
            onClose={() => {
              closeDatabase();
              navigate('lookup');
            }}
          />
        </>
      )}
    </div>
  );
}

function Lookup({ client, params, onClose }: { readonly client: DatabaseClient; readonly params: URLSearchParams; readonly onClose: () => void }) {
  const id = useId();
  const { facts } = client;
  const form: KeyForm = facts.isIndexedDb ? 'indexeddb' : facts.isMinecraft ? 'minecraft' : 'text';
  const [typing, setTyping] = useState<'text' | 'hex'>(params.get('typing') === 'hex' ? 'hex' : 'text');
  const [typed, setTyped] = useState(params.get('key') ?? '');
  const [trace, setTrace] = useState<LookupTrace>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [shown, setShown] = useState(0);
  const key = typedBytes(typed, typing);
  const isSample = client.origin.kind === 'url' && params.has('sample');

  useEffect(() => {
    const wanted = params.get('key');
    if (wanted === null || (wanted === typed && (params.get('typing') ?? 'text') === typing)) return;
    setTyped(wanted);
    setTyping(params.get('typing') === 'hex' ? 'hex' : 'text');
  }, [params]);
  useEffect(() => {
    const next = new URLSearchParams(paramsOf(client));
    if (typed !== '') next.set('key', typed);
    if (typing === 'hex') next.set('typing', 'hex');
    replaceState('lookup', next);
    if (key === undefined || typed === '') {
      setTrace(undefined);
      return;
    }
    let current = true;
    const timer = setTimeout(() => {
      client.trace(key).then(
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
    void client.page({}, 200).then(({ rows }) => {
      const row = rows[Math.floor(Math.random() * rows.length)];
      if (row === undefined) return;
      setTyping('hex');
      setTyped(hexDigits(row.key.bytes));
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
            <a class="button" href={`#/database?${new URLSearchParams(paramsOf(client)).toString()}`}>
              The whole database
            </a>
            <button type="button" onClick={onClose}>
              Open another
            </button>
          </div>
        </div>
      </header>
      <section class="card" aria-label="The key">
        <div class="entry-search">
          <div class="field grow">
            <label for={id}>Key to look up</label>
            <input id={id} type="search" class="mono lookup-key" value={typed} spellcheck={false} autocapitalize="off" autocomplete="off" placeholder={isSample ? 'weather/oslo/2026-02-14' : 'any key'} onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
          </div>
          <Segmented
            legend="Typed as"
            name="lookup-typing"
            value={typing}
            options={[
              ['text', 'Text'],
              ['hex', 'Hex'],
            ]}
            onChange={setTyping}
          />
        </div>
        {key === undefined && <p class="notice is-warn">Hexadecimal digits come in pairs of 0 to 9 and a to f.</p>}
        <div class="row">
          <span class="muted small">Try:</span>
          {isSample ? (
            EXAMPLES.map(([example, title]) => (
              <button
                key={example}
                type="button"
                class="is-quiet small"
                onClick={() => {
                  setTyping('text');
                  setTyped(example);
                }}
              >
                {title}
              </button>
            ))
          ) : (
            <button type="button" class="is-quiet small" onClick={tryPresent}>
              one that is there
            </button>
          )}
        </div>
      </section>
      {failure !== undefined && <FailureNotice failure={failure} title="The lookup could not be finished." />}
      {trace !== undefined && key !== undefined && (
        <section class="card" aria-labelledby={`${id}-path`}>
          <div class="card-head">
            <h2 id={`${id}-path`}>Path of the lookup</h2>
            <ul class="map-legend" aria-label="What the lookup does">
              <li>
                <span class="visit-swatch is-skipped" aria-hidden="true" /> filter says no: not read
              </li>
              <li>
                <span class="visit-swatch is-read" aria-hidden="true" /> asked or read, not there
              </li>
              <li>
                <span class="visit-swatch is-found" aria-hidden="true" /> the answer
              </li>
            </ul>
          </div>
          <LevelMap facts={facts} onOpen={(name) => openTableOf(client, name)} lookup={{ key, visits: visitsOf(steps.slice(0, shown)) }} />
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
                <button type="button" disabled={shown >= steps.length} aria-label="One step on" onClick={() => setShown(shown + 1)}>
                  →
                </button>
              </div>
            )}
          </div>
          {trace === undefined ? (
            <p class="muted">Type a key, or try one of those above.</p>
          ) : (
            <>
              <TraceSteps steps={steps.slice(0, shown)} form={form} total={steps.length} />
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
          <AbsentCard client={client} />
        </div>
      </div>
    </>
  );
}

/** What the steps did with each log and table. */
function visitsOf(steps: readonly TraceStep[]): ReadonlyMap<string, Visit> {
  const visits = new Map<string, Visit>();
  for (const step of steps) {
    if (step.kind !== 'log' && step.kind !== 'table') continue;
    const isAnswer = step.outcome === 'found' || step.outcome === 'deleted';
    visits.set(step.file, step.kind === 'table' && step.failure !== undefined ? 'failed' : isAnswer ? 'found' : step.outcome === 'skipped' ? 'skipped' : 'read');
  }
  return visits;
}

const EXAMPLES: readonly (readonly [string, string])[] = [
  ['weather/oslo/2026-03-26', 'in the log'],
  ['weather/oslo/2026-03-19', 'in level 0'],
  ['weather/oslo/2026-02-25', 'in level 1'],
  ['weather/oslo/2026-01-20', 'in level 2'],
  ['weather/accra/2026-01-11', 'deleted'],
  ['weather/oslo/2026-02-30', 'absent'],
];

function Outcome({ trace, form }: { readonly trace: LookupTrace; readonly form: KeyForm }) {
  const { outcome, value } = trace;
  return (
    <div role="status" class={`notice ${outcome === 'found' ? 'is-answer' : outcome === 'unknown' ? 'is-bad' : outcome === 'deleted' ? 'is-warn' : ''}`} data-outcome={outcome}>
      <p>
        <strong>
          {outcome === 'found' ? 'Found.' : outcome === 'deleted' ? 'Deleted: the newest version says so, older ones do not count.' : outcome === 'absent' ? 'Absent: no log and no table has it.' : 'Not known: a damaged part may hide a newer version, so the lookup fails.'}
        </strong>
      </p>
      {value !== undefined && (
        <p>
          <BytesText bytes={value.bytes} byteLength={value.byteLength} form={form === 'indexeddb' || form === 'minecraft' ? 'text' : form} />
        </p>
      )}
    </div>
  );
}

function AbsentCard({ client }: { readonly client: DatabaseClient }) {
  const [result, setResult] = useState<AbsentLookups>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [progress, setProgress] = useState<{ readonly done: number; readonly total: number }>();
  const controller = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => controller.current?.abort(), [client]);
  const start = (): void => {
    const mine = (controller.current = new AbortController());
    setFailure(undefined);
    setProgress({ done: 0, total: 10_000 });
    client
      .absentLookups({ signal: mine.signal, onProgress: (done, total) => controller.current === mine && setProgress({ done, total }) })
      .then(setResult, (error: unknown) => {
        const reason = failureFacts(error);
        if (reason.name !== 'AbortError') setFailure(reason);
      })
      .finally(() => controller.current === mine && setProgress(undefined));
  };
  const without = result?.readsWithoutFilters ?? 0;
  return (
    <section class="card" aria-label="Many absent keys">
      <h2>For 10,000 absent keys</h2>
      <p class="muted small">Each is a stored key with four random bytes after it. Key ranges and indexes cannot rule such keys out. Only a filter can.</p>
      {failure !== undefined && <FailureNotice failure={failure} title="They could not all be looked up." />}
      {progress !== undefined ? (
        <Progress label="Looking them up" done={progress.done} total={progress.total} onCancel={() => controller.current?.abort()} />
      ) : (
        <button type="button" class={result === undefined ? 'is-primary' : ''} onClick={start}>
          {result === undefined ? 'Look them up' : 'Again'}
        </button>
      )}
      {result !== undefined && (
        <>
          <div class="read-bars" role="img" aria-label={`${count(without)} block reads without filters, ${count(result.readsWithFilters)} with them`}>
            <div class="read-bar is-without" style={{ width: '100%' }}>
              {count(without)} <span>without filters</span>
            </div>
            <div class="read-bar is-with" style={{ width: `${without === 0 ? 100 : Math.max(1, (result.readsWithFilters / without) * 100)}%` }} />
            <p>
              <strong>{count(result.readsWithFilters)}</strong> with filters
            </p>
          </div>
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
            <Fact name="False positives">{counted(result.falsePositives, 'read')} <small>for nothing</small></Fact>
          </dl>
        </>
      )}
    </section>
  );
}
