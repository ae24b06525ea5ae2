/** Keys that do not fit into a URL. They are kept in the browser's tab, so that they survive a reload, and nowhere else. */
import { bloomHash } from '@bloom/hash';
import { hexNumber } from '@bloom/report';

const STORED_AS = 'bloom-explorer-keys ';
const encoder = new TextEncoder();

/** What the URL says of such keys: how many, and a hash of them. */
export function nameOfKeys(keys: readonly string[]): string {
  return `${keys.length}-${hexNumber(bloomHash(encoder.encode(keys.join('\n'))), 8)}`;
}

export function keepKeys(keys: readonly string[]): void {
  try {
    sessionStorage.setItem(STORED_AS + nameOfKeys(keys), keys.join('\n'));
  } catch {
    // Storage that is blocked or full: the page says so after a reload.
  }
}

/** The keys of that name; undefined where this tab has not kept them. */
export function keptKeys(name: string): string[] | undefined {
  try {
    return sessionStorage.getItem(STORED_AS + name)?.split('\n');
  } catch {
    return undefined;
  }
}
