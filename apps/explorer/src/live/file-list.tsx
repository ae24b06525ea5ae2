import { byteSize } from '../controls/sizes.js';
import type { FileState } from './live-facts.js';

/** The files of the folder, and the part of each that would survive a power failure. */
export function FileList({ files }: { readonly files: readonly FileState[] }) {
  return (
    <div class="live-files">
      <h3>The folder</h3>
      <ul aria-label="Files">
        {files.map((file) => (
          <li key={file.name} class={isSafe(file) ? '' : 'is-at-risk'} data-file={file.name}>
            <strong>{file.name}</strong> <span>{byteSize(file.byteLength)}</span> <span class="live-risk">{riskOf(file)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function isSafe({ byteLength, syncedBytes, isNamed }: FileState): boolean {
  return isNamed && syncedBytes === byteLength;
}

function riskOf({ byteLength, syncedBytes, isNamed }: FileState): string {
  if (!isNamed) return 'name not synced';
  if (syncedBytes === byteLength) return 'synced';
  return syncedBytes === 0 ? 'not synced' : `${byteSize(syncedBytes)} synced`;
}
