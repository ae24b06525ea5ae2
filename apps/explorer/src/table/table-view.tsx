import './table.css';
import type { ComponentChildren } from 'preact';
import { bitsPerKey, compressionRatio, count, counted, falsePositivesText, filterWriter, type MeasuredRate, neighboursText } from '@bloom/report';
import { useEffect, useMemo } from 'preact/hooks';
import { type ByteForm, usualByteForm } from '../bytes/byte-forms.js';
import { BytesText, ByteFormSwitch } from '../bytes/bytes-text.js';
import { Anatomy } from '../controls/anatomy.js';
import { Drop, Fact, Progress } from '../controls/controls.js';
import { DropAgain, Opening } from '../controls/opening.js';
import { byteSize } from '../controls/sizes.js';
import { folderOfFile } from '../database/file-of-folder.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { LogView } from '../log/log-view.js';
import { TrialCard } from '../trial/trial-card.js';
import { useTask } from '../worker/task.js';
import { FailureNotice } from './failure-notice.js';
import { FileMap, filePartsOf, partAt, partTitle } from './file-map.js';
import { Findings } from './findings.js';
import { fileAt, nameOfFile, sampleTable } from './file-origin.js';
import { PartDetails } from './part-details.js';
import type { FileClient, TableClient } from './table-client.js';
import { type CheckFacts, MOST_MEASURED_BYTES, type TableFacts } from './table-facts.js';
import type { TablePlace } from './table-place.js';

/** Tables up to this size are verified when they are opened. */
const EAGER_CHECK_BYTES = 32 * 2 ** 20;

/** The number of bytes of a key that are shown in a sentence. */
const SHOWN_KEY_BYTES = 100;

/** Parts that show keys, in the chosen form. */
const KEY_PARTS = new Set([0, 1, 3, 4]);

/** The parts of a table, in the order of the file. */
const PARTS = [
  { colour: 'data', share: 6, title: 'Data blocks', text: 'Keys and values, sorted, in blocks of a few kilobytes. A lookup reads one of them or none.' },
  { colour: 'filter', share: 2, title: 'Filters', text: 'A Bloom filter for every 2 KiB of the file. If it says no, the block is not read.' },
  { colour: 'index', share: 2, title: 'Index', text: 'Where each block starts, and which keys it can hold.' },
  { colour: 'footer', share: 1.6, title: 'Footer', text: 'The last 48 bytes, where reading starts.' },
] as const;

export function TableView() {
  const session = useSession();
  const { client, opening, failed, lost } = useSessionState((state) => state.table);
  const drop = (
    <Drop
      title={client === undefined ? 'Look inside a table' : 'Another file'}
      explanation="A table is one sorted file of a LevelDB database: .ldb or .sst. Logs and MANIFESTs open too. Drop one here; it stays on your machine."
      url={{
        label: 'Address of a table',
        placeholder: 'https://… .ldb',
        onOpen: (url) => session.openTable(fileAt(url)),
      }}
      sampleLabel="Open the sample"
      onFiles={(files) => session.take(files)}
      onSample={() => session.openTable(sampleTable())}
    >
      {client === undefined && lost !== undefined && <DropAgain name={lost} what="file" />}
    </Drop>
  );
  return (
    <div class="page table-view">
      {opening !== undefined && <Opening name={nameOfFile(opening)} onCancel={() => session.cancelTable()} />}
      {failed !== undefined && <FailureNotice failure={failed.failure} title="The table could not be opened." />}
      {client === undefined ? (
        <>
          <header class="view-head">
            <h1>Inside a table</h1>
            <p class="lead">
              A table is one file of a LevelDB database: sorted keys with their values, and filters that save reads. Open one to see every part of it, down to the byte.
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
        <OpenedFile client={client} />
      )}
    </div>
  );
}

/** A file under its name, with a link back to its folder. */
function OpenedFile({ client }: { readonly client: FileClient }) {
  const session = useSession();
  const folder = folderOfFile(client.origin);
  return (
    <>
      <header class="view-head">
        <div class="card-head">
          <h1 class="file-name">{client.name}</h1>
          <div class="row">
            {folder !== undefined && (
              <button type="button" onClick={() => session.showDatabase(folder)}>
                Back to its database
              </button>
            )}
            <button type="button" onClick={() => session.closeTable()}>
              Open another
            </button>
          </div>
        </div>
        {client.kind === 'table' && <Chips client={client} />}
      </header>
      {client.kind === 'table' ? <OpenedTable client={client} /> : <LogView client={client} />}
    </>
  );
}

function OpenedTable({ client }: { readonly client: TableClient }) {
  const session = useSession();
  const place = useSessionState((state) => state.place);
  const { facts } = client;
  const fileParts = useMemo(() => filePartsOf(facts), [facts]);
  const selected = partAt(fileParts, place.at);
  const form = place.form ?? usualByteForm(facts);
  const check = useTask(client.check);
  const findings = check.result?.findings ?? facts.findings;
  const findingOffsets = useMemo(() => [...new Set(findings.map(({ offset }) => offset))], [findings]);
  const isNoTable = facts.findings.some(({ code }) => code === 'BLOOM_NOT_A_TABLE');
  useEffect(() => {
    if (!client.check.wasStarted && facts.byteLength <= EAGER_CHECK_BYTES) void client.check.start();
  }, [client]);

  const change = (part: Partial<TablePlace>): void => session.change({ place: { ...session.state.place, ...part } });
  const goTo = (offset: number): void => change({ at: offset });
  const setSelected = (part: number): void => goTo(fileParts.starts[part] ?? 0);
  const setForm = (to: ByteForm): void => change({ form: to === usualByteForm(facts) ? undefined : to });
  const hasParts = fileParts.parts.length > 0;
  return (
    <>
      {isNoTable && facts.footerLayout.length > 0 && (
        <p class="notice is-bad" role="alert">
          <strong>This is not a table.</strong> Its last 48 bytes are not a table's footer: the file is another kind of file, or a truncated table.
        </p>
      )}
      {facts.footerLayout.length === 0 && (
        <p class="notice is-bad" role="alert">
          {facts.byteLength === 0 ? 'The file is empty.' : `The file has ${counted(facts.byteLength, 'byte')}. A table’s footer alone has 48.`}
        </p>
      )}
      {hasParts && !isNoTable && (
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
            {KEY_PARTS.has(fileParts.parts[selected]!) && <ByteFormSwitch form={form} onChange={setForm} />}
            <PartDetails key={selected} client={client} fileParts={fileParts} part={selected} form={form} findings={findings} onGoTo={goTo} />
          </section>
        )}
        <div class="table-side">
          <CheckCard client={client} form={form} />
          {check.result !== undefined && check.result.unchecked.length > 0 && (
            <section class="card" aria-label="Not checked">
              <h2>Not checked</h2>
              {check.result.unchecked.map((part) => (
                <p key={part} class="notice is-warn">
                  {part}
                </p>
              ))}
            </section>
          )}
          <Findings findings={findings} moreFindings={check.result?.moreFindings ?? 0} isWhole={check.result !== undefined} onShow={goTo} />
        </div>
      </div>
      {hasParts && facts.isIndexRead && <TrialCard run={client.trials} what="table" form={form} />}
    </>
  );
}

function Chips({ client }: { readonly client: TableClient }) {
  const { facts } = client;
  const { result: check } = useTask(client.check);
  const findingCount = (check?.findings ?? facts.findings).length;
  const { filter } = facts;
  if (facts.findings.some(({ code }) => code === 'BLOOM_NOT_A_TABLE')) return null;
  const dataBlocks = check?.profile.dataBlocks ?? facts.kinds.reduce((sum, kind) => sum + (kind === 0 ? 1 : 0), 0);
  return (
    <ul class="chips" aria-label="About the file">
      <li class="chip">{byteSize(facts.byteLength)}</li>
      {facts.isIndexRead && <li class="chip">{counted(dataBlocks, 'data block')}</li>}
      {facts.isIndexRead && check !== undefined && <li class="chip">{counted(check.profile.entries, 'entry')}</li>}
      {dataBlocks > 0 && <li class="chip">{codecText(facts, check)}</li>}
      {filter.state === 'used' && <li class="chip is-good">filter: {filter.policyName}</li>}
      {filter.state === 'absent' && <li class="chip">no filter</li>}
      {filter.state === 'unknown-policy' && <li class="chip is-warn">filter of another policy: {filter.names.map((name) => [name, filterWriter(name)].filter((text) => text !== undefined).join(', ')).join('; ')}</li>}
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
  const codecs = check === undefined ? [] : Object.entries(check.profile.codecs);
  const name = (codec: string): string => (codec === 'none' ? 'not compressed' : codec);
  if (codecs.length > 1) return codecs.map(([codec, blocks]) => `${name(codec)} ${count(blocks)}`).join(', ');
  return codecName === undefined ? 'unknown codec' : name(codecs[0]?.[0] ?? codecName);
}

function CheckCard({ client, form }: { readonly client: TableClient; readonly form: ByteForm }) {
  const { result: facts, failure, progress } = useTask(client.check);
  const { result: trial } = useTask(client.rates);
  const { isIndexRead } = client.facts;
  const hasRates = facts?.isSound === true && client.facts.filter.state === 'used';
  const isMeasured = hasRates && client.facts.byteLength <= MOST_MEASURED_BYTES;
  useEffect(() => {
    if (isMeasured && !client.rates.wasStarted) void client.rates.start();
  }, [isMeasured, client]);
  const ratio = facts && compressionRatio(facts.profile);
  const bits = facts && bitsPerKey(facts.profile);
  return (
    <section class="card" aria-label="Contents">
      <h2>Contents</h2>
      {failure !== undefined && <FailureNotice failure={failure} title="The check failed." />}
      {!isIndexRead && <p class="notice is-warn" data-fact="uncounted">What it contains is not known, because its index cannot be read.</p>}
      {progress !== undefined ? (
        <Progress label="Checking every byte" done={progress.done} total={progress.total} onCancel={() => client.check.cancel()} />
      ) : facts === undefined ? (
        <>
          {isIndexRead && <p class="muted">Only the footer, the index and the filters have been read so far. A check reads all {byteSize(client.facts.byteLength)} and verifies every checksum, the order of keys, and that each key passes its filter.</p>}
          <button type="button" class="is-primary" onClick={() => void client.check.start()}>
            Check the whole file
          </button>
        </>
      ) : isIndexRead && (
        <>
        <dl class="facts">
          <Fact name="Entries">
            <span data-fact="entries">{count(facts.profile.entries)}</span>
          </Fact>
          {facts.profile.deletions !== undefined && <Fact name="Of these, deletions">{count(facts.profile.deletions)}</Fact>}
          <Fact name="Data blocks">
            {count(facts.profile.dataBlocks)} {facts.profile.damagedBlocks > 0 && <small>{count(facts.profile.damagedBlocks)} damaged</small>}
          </Fact>
          <Fact name="Keys">
            {byteSize(facts.profile.keyBytes)} <small>{counted(facts.profile.keyBytes, 'byte')}</small>
          </Fact>
          <Fact name="Values">
            {byteSize(facts.profile.valueBytes)} <small>{counted(facts.profile.valueBytes, 'byte')}</small>
          </Fact>
          {facts.isSound && ratio !== undefined && (
            <Fact name="Compression">
              <span data-fact="compression">{ratio.toFixed(2)} : 1</span>{' '}
              <small>
                {count(facts.profile.rawDataBytes)} bytes, stored as {count(facts.profile.storedDataBytes)}
              </small>
            </Fact>
          )}
          {facts.isSound && facts.profile.filters > 0 && (
            <Fact name="Filters">
              <span data-fact="filters">{count(facts.profile.filters)}</span> <small>{counted(facts.profile.filterBytes, 'byte')}</small>
            </Fact>
          )}
          {facts.isSound && facts.profile.filters > 0 && bits !== undefined && (
            <Fact name="Bits per key">
              <span data-fact="bits-per-key">{bits.toFixed(2)}</span>{' '}
              <small>{probesInWords(trial?.probeRange)}counting the whole filter block</small>
            </Fact>
          )}
          {hasRates && <FalsePositiveFacts client={client} isMeasured={isMeasured} form={form} />}
          <Fact name="Order of keys" isWide>
            <small>{facts.order}</small>
          </Fact>
        </dl>
        {facts.isOrderUnusual && (
          <p class="notice is-warn small">The keys are those of Chromium’s IndexedDB, but they are sorted by their bytes instead of by idb_cmp1. The table must have been written by a program without this comparator.</p>
        )}
        </>
      )}
    </section>
  );
}

/** The share of absent keys that match the filters. */
function FalsePositiveFacts({ client, isMeasured, form }: { readonly client: TableClient; readonly isMeasured: boolean; readonly form: ByteForm }) {
  const { result: trial, failure } = useTask(client.rates);
  if (!isMeasured) return <RateFact name="False positives" fact="false-positives" rate={{ notMeasured: 'the table is too large for this page; “bloom stat FILE” measures it' }} />;
  if (trial === undefined) {
    return (
      <Fact name="False positives" isWide>
        <small>{failure === undefined ? 'being measured…' : `not measured: ${failure.message}`}</small>
      </Fact>
    );
  }
  const { falsePositives } = trial;
  const example = falsePositives?.neighbours?.example;
  return (
    <>
      <RateFact name="False positives" fact="false-positives" rate={falsePositivesText(trial)} />
      {falsePositives !== undefined && (
        <RateFact name="False positives of neighbours" fact="neighbours" rate={neighboursText(falsePositives)}>
          {example !== undefined && <BytesText bytes={example.subarray(0, SHOWN_KEY_BYTES)} byteLength={example.length} form={form} />}
        </RateFact>
      )}
    </>
  );
}

function RateFact({ name, fact, rate, children }: { readonly name: string; readonly fact: string; readonly rate: MeasuredRate; readonly children?: ComponentChildren }) {
  return (
    <Fact name={name} isWide>
      <span data-fact={fact}>{'rate' in rate ? rate.rate : 'not measured'}</span>{' '}
      <small data-fact={`${fact}-detail`}>
        {'rate' in rate ? rate.detail : rate.notMeasured} {children}
      </small>
    </Fact>
  );
}

/** Fitted filters of one table have different numbers of probes. */
function probesInWords(range: { readonly least: number; readonly most: number } | undefined): string {
  if (range === undefined) return '';
  return range.least === range.most ? `${counted(range.most, 'probe')}; ` : `${count(range.least)} to ${counted(range.most, 'probe')}; `;
}
