import type { Finding } from '@bloom/sstable/inspect';
import { count, counted, hexNumber } from '@bloom/report';
import { useId, useState } from 'preact/hooks';
import { BytesText } from '../bytes/bytes-text.js';
import { hexOf, type ByteForm, typedBytes, TYPING_HELP, typingOptions, usualTyping } from '../bytes/byte-forms.js';
import { Fact, Segmented } from '../controls/controls.js';
import { Rows } from '../controls/rows.js';
import { byteSize, percent } from '../controls/sizes.js';
import { WindowedRows } from '../controls/windowed-rows.js';
import { StoredFilterPicture } from '../filter/stored-filter.js';
import { useLoaded } from '../worker/use-loaded.js';
import { FailureNotice } from './failure-notice.js';
import type { FileParts } from './file-map.js';
import { FindingText } from './findings.js';
import { HexView } from './hex-view.js';
import type { TableClient } from './table-client.js';
import type { BlockFacts, EntryRow, FilterRow } from './table-facts.js';

interface PartProps {
  readonly client: TableClient;
  readonly fileParts: FileParts;
  readonly part: number;
  readonly form: ByteForm;
  readonly findings: readonly Finding[];
  readonly onGoTo: (offset: number) => void;
}

/** The details of the selected part of the file. */
export function PartDetails(props: PartProps) {
  const { client, fileParts, part, findings } = props;
  const start = fileParts.starts[part]!;
  const end = fileParts.starts[part + 1]!;
  const here = findings.filter(({ offset }) => offset >= start && offset < end);
  const block = fileParts.blocks[part]!;
  return (
    <>
      {here.slice(0, 5).map((finding, i) => (
        <div key={i} class="notice is-bad">
          <FindingText finding={finding} />
        </div>
      ))}
      {block >= 0 ? (
        <BlockDetails {...props} block={block} />
      ) : fileParts.parts[part] === 5 ? (
        <FooterDetails {...props} />
      ) : (
        <HexView client={client} offset={start} length={end - start} title="No handle in the table points to these bytes." />
      )}
    </>
  );
}

function BlockDetails(props: PartProps & { readonly block: number }) {
  const { client, block } = props;
  const { value: facts, failure } = useLoaded(() => client.worker.block(block), [client, block]);
  if (failure !== undefined) return <FailureNotice failure={failure} title="The block could not be read." />;
  if (facts === undefined) return <p class="muted" role="status">Reading…</p>;
  const isFilter = facts.kind === 'filter block';
  const hasEntries = !isFilter && facts.kind !== 'meta block';
  return (
    <>
      <dl class="facts">
        <Fact name="Stored">{byteSize(facts.size)} <small>and a 5-byte trailer</small></Fact>
        {facts.contentBytes !== undefined && facts.contentBytes !== facts.size && <Fact name="Uncompressed">{byteSize(facts.contentBytes)}</Fact>}
        <Fact name="Compression">{facts.codecName ?? 'unknown'} <small>type {facts.compressionType}</small></Fact>
        <Fact name="Checksum">{facts.problem?.code === 'BLOOM_BAD_CHECKSUM' ? <span class="is-bad-text">wrong</span> : 'right'}</Fact>
        {hasEntries && <Fact name="Entries">{count(facts.entryCount)}</Fact>}
        {hasEntries && <Fact name="Restarts">{count(facts.restartCount)}</Fact>}
      </dl>
      {facts.problem !== undefined && facts.contentBytes !== undefined && (
        <p class="notice is-warn">The contents are shown as they are. They differ from what was written, so do not trust them.</p>
      )}
      {facts.entryProblem !== undefined && (
        <div class="notice is-bad">
          <FindingText finding={facts.entryProblem} />
        </div>
      )}
      {facts.contentBytes === undefined ? (
        <HexView client={client} offset={facts.offset} length={facts.size + 5} title="The stored bytes, as they are:" />
      ) : isFilter ? (
        <FilterDetails {...props} />
      ) : hasEntries ? (
        <EntryList {...props} facts={facts} />
      ) : (
        <HexView client={client} offset={facts.offset} length={facts.size + 5} title="A block that LevelDB does not know:" />
      )}
    </>
  );
}

function EntryList({ client, block, facts, form, onGoTo }: PartProps & { readonly block: number; readonly facts: BlockFacts }) {
  const [selected, setSelected] = useState<number>();
  const { value: [entry] = [] } = useLoaded(() => (selected === undefined ? undefined : client.worker.entries(block, selected, selected + 1, true)), [selected]);
  const isData = facts.kind === 'data block';
  const isDatabase = client.facts.isDatabase && facts.kind !== 'metaindex block';
  if (facts.entryCount === 0) return <p class="muted">No entries.</p>;
  const headings = ['#', 'Restart', isDatabase ? 'User key' : 'Key', ...(isDatabase ? ['Sequence', 'Kind'] : []), isData ? 'Value' : 'Points to'];
  return (
    <>
      <WindowedRows<EntryRow>
        label={`Entries of the ${facts.kind}`}
        rowCount={facts.entryCount}
        columns={`3.5rem 4.5rem minmax(9rem, 1fr) ${isDatabase ? '5.5rem 5rem ' : ''}minmax(14rem, 1.2fr)`}
        minWidth={isDatabase ? '44rem' : '31rem'}
        stackedColumns={`2rem 3.4rem minmax(0, 1fr)${isDatabase ? ' 2.8rem 2.6rem' : ''}`}
        headings={headings}
        loadKey={`${block} ${form}`}
        load={(start, end) => client.worker.entries(block, start, end, false)}
        selected={selected}
        onSelect={setSelected}
        row={(row) => [
          count(row.number + 1),
          row.restart === undefined ? <span class="muted">·</span> : <span title={`Restart ${row.restart}: a search can start here`}>▸ {count(row.restart)}</span>,
          <KeyText key="key" row={row} form={form} />,
          ...(isDatabase ? [row.sequence ?? '–', kindText(row.type)] : []),
          row.handle === undefined ? (
            isData ? (
              <BytesText key="value" bytes={row.value.bytes} byteLength={row.value.byteLength} form={form} isValue />
            ) : (
              'no handle'
            )
          ) : (
            <button key="value" type="button" class="is-link" onClick={() => onGoTo(row.handle!.offset)}>
              {counted(row.handle.size, 'byte')} at {count(row.handle.offset)}
            </button>
          ),
        ]}
      />
      <p class="muted small">
        <span class="bytes-shared">Underlined</span> bytes are shared with the previous key and not stored again. ▸ marks a restart point, which stores its whole key, so a search can start there.
      </p>
      {entry !== undefined && entry.number === selected && <EntryDetails entry={entry} form={form} />}
    </>
  );
}

/** A key. Its shared part is marked if the form shows bytes in their order. */
function KeyText({ row, form }: { readonly row: EntryRow; readonly form: ByteForm }) {
  const { shared, key } = row;
  const cut = Math.min(shared, key.bytes.length);
  if ((form !== 'text' && form !== 'hex') || cut === 0 || key.byteLength === 0) return <BytesText bytes={key.bytes} byteLength={key.byteLength} form={form} />;
  // Does not split a character.
  let at = cut;
  if (form === 'text') while (at > 0 && (key.bytes[at]! & 0xc0) === 0x80) at--;
  return (
    <span class="key-parts" title={`${counted(shared, 'byte')} shared, ${counted(row.keyByteLength - shared, 'byte')} stored`}>
      {at > 0 && (
        <span class="bytes-shared">
          <BytesText bytes={key.bytes.subarray(0, at)} form={form} />
        </span>
      )}
      {at < key.bytes.length && (
        <span class="bytes-own">
          {form === 'hex' && at > 0 && '\u00a0'}
          <BytesText bytes={key.bytes.subarray(at)} byteLength={key.byteLength - at} form={form} />
        </span>
      )}
    </span>
  );
}

function kindText(type: number | undefined): string {
  return type === 0 ? 'deletion' : type === 1 ? 'value' : type === undefined ? '–' : `type ${type}`;
}

function EntryDetails({ entry, form }: { readonly entry: EntryRow; readonly form: ByteForm }) {
  const { key, value, shared, keyByteLength, offset, restart } = entry;
  return (
    <section class="entry-details" aria-label={`Entry ${entry.number + 1}`}>
      <h3>Entry {count(entry.number + 1)}</h3>
      <dl class="facts">
        <Fact name="Starts at">{count(offset)} <small>in the uncompressed block</small></Fact>
        <Fact name="Shared">{counted(shared, 'byte')} <small>{restart === undefined ? '' : `restart ${restart}`}</small></Fact>
        <Fact name="Key bytes stored">{counted(keyByteLength - shared, 'byte')}</Fact>
        <Fact name="Value">{counted(value.byteLength, 'byte')}</Fact>
        {entry.sequence !== undefined && <Fact name="Sequence">{count(BigInt(entry.sequence))} <small>{kindText(entry.type)}</small></Fact>}
      </dl>
      <h4>Key</h4>
      <div class="entry-bytes" tabIndex={0} role="region" aria-label="Key">
        <BytesText bytes={key.bytes} byteLength={key.byteLength} form={form} />
      </div>
      <h4>Value</h4>
      <div class="entry-bytes" tabIndex={0} role="region" aria-label="Value">
        <BytesText bytes={value.bytes} byteLength={value.byteLength} form={form} isValue />
      </div>
    </section>
  );
}

function FilterDetails({ client, block, form, onGoTo }: PartProps & { readonly block: number }) {
  const { value: facts } = useLoaded(() => client.worker.filterBlock(block), [client, block]);
  const [selected, setSelected] = useState<number>();
  if (facts === undefined) return <p class="muted" role="status">Reading…</p>;
  return (
    <>
      <p>
        One filter for every {byteSize(facts.base)} of the file: {counted(facts.filterCount, 'filter')}, of which{' '}
        <strong data-fact="empty-filters">{count(facts.emptyCount)}</strong> empty, because no block starts in their part of the file
        {facts.damagedCount > 0 && `, and ${count(facts.damagedCount)} damaged`}.
      </p>
      {facts.filterCount > 0 && (
        <WindowedRows<FilterRow>
          label="Filters"
          rowCount={facts.filterCount}
          columns="4rem minmax(7rem, 1fr) 4rem 5rem 5rem 4rem 7rem"
          minWidth="42rem"
          headings={['Filter', 'For blocks from', 'Blocks', 'Offset', 'Bytes', 'Probes', 'Bits that are 1']}
          loadKey={`filters ${block}`}
          load={(start, end) => client.worker.filters(block, start, end)}
          selected={selected}
          onSelect={setSelected}
          rowClass={({ state }) => (state === 'damaged' ? 'is-damaged' : state === 'empty' ? 'is-empty-filter' : '')}
          row={(row) => [
            count(row.number),
            <button key="range" type="button" class="is-link" onClick={() => onGoTo(row.from)}>
              {count(row.from)}
            </button>,
            count(row.blocks),
            row.state === 'damaged' ? '–' : count(row.offset),
            row.state === 'filter' ? count(row.byteLength) : <span class="chip">{row.state}</span>,
            row.probes ?? '–',
            row.setBits === undefined ? '–' : percent(row.setBits / ((row.byteLength - 1) * 8)),
          ]}
        />
      )}
      {facts.filterCount > 0 && facts.policyName !== undefined && (selected === undefined ? <p class="muted small">Choose a filter to see its bits and to ask it about a key.</p> : <FilterQuestion key={selected} client={client} number={selected} form={form} />)}
    </>
  );
}

/** The bits of one filter, and those of a typed key. */
function FilterQuestion({ client, number, form }: { readonly client: TableClient; readonly number: number; readonly form: ByteForm }) {
  const id = useId();
  const [typed, setTyped] = useState('');
  const [typing, setTyping] = useState(usualTyping(client.facts));
  const asked = typed === '' ? undefined : typedBytes(typed, typing);
  return (
    <section class="entry-details" aria-label={`Filter ${number}`}>
      <h3>Filter {count(number)}</h3>
      <div class="filter-question">
        <div class="field">
          <label for={id}>Ask it about a key</label>
          <input id={id} type="search" class="mono" value={typed} spellcheck={false} autocapitalize="off" autocomplete="off" placeholder="any key" onInput={({ currentTarget }) => setTyped(currentTarget.value)} />
        </div>
        <Segmented legend="Typed as" name={`filter-typing-${number}`} value={typing} options={typingOptions(client.facts)} onChange={setTyping} />
      </div>
      {typed !== '' && asked === undefined && <p class="notice is-warn">{TYPING_HELP[typing]}</p>}
      <StoredFilterPicture number={number} load={(wanted) => client.worker.storedFilter(wanted)} asked={asked} form={form} />
    </section>
  );
}

function FooterDetails({ client }: PartProps) {
  const { footerBytes, footerLayout, byteLength } = client.facts;
  const footerStart = byteLength - footerBytes.length;
  const fieldOf = (at: number): number => footerLayout.findIndex(({ offset, byteLength: length }) => footerStart + at >= offset && footerStart + at < offset + length);
  return (
    <>
      <p>The last 48 bytes, where reading starts. They contain the handles of the metaindex and the index, and the magic number of tables.</p>
      <code class="footer-bytes" aria-label="Bytes of the footer">
        {Array.from(footerBytes, (byte, at) => (
          <span key={at} class={`footer-byte is-field-${fieldOf(at)}`} title={footerLayout[fieldOf(at)]?.label}>
            {hexNumber(byte)}
          </span>
        ))}
      </code>
      <Rows headings={['Bytes', 'Field', 'Value']}>
        {footerLayout.map(({ offset, byteLength: length, label, value }, i) => (
          <tr key={offset}>
            <td>
              <span class={`footer-byte is-field-${i}`}>{offset - footerStart}–{offset - footerStart + length - 1}</span>
            </td>
            <td>{label}</td>
            <td>{value ?? (label === 'magic number' ? hexOf(footerBytes.subarray(offset - footerStart)) : '–')}</td>
          </tr>
        ))}
      </Rows>
    </>
  );
}
