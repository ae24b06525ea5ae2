import { type FailureFacts, placeText } from '../worker/failure.js';
import { remedyOf } from './remedy.js';

/** An error, its place, and what to do about it. */
export function FailureNotice({ failure, title }: { readonly failure: FailureFacts; readonly title: string }) {
  const { code, message } = failure;
  const remedy = code === undefined ? undefined : (remedyOf(code) ?? SOURCE_REMEDIES[code]);
  return (
    <div class="notice is-bad" role="alert">
      <p>
        <strong>{title}</strong>
      </p>
      <p>
        {placeText(failure)}
        {message}
      </p>
      {remedy !== undefined && <p class="small">{remedy}</p>}
      {code !== undefined && (
        <p class="small">
          <code>{code}</code>
        </p>
      )}
    </div>
  );
}

/** What to do if a source cannot be read. */
const SOURCE_REMEDIES: Readonly<Record<string, string>> = {
  BLOOM_FOLDER_CHANGED: 'A running program has changed the folder. Read it or drop it again.',
  BLOOM_HTTP_FAILED: 'The server cannot be reached, or does not allow other pages to read from it (CORS). Download the file and drop it here instead.',
  BLOOM_HTTP_STATUS: 'Check the address. A server that wants you to sign in cannot be read from here.',
  BLOOM_HTTP_PAGE: 'Check the address. Some servers answer with a page if they do not have a file, or if you have to sign in.',
  BLOOM_HTTP_NO_RANGES: 'The server cannot send parts of a file. Download it and drop it here instead.',
};
