import { useState } from 'preact/hooks';
import { count } from '@bloom/report';
import { Segmented } from '../controls/controls.js';
import { FailureNotice } from '../table/failure-notice.js';
import { useLoaded } from '../worker/use-loaded.js';
import type { StorageClient } from './storage-client.js';
import { STATE_TITLES } from './version-state.js';
import { TreeNode, ValueTreeView } from './value-tree-view.js';

/** The details of a row. */
export function RecordDetails({ client, list, row }: { readonly client: StorageClient; readonly list: number; readonly row: number }) {
  const { value: details, failure } = useLoaded((signal) => client.calling({ signal }).details(list, row), [client, list, row]);
  const [form, setForm] = useState<'json' | 'text'>('json');
  return (
    <section class="entry-details" aria-label="The selected row">
      {failure !== undefined && <FailureNotice failure={failure} title="The row could not be read again." />}
      {details === undefined && failure === undefined && <p class="muted" role="status">Reading…</p>}
      {details !== undefined && (
        <>
          {details.version !== undefined && (
            <p class="small">
              <span class="chip">{STATE_TITLES[details.version.state]}</span> sequence {count(BigInt(details.version.sequence))}, in {details.version.file}
            </p>
          )}
          {details.failure !== undefined && <FailureNotice failure={details.failure} title="This row cannot be read." />}
          {details.key.type !== 'undefined' && (
            <div>
              <h3>Key</h3>
              <ul class="value-tree">
                <TreeNode client={client} node={details.key} startsOpen />
              </ul>
            </div>
          )}
          {details.primaryKey !== undefined && (
            <div>
              <h3>Primary key</h3>
              <ul class="value-tree">
                <TreeNode client={client} node={details.primaryKey} startsOpen />
              </ul>
            </div>
          )}
          {details.value !== undefined && (
            <div>
              <div class="card-head">
                <h3>Value</h3>
                {details.json !== undefined && (
                  <Segmented
                    legend="Show the text as"
                    hideLegend
                    name="text-form"
                    value={form}
                    options={[
                      ['json', 'JSON'],
                      ['text', 'Text'],
                    ]}
                    onChange={setForm}
                  />
                )}
              </div>
              {!details.isComplete && <p class="notice is-warn">The value contains an object of an unknown kind. Everything after it could not be read.</p>}
              <ValueTreeView client={client} root={details.json !== undefined && form === 'json' ? details.json : details.value} />
            </div>
          )}
        </>
      )}
    </section>
  );
}
