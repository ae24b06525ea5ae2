import { count, counted } from '@bloom/report';
import { useState } from 'preact/hooks';
import { BytesText, ByteFormSwitch } from '../bytes/bytes-text.js';
import { type ByteForm, usualByteForm } from '../bytes/byte-forms.js';
import { Fact } from '../controls/controls.js';
import { Rows } from '../controls/rows.js';
import { byteSize } from '../controls/sizes.js';
import { WindowedRows } from '../controls/windowed-rows.js';
import { useSession, useSessionState } from '../session/use-session.js';
import type { LogClient } from '../table/table-client.js';
import { useLoaded } from '../worker/use-loaded.js';
import type { RecordRow } from './log-facts.js';

/** The number of ranges that are listed at once. */
const SHOWN_RANGES = 400;

/** A log or MANIFEST: its records, their fragments, and their contents. */
export function LogView({ client }: { readonly client: LogClient }) {
  const session = useSession();
  const place = useSessionState((state) => state.place);
  const [selected, setSelected] = useState<{ readonly number: number; readonly row: RecordRow }>();
  const { facts } = client;
  const form = place.form ?? usualByteForm(facts);
  const setForm = (to: ByteForm): void => session.change({ place: { ...place, form: to === usualByteForm(facts) ? undefined : to } });
  const isManifest = facts.holds === 'edits';
  const isGarbage = facts.records === 0 && facts.byteLength > 0;
  return (
    <>
      {isGarbage && (
        <p class="notice is-bad" role="alert">
          <strong>No record of this file can be read.</strong> Its name is that of a {isManifest ? 'MANIFEST' : 'log'}, but it contains something else or is entirely damaged.
        </p>
      )}
      <section class="card" aria-label="Contents">
        <h2>{isManifest ? 'A MANIFEST: the tables of the database, as a list of changes' : 'A log: the newest writes, in the order in which they were made'}</h2>
        <p class="muted">
          {isManifest
            ? 'Each record is an edit, which adds tables to levels or removes them. All edits together give the current tables.'
            : 'Each record is a batch of writes that are applied together or not at all. When the log is full, its entries become a table with filters.'}{' '}
          Records are split into fragments, none of which crosses the end of a 32 KiB block.
        </p>
        <dl class="facts">
          <Fact name={isManifest ? 'Edits' : 'Batches'}>
            <span data-fact="records">{count(facts.records)}</span>
          </Fact>
          {!isManifest && (
            <Fact name="Writes">
              <span data-fact="operations">{count(facts.operations)}</span>
            </Fact>
          )}
          <Fact name="Fragments">
            <span data-fact="fragments">{count(facts.fragments)}</span>
          </Fact>
          <Fact name="Size">{byteSize(facts.byteLength)}</Fact>
        </dl>
        {facts.damage.slice(0, 20).map(({ offset, byteLength, reason }) => (
          <p key={offset} class="notice is-bad">
            <strong>Damaged at {count(offset)}</strong>: {reason}, {counted(byteLength, 'byte')} skipped.
          </p>
        ))}
        {facts.tail !== undefined && (
          <p class="notice is-warn">
            Its last {counted(facts.tail.byteLength, 'byte')}, at {count(facts.tail.offset)}, belong to a truncated record: the writer was stopped or is still writing. That record is ignored.
          </p>
        )}
      </section>
      {facts.records > 0 && (
        <section class="card" aria-label="Records">
          <div class="card-head">
            <h2>Records</h2>
            {!isManifest && <ByteFormSwitch form={form} onChange={setForm} />}
          </div>
          <WindowedRows<RecordRow>
            label="Records"
            rowCount={facts.records}
            columns="4rem 6rem 5.5rem minmax(14rem, 1fr)"
            minWidth="34rem"
            stackedColumns="2.4rem minmax(0, 1fr) 5.5rem"
            headings={['#', 'Offset', 'Fragments', isManifest ? 'What it changes' : 'Writes']}
            loadKey={`records ${form}`}
            load={(start, end) => client.worker.records(start, end)}
            selected={selected?.number}
            onSelect={(number, row) => setSelected({ number, row })}
            row={(row) => [count(row.number + 1), count(row.offset), count(row.fragments), <Summary key="what" row={row} form={form} />]}
          />
          {selected !== undefined && <RecordDetails client={client} row={selected.row} form={form} />}
        </section>
      )}
    </>
  );
}

function Summary({ row, form }: { readonly row: RecordRow; readonly form: ByteForm }) {
  const first = row.operations[0];
  if (row.problem !== undefined) return <span class="is-bad-text">{row.problem}</span>;
  if (row.changes.length > 0) return <>{row.changes.join('; ')}</>;
  if (first === undefined) return <span class="muted">no writes</span>;
  return (
    <>
      {first.kind} <BytesText bytes={first.key.bytes} byteLength={first.key.byteLength} form={form} />
      {row.operationCount > 1 && <span class="muted"> and {counted(row.operationCount - 1, 'more write')}</span>}
    </>
  );
}

function RecordDetails({ client, row, form }: { readonly client: LogClient; readonly row: RecordRow; readonly form: ByteForm }) {
  const { value: layout } = useLoaded(() => client.worker.layout(row.number), [client, row.number]);
  return (
    <section class="entry-details" aria-label={`Record ${row.number + 1}`}>
      <h3>
        Record {count(row.number + 1)}, {counted(row.byteLength, 'byte')} in {counted(row.fragments, 'fragment')}
      </h3>
      {row.changes.length > 0 && (
        <ul aria-label="Changes">
          {row.changes.map((change) => (
            <li key={change}>{change}</li>
          ))}
        </ul>
      )}
      {row.operations.length > 0 && (
        <div class="scrolls">
          <Rows label="Writes of the batch" headings={['Sequence', 'Kind', 'Key', 'Value']}>
            {row.operations.slice(0, SHOWN_RANGES).map(({ kind, sequence, key, value }) => (
              <tr key={sequence}>
                <td>{count(BigInt(sequence))}</td>
                <td>{kind}</td>
                <td>
                  <BytesText bytes={key.bytes} byteLength={key.byteLength} form={form} />
                </td>
                <td>{value === undefined ? '–' : <BytesText bytes={value.bytes} byteLength={value.byteLength} form={form} isValue />}</td>
              </tr>
            ))}
          </Rows>
        </div>
      )}
      {layout !== undefined && (
        <details>
          <summary>What each byte is</summary>
          <div class="scrolls">
            <Rows label="Bytes of the record" headings={['Offset', 'Bytes', 'Field', 'Value']}>
              {layout.slice(0, SHOWN_RANGES).map(({ offset, byteLength, label, value }) => (
                <tr key={offset}>
                  <td>{count(offset)}</td>
                  <td>{count(byteLength)}</td>
                  <td>{label}</td>
                  <td>{value ?? '–'}</td>
                </tr>
              ))}
            </Rows>
          </div>
          {layout.length > SHOWN_RANGES && <p class="muted small">and {count(layout.length - SHOWN_RANGES)} more</p>}
        </details>
      )}
    </section>
  );
}
