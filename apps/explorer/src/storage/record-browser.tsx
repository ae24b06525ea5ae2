import { count, counted } from '@bloom/report';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { WindowedRows } from '../controls/windowed-rows.js';
import { useSession, useSessionState } from '../session/use-session.js';
import { FailureNotice } from '../table/failure-notice.js';
import { ExportButton } from './export-button.js';
import { RecordDetails } from './record-details.js';
import type { StorageClient } from './storage-client.js';
import type { OutlineNode, Outlines, RowFacts } from './storage-facts.js';
import { isSamePlace, type StoragePlace, type StorageSearch } from './storage-place.js';
import { useRowList } from './use-row-list.js';
import { STATE_TITLES } from './version-state.js';

/** The rows of a place, with search, export, and the details of one row. */
export function RecordBrowser({ client, outlines }: { readonly client: StorageClient; readonly outlines: Outlines }) {
  const id = useId();
  const session = useSession();
  const search = useSessionState((state) => state.stored);
  const list = useRowList(client, search);
  const [selected, setSelected] = useState<number>();
  const details = useRef<HTMLDivElement>(null);
  const change = (part: Partial<StorageSearch>): void => session.change({ stored: { ...session.state.stored, ...part } });
  useEffect(() => setSelected(undefined), [list.list]);
  const { rowCount, examined, state } = list.facts;
  const { title, path } = headingOf(client, outlines, search);
  const hasPlaces = search.store === undefined && search.items === undefined;
  const columns = ['minmax(8rem, 0.6fr)', ...(hasPlaces ? ['minmax(14rem, 0.7fr)'] : []), ...(search.hasVersions ? ['7.5rem'] : []), 'minmax(14rem, 1.6fr)'];
  const stacked = ['minmax(0, 1fr)', ...(hasPlaces ? ['minmax(0, 1fr)'] : []), ...(search.hasVersions ? ['auto'] : [])];
  const open = (number: number): void => {
    setSelected(number);
    requestAnimationFrame(() => details.current?.scrollIntoView({ block: 'nearest' }));
  };
  return (
    <section class="card storage-records" aria-labelledby={`${id}-title`}>
      <div class="card-head">
        <div>
          {path !== '' && <p class="muted small">{path}</p>}
          <h2 id={`${id}-title`}>{title}</h2>
        </div>
        <ExportButton client={client} search={search} name={title} />
      </div>
      <div class="entry-search">
        <div class="field grow">
          <label for={`${id}-find`}>Find in keys and values</label>
          <input id={`${id}-find`} type="search" value={search.find} spellcheck={false} autocapitalize="off" placeholder="any text" onInput={({ currentTarget }) => change({ find: currentTarget.value })} />
        </div>
        <label class="row check-row">
          <input type="checkbox" checked={search.hasVersions} onChange={({ currentTarget }) => change({ hasVersions: currentTarget.checked })} />
          Include deleted and overwritten rows
        </label>
      </div>
      {list.failure !== undefined && <FailureNotice failure={list.failure} title="Not everything could be read." />}
      {rowCount > 0 && list.list !== undefined && (
        <WindowedRows<RowFacts>
          label={`Rows of ${title}`}
          rowCount={rowCount}
          columns={columns.join(' ')}
          minWidth={hasPlaces ? '46rem' : '34rem'}
          stackedColumns={stacked.join(' ')}
          headings={['Key', ...(hasPlaces ? ['In'] : []), ...(search.hasVersions ? ['Version'] : []), 'Value']}
          height={420}
          loadKey={String(list.list)}
          load={(start, end) => {
            list.see(end);
            return client.worker.rows(list.list!, start, end);
          }}
          selected={selected}
          onSelect={open}
          rowClass={({ error, state: version }) => (error !== undefined ? 'is-damaged' : version === undefined || version === 'current' ? '' : 'is-past')}
          row={(facts) => [
            <span key="key" class="mono">{facts.key}</span>,
            ...(hasPlaces ? [<span key="in" title={facts.where}>{facts.where}</span>] : []),
            ...(search.hasVersions ? [<span key="version">{facts.state === undefined ? '' : STATE_TITLES[facts.state]}</span>] : []),
            facts.error === undefined ? <span key="value" class="mono">{facts.value}</span> : <span key="error" class="row-error">{facts.error}</span>,
          ]}
        />
      )}
      <div class="row storage-status">
        <span class="muted small" role="status" data-fact="rows">
          {list.progress !== undefined
            ? `${counted(rowCount, 'row')}, ${count(list.progress)} read…`
            : `${state === 'end' || rowCount === 0 ? '' : 'the first '}${counted(rowCount, 'row')}${search.find === '' ? '' : ` of ${count(examined)} read`}${state === 'more' && !list.isStopped && rowCount > 0 ? ', more as you scroll' : ''}`}
        </span>
        {list.progress !== undefined && (
          <button type="button" class="small" onClick={list.stop}>
            Stop
          </button>
        )}
        {list.isStopped && (
          <button type="button" class="small" onClick={list.goOn}>
            Continue
          </button>
        )}
        {state === 'full' && <span class="small">The list cannot show more rows. Search for the ones that you need, or export all.</span>}
      </div>
      {selected !== undefined && list.list !== undefined && (
        <div ref={details}>
          <RecordDetails client={client} list={list.list} row={selected} />
        </div>
      )}
    </section>
  );
}

/** The title of the current place, and the places that contain it. */
function headingOf({ folders, origin }: StorageClient, outlines: Outlines, place: StoragePlace): { readonly title: string; readonly path: string } {
  const folder = folders.find(({ path }) => path === place.folder);
  if (folder === undefined) return { title: 'Everything', path: '' };
  const outline = outlines.get(folder.path);
  const title = folder.title || origin.name;
  const nodes = outline !== undefined && !('message' in outline) ? chainTo(outline, place) : undefined;
  if (nodes === undefined) return { title, path: '' };
  return { title: nodes.at(-1)!.title, path: [title, ...nodes.slice(0, -1).map((node) => node.title)].join(' › ') };
}

/** The nodes from the root to a place. */
function chainTo(nodes: readonly OutlineNode[], place: StoragePlace): readonly OutlineNode[] | undefined {
  for (const node of nodes) {
    if (node.place !== undefined && isSamePlace(node.place, place)) return [node];
    const inner = chainTo(node.children, place);
    if (inner !== undefined) return [node, ...inner];
  }
  return undefined;
}
