import './table.css';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { KEY_FORMS, type KeyForm } from '../bytes/key-form.js';
import { KeyFormSwitch } from '../bytes/bytes-text.js';
import { Anatomy } from '../controls/anatomy.js';
import { Drop, Fact, Progress } from '../controls/controls.js';
import { byteSize, count, counted } from '../controls/sizes.js';
import type { ViewProps } from '../shell/view-props.js';
import { navigate, parseRoute, replaceState } from '../shell/route.js';
import { CallError, type FailureFacts, failureFacts } from '../worker/failure.js';
import { FailureNotice } from './failure-notice.js';
import { FileMap, filePartsOf, partAt, partTitle } from './file-map.js';
import { Findings } from './findings.js';
import { closeTable, openedTable, openTable, SAMPLE_TABLE, sampleUrl } from './opened-table.js';
import { PartDetails } from './part-details.js';
import type { TableClient } from './table-client.js';
import type { CheckFacts, FileOrigin, TableFacts } from './table-facts.js';

/** Tables up to this size are checked without being asked to. */
const EAGER_CHECK_BYTES = 32 * 2 ** 20;

function originOf(params: URLSearchParams): FileOrigin | undefined {
  const url = params.get('url');
  if (params.has('sample')) return { kind: 'url', url: sampleUrl(SAMPLE_TABLE), name: SAMPLE_TABLE };
  if (url === null) return undefined;
  try {
    const { href, pathname } = new URL(url, document.baseURI);
    return { kind: 'url', url: href, name: decodeURIComponent(pathname.slice(pathname.lastIndexOf('/') + 1)) || href };
  } catch {
    return undefined;
  }
}

function isSameOrigin(a: FileOrigin, b: FileOrigin): boolean {
  return a.kind === 'url' && b.kind === 'url' ? a.url === b.url : a === b;
}

/** In the order of the file. */
const PARTS = [
  { colour: 'data', share: 6, title: 'Data blocks', text: 'Keys and values, sorted, in blocks of a few kilobytes. A lookup reads one of them, or none.' },
  { colour: 'filter', share: 2, title: 'Filters', text: 'A Bloom filter for every 2 KiB of the file. If it says no, the block is not read.' },
  { colour: 'index', share: 2, title: 'Index', text: 'Where each block starts, and which keys it can hold.' },
  { colour: 'footer', share: 1.6, title: 'Footer', text: 'The last 48 bytes, where reading starts.' },
] as const;

export function TableView({ params }: ViewProps) {
  const [client, setClient] = useState<TableClient>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [opening, setOpening] = useState<string>();
  const controller = useRef<AbortController | undefined>(undefined);

  const open = async (origin: FileOrigin): Promise<void> => {
    controller.current?.abort();
    const mine = (controller.current = new AbortController());
    setFailure(undefined);
    setOpening(origin.kind === 'file' ? origin.file.name : origin.name);
    try {
      const opened = await openTable(origin, mine.signal);
      if (controller.current === mine) setClient(opened);
    } catch (error) {
      if (controller.current !== mine || (error instanceof CallError && error.isCancelled)) return;
      setFailure(failureFacts(error));
    } finally {
      if (controller.current === mine) setOpening(undefined);
    }
  };

  const wanted = originOf(params);
  const wantedUrl = wanted?.kind === 'url' ? wanted.url : undefined;
  const wantedFile = params.get('file');
  useEffect(() => {
    const kept = openedTable();
    if (wanted !== undefined) {
      if (kept !== undefined && isSameOrigin(kept.origin, wanted)) setClient(kept);
      else void open(wanted);
    } else if (wantedFile !== null && wantedFile === kept?.name) setClient(kept);
    else setClient(undefined);
  }, [wantedUrl, wantedFile]);
  useEffect(() => () => controller.current?.abort(), []);

  const openFile = (file: File | undefined): void => {
    if (file === undefined) return;
    void open({ kind: 'file', file }).then(() => openedTable()?.name === file.name && navigate('table', { file: file.name }));
  };
  const drop = (
    <Drop
      title={client === undefined ? 'Look inside a table' : 'Another table'}
      explanation="A table is one sorted file of a LevelDB database: .ldb or .sst. Drop one here; it stays on your machine."
      urlLabel="Address of a table"
      urlPlaceholder="https://… .ldb"
      sampleLabel="Open the sample"
      onFiles={(files) => openFile(files[0])}
      onUrl={(url) => navigate('table', { url })}
      onSample={() => navigate('table', { sample: '1' })}
    >
      {client === undefined && wantedFile !== null && (
        <p class="notice is-warn">
          “{wantedFile}” is not kept when the page is left. Drop it again to go on.
        </p>
      )}
    </Drop>
  );
  return (
    <div
      class="page table-view"
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        openFile(event.dataTransfer?.files[0]);
      }}
    >
      {opening !== undefined && (
        <p role="status" class="notice">
          Opening {opening}…{' '}
          <button
            type="button"
            class="is-link"
            onClick={() => {
              controller.current?.abort();
              setOpening(undefined);
            }}
          >
            Cancel
          </button>
        </p>
      )}
      {failure !== undefined && <FailureNotice failure={failure} title="The table could not be opened." />}
      {client === undefined ? (
        <>
          <header class="view-head">
            <h1>Inside a table</h1>
            <p class="lead">
              A table is one file of a LevelDB database: sorted keys with their values, and beside them filters that save reads. Open one and see every part of it, down to the byte.
            </p>
          </header>
          {opening === undefined && (
            <>
              <Anatomy label="Parts of a table" parts={PARTS} />
              {drop}
            </>
          )}
        </>
      ) : (
        <OpenedTable
          key={client.origin.kind === 'url' ? client.origin.url : client}
          client={client}
          params={params}
          onClose={() => {
            closeTable();
            setClient(undefined);
            navigate('table');
          }}
        />
      )}
    </div>
  );
}

function OpenedTable({ client, params, onClose }: { readonly client: TableClient; readonly params: URLSearchParams; readonly onClose: () => void }) {
  const { facts } = client;
  const fileParts = useMemo(() => filePartsOf(facts), [facts]);
  const [selected, setSelected] = useState(() => partAt(fileParts, Number(params.get('at') ?? 0) || 0));
  const [form, setForm] = useState<KeyForm>(() => KEY_FORMS.find((name) => name === params.get('form')) ?? defaultForm(facts));
  const check = useCheck(client);
  const findings = check.facts?.findings ?? facts.findings;
  const findingOffsets = useMemo(() => [...new Set(findings.map(({ offset }) => offset))], [findings]);

  useEffect(() => {
    // What opened the table may just have put its name there.
    const next = new URLSearchParams(parseRoute(location.hash).params);
    const start = fileParts.starts[selected] ?? 0;
    if (start > 0) next.set('at', String(start));
    else next.delete('at');
    if (form === defaultForm(facts)) next.delete('form');
    else next.set('form', form);
    replaceState('table', next);
  }, [selected, form]);

  const goTo = (offset: number): void => setSelected(partAt(fileParts, offset));
  const hasParts = fileParts.parts.length > 0;
  return (
    <>
      <header class="view-head">
        <div class="card-head">
          <h1 class="file-name">{client.name}</h1>
          <button type="button" onClick={onClose}>
            Open another
          </button>
        </div>
        <Chips facts={facts} check={check.facts} findingCount={findings.length} />
      </header>
      {facts.footerLayout.length === 0 && (
        <p class="notice is-bad" role="alert">
          {facts.byteLength === 0 ? 'The file is empty.' : `The file has ${counted(facts.byteLength, 'byte')}. A table’s footer alone has 48.`}
        </p>
      )}
      {hasParts && (
        <section class="card" aria-label="Map">
          <FileMap fileParts={fileParts} byteLength={facts.byteLength} findings={findingOffsets} selected={selected} onSelect={setSelected} />
        </section>
      )}
      <div class="table-layout">
        {hasParts && (
          <section class="card" aria-label="What is selected">
            <div class="card-head">
              <h2>{partTitle(fileParts, selected)}</h2>
              <div class="row">
                <button type="button" disabled={selected === 0} aria-label="Previous part" onClick={() => setSelected(selected - 1)}>
                  ←
                </button>
                <button type="button" disabled={selected >= fileParts.parts.length - 1} aria-label="Next part" onClick={() => setSelected(selected + 1)}>
                  →
                </button>
              </div>
            </div>
            <KeyFormSwitch form={form} onChange={setForm} />
            <PartDetails key={selected} client={client} fileParts={fileParts} part={selected} form={form} findings={findings} onGoTo={goTo} />
          </section>
        )}
        <div class="table-side">
          <CheckCard client={client} check={check} />
          {check.facts !== undefined && check.facts.unchecked.length > 0 && (
            <section class="card" aria-label="Not checked">
              <h2>Not checked</h2>
              {check.facts.unchecked.map((part) => (
                <p key={part} class="notice is-warn">
                  {part}
                </p>
              ))}
            </section>
          )}
          <Findings findings={findings} moreFindings={check.facts?.moreFindings ?? 0} isWhole={check.facts !== undefined} onShow={goTo} />
        </div>
      </div>
    </>
  );
}

function defaultForm({ isIndexedDb, isMinecraft }: TableFacts): KeyForm {
  return isIndexedDb ? 'indexeddb' : isMinecraft ? 'minecraft' : 'text';
}

function Chips({ facts, check, findingCount }: { readonly facts: TableFacts; readonly check: CheckFacts | undefined; readonly findingCount: number }) {
  const { filter } = facts;
  const dataBlocks = check?.dataBlocks ?? facts.kinds.reduce((sum, kind) => sum + (kind === 0 ? 1 : 0), 0);
  return (
    <ul class="chips" aria-label="About the file">
      <li class="chip">{byteSize(facts.byteLength)}</li>
      <li class="chip">{counted(dataBlocks, 'data block')}</li>
      {check !== undefined && <li class="chip">{counted(check.entries, 'entry', 'entries')}</li>}
      <li class="chip">{codecText(facts, check)}</li>
      {filter.state === 'used' && <li class="chip is-good">filter: {filter.policyName}</li>}
      {filter.state === 'absent' && <li class="chip">no filter</li>}
      {filter.state === 'unknown-policy' && <li class="chip is-warn">filter of another policy: {filter.names.join(', ')}</li>}
      {filter.state === 'unsupported' && <li class="chip is-warn">filter of another kind: {filter.names.join(', ')}</li>}
      {filter.state === 'corrupt' && <li class="chip is-bad">filter damaged: {filter.problem}</li>}
      {facts.isDatabase && <li class="chip">keys with versions, as in a database</li>}
      {facts.isIndexedDb && <li class="chip">Chromium’s IndexedDB</li>}
      {facts.isMinecraft && <li class="chip">Minecraft world</li>}
      {findingCount > 0 ? (
        <li class="chip is-bad">{counted(findingCount, 'finding')}</li>
      ) : (
        check !== undefined && <li class="chip is-good">all checksums are right</li>
      )}
    </ul>
  );
}

function codecText({ codecName }: TableFacts, check: CheckFacts | undefined): string {
  const codecs = check === undefined ? [] : Object.entries(check.codecs);
  const name = (codec: string): string => (codec === 'none' ? 'not compressed' : codec);
  if (codecs.length > 1) return codecs.map(([codec, blocks]) => `${name(codec)} ${count(blocks)}`).join(', ');
  return codecName === undefined ? 'unknown codec' : name(codecs[0]?.[0] ?? codecName);
}

interface Check {
  readonly facts: CheckFacts | undefined;
  readonly failure: FailureFacts | undefined;
  readonly progress: { readonly done: number; readonly total: number } | undefined;
  readonly start: () => void;
  readonly cancel: () => void;
}

function useCheck(client: TableClient): Check {
  const [facts, setFacts] = useState<CheckFacts>();
  const [failure, setFailure] = useState<FailureFacts>();
  const [progress, setProgress] = useState<Check['progress']>();
  const controller = useRef<AbortController | undefined>(undefined);
  const start = (): void => {
    const mine = (controller.current = new AbortController());
    setFailure(undefined);
    setProgress({ done: 0, total: 1 });
    client
      .check({ signal: mine.signal, onProgress: (done, total) => controller.current === mine && setProgress({ done, total }) })
      .then(setFacts, (error: unknown) => {
        const reason = failureFacts(error);
        if (reason.name !== 'AbortError') setFailure(reason);
      })
      .finally(() => controller.current === mine && setProgress(undefined));
  };
  const cancel = (): void => {
    controller.current?.abort();
    setProgress(undefined);
  };
  useEffect(() => {
    if (client.facts.byteLength <= EAGER_CHECK_BYTES) start();
    return () => controller.current?.abort();
  }, [client]);
  return { facts, failure, progress, start, cancel };
}

function CheckCard({ client, check }: { readonly client: TableClient; readonly check: Check }) {
  const { facts, failure, progress, start, cancel } = check;
  return (
    <section class="card" aria-label="Contents">
      <h2>Contents</h2>
      {failure !== undefined && <FailureNotice failure={failure} title="The check could not be finished." />}
      {progress !== undefined ? (
        <Progress label="Checking every byte" done={progress.done} total={progress.total} onCancel={cancel} />
      ) : facts === undefined ? (
        <>
          <p class="muted">Only footer, index and filter were read so far. A check reads all {byteSize(client.facts.byteLength)}: every checksum, the order of keys, and whether each key passes its filter.</p>
          <button type="button" class="is-primary" onClick={start}>
            Check the whole file
          </button>
        </>
      ) : (
        <>
        <dl class="facts">
          <Fact name="Entries">
            <span data-fact="entries">{count(facts.entries)}</span>
          </Fact>
          {client.facts.isDatabase && <Fact name="Deletions among them">{count(facts.deletions)}</Fact>}
          <Fact name="Data blocks">
            {count(facts.dataBlocks)} {facts.unreadableBlocks > 0 && <small>{count(facts.unreadableBlocks)} unreadable</small>}
          </Fact>
          <Fact name="Keys">{byteSize(facts.keyBytes)}</Fact>
          <Fact name="Values">{byteSize(facts.valueBytes)}</Fact>
          <Fact name="Order of keys" isWide>
            <small>{facts.order}</small>
          </Fact>
        </dl>
        {facts.isOrderUnusual && (
          <p class="notice is-warn small">The keys are those of Chromium’s IndexedDB, but they are sorted by their bytes instead of in the order idb_cmp1. A program that does not know this order must have written the table.</p>
        )}
        </>
      )}
    </section>
  );
}
