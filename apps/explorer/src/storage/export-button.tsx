import { count } from '@bloom/report';
import { useEffect, useRef, useState } from 'preact/hooks';
import { saveAs } from '../controls/save-as.js';
import { FailureNotice } from '../table/failure-notice.js';
import { CallError, type FailureFacts, failureFacts } from '../worker/failure.js';
import type { StorageClient } from './storage-client.js';
import type { StorageSearch } from './storage-place.js';

/** Saves all rows of the current search as JSON Lines. */
export function ExportButton({ client, search, name }: { readonly client: StorageClient; readonly search: StorageSearch; readonly name: string }) {
  const [written, setWritten] = useState<number>();
  const [failure, setFailure] = useState<FailureFacts>();
  const controller = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => controller.current?.abort(), [client, search]);
  const save = (): void => {
    const mine = (controller.current = new AbortController());
    setFailure(undefined);
    setWritten(0);
    client.calling({ signal: mine.signal, onProgress: (done) => controller.current === mine && setWritten(done) }).lines(search).then(
      (blob) => {
        setWritten(undefined);
        saveAs(blob, `${name.replace(/[^\p{L}\p{N}.-]+/gu, '-').slice(0, 80)}.jsonl`);
      },
      (error: unknown) => {
        setWritten(undefined);
        if (!(error instanceof CallError && error.isCancelled)) setFailure(failureFacts(error));
      },
    );
  };
  return (
    <div class="row">
      {written === undefined ? (
        <button type="button" onClick={save}>
          Export as JSON Lines
        </button>
      ) : (
        <>
          <span role="status" class="small muted">
            {count(written)} read…
          </span>
          <button type="button" onClick={() => controller.current?.abort()}>
            Cancel
          </button>
        </>
      )}
      {failure !== undefined && <FailureNotice failure={failure} title="The export failed, and nothing was saved." />}
    </div>
  );
}
