/** Keys that do not fit into a URL. They are only kept in the browser's tab, where they survive a reload. */
import { bloomHash } from '@bloom/hash';
import { hexNumber } from '@bloom/report';

const STORED_AS = 'bloom-explorer-keys ';
const encoder = new TextEncoder();

/** The name of such keys in the URL: their number and a hash. */
export function nameOfKeys(keys: readonly string[]): string {
  return `${keys.length}-${hexNumber(bloomHash(encoder.encode(keys.join('\n'))), 8)}`;
}

export function keepKeys(keys: readonly string[]): void {
  try {
    sessionStorage.setItem(STORED_AS + nameOfKeys(keys), keys.join('\n'));
  } catch {
    // The storage is blocked or full. The page reports this after a reload.
  }
}

/** The keys with a name; undefined if this tab does not have them. */
export function keptKeys(name: string): string[] | undefined {
  try {
    return sessionStorage.getItem(STORED_AS + name)?.split('\n');
  } catch {
    return undefined;
  }
}
