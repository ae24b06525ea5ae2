import { useEffect, useState } from 'preact/hooks';
import { saveAs } from '../controls/save-as.js';
import { FailureNotice } from '../table/failure-notice.js';
import { type FailureFacts, failureFacts } from '../worker/failure.js';
import type { StorageClient } from './storage-client.js';
import type { NodeFacts } from './storage-facts.js';

/** Larger files have no preview. */
const MAX_PREVIEW_BYTES = 16 * 2 ** 20;
/** The number of characters of a text that are shown. */
const MAX_PREVIEW_LENGTH = 20_000;

/** Bytes of a value, with a preview of pictures and texts, and a button to save them. */
export function StoredFile({ client, node, file }: { readonly client: StorageClient; readonly node: NodeFacts; readonly file: NonNullable<NodeFacts['file']> }) {
  const [preview, setPreview] = useState<{ readonly picture?: string; readonly text?: string }>();
  const [failure, setFailure] = useState<FailureFacts>();
  useEffect(
    () => () => {
      if (preview?.picture !== undefined) URL.revokeObjectURL(preview.picture);
    },
    [preview],
  );
  const { name, type, size = 0 } = file;
  const kind = kindOf(type);
  const get = (take: (blob: Blob) => void | Promise<void>): void => {
    setFailure(undefined);
    client.worker
      .file(node.id)
      .then(take)
      .catch((error: unknown) => setFailure(failureFacts(error)));
  };
  const show = async (blob: Blob): Promise<void> => {
    if (kind === 'picture') setPreview({ picture: URL.createObjectURL(blob) });
    else setPreview({ text: (await blob.slice(0, MAX_PREVIEW_LENGTH).text()) + (blob.size > MAX_PREVIEW_LENGTH ? '…' : '') });
  };
  return (
    <div class="stored-file">
      <div class="row">
        {kind !== undefined && size <= MAX_PREVIEW_BYTES && preview === undefined && (
          <button type="button" class="small" onClick={() => get(show)}>
            Show
          </button>
        )}
        <button type="button" class="small" aria-label={`Save ${name}`} onClick={() => get((blob) => saveAs(blob, name))}>
          Save
        </button>
      </div>
      {failure !== undefined && <FailureNotice failure={failure} title="The file could not be read." />}
      {preview?.picture !== undefined && <img src={preview.picture} alt={name} />}
      {preview?.text !== undefined && (
        <pre tabIndex={0} role="region" aria-label={`Contents of ${name}`}>
          {preview.text}
        </pre>
      )}
    </div>
  );
}

function kindOf(type: string): 'picture' | 'text' | undefined {
  if (/^image\/(?:png|jpeg|gif|webp|avif|bmp|svg\+xml)$/u.test(type)) return 'picture';
  return type.startsWith('text/') || /^application\/(?:json|xml|javascript)\b/u.test(type) ? 'text' : undefined;
}
