import { useLit } from './highlight.js';

/** The approximate seek time and rotational delay of a hard disk in milliseconds. */
export const READ_MS = 10;

export type DiskOutcome = 'waiting' | 'no' | 'found' | 'wasted';

const WORDS: Record<DiskOutcome, { readonly filter: string; readonly disk: string; readonly cost: string; readonly note: string }> = {
  waiting: { filter: '?', disk: '?', cost: '?', note: '' },
  no: { filter: '“No.”', disk: 'not read', cost: '0 ms', note: 'no read needed' },
  found: { filter: '“Maybe.”', disk: 'read: found', cost: `${READ_MS} ms`, note: 'well spent' },
  wasted: { filter: '“Maybe.”', disk: 'read: nothing there', cost: `${READ_MS} ms`, note: 'wasted' },
};

/** The consequence of a filter's answer for the disk, and the time it takes. */
export function DiskPath({ outcome }: { readonly outcome: DiskOutcome }) {
  const lit = useLit();
  const { filter, disk, cost, note } = WORDS[outcome];
  return (
    <div class={`disk-path is-${outcome}`} data-outcome={outcome}>
      <div class="path-part">
        <span class="path-name">The filter, in memory, says</span>
        <strong>{filter}</strong>
      </div>
      <span class="path-arrow" aria-hidden="true">
        {outcome === 'no' ? '✕' : '→'}
      </span>
      <div class={`path-part is-disk ${lit.has('disk') ? 'is-lit' : ''}`}>
        <DiskIcon />
        <span class="path-name">The disk is</span>
        <strong>{disk}</strong>
      </div>
      <span class="path-arrow" aria-hidden="true">
        so
      </span>
      <div class={`path-part is-cost ${lit.has('cost') ? 'is-lit' : ''}`}>
        <span class="path-name">It takes</span>
        <strong>{cost}</strong>
        <span class="path-note">{note}</span>
      </div>
    </div>
  );
}

export function DiskIcon() {
  return (
    <svg class="disk-icon" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="16" cy="16" r="13" />
      <circle cx="16" cy="16" r="4" />
      <path d="M29 4 L19 14" />
    </svg>
  );
}
