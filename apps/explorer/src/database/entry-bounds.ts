import { indexedDbKey } from '@bloom/web-storage';
import { typedBytes, type Typing } from '../bytes/byte-forms.js';
import { typedIndexedDbRange } from '../bytes/indexeddb-key-text.js';
import type { EntryRange } from './database-facts.js';
import type { EntrySearch } from './entry-search.js';

/** The range of keys that a search is for; undefined if its text does not have the form of the keys. */
export function boundsOf({ by, prefix, from, to }: Pick<EntrySearch, 'by' | 'prefix' | 'from' | 'to'>, typing: Typing, isIndexedDb: boolean): EntryRange | undefined {
  const rangeOf = isIndexedDb ? indexedDbRange : prefixRange;
  if (by === 'prefix') return rangeOf(prefix, typing);
  const boundOf = isIndexedDb ? indexedDbRange : wholeKey;
  const first = boundOf(from, typing);
  const last = boundOf(to, typing);
  return first && last && { gte: first.gte, lt: last.lt, lte: last.lte };
}

/** All keys that begin with the typed bytes. */
function prefixRange(text: string, typing: Typing): EntryRange | undefined {
  const bytes = typedBytes(text, typing);
  return bytes && { gte: bytes, lt: afterPrefix(bytes) };
}

function wholeKey(text: string, typing: Typing): EntryRange | undefined {
  const bytes = typedBytes(text, typing);
  return bytes && { gte: bytes, lte: bytes.length > 0 ? bytes : undefined };
}

/** The keys of a database, store or index, or a whole key: in the order of IndexedDB, keys that begin with the same bytes are no range. */
function indexedDbRange(text: string, typing: Typing): EntryRange | undefined {
  if (text === '') return {};
  if (typing === 'indexeddb') return typedIndexedDbRange(text);
  const range = wholeKey(text, typing);
  return range?.gte !== undefined && indexedDbKey(range.gte) !== undefined ? range : undefined;
}

/** The first key after all keys that begin with `prefix`; undefined if there is none. */
function afterPrefix(prefix: Uint8Array): Uint8Array | undefined {
  let length = prefix.length;
  while (length > 0 && prefix[length - 1] === 0xff) length--;
  if (length === 0) return undefined;
  const next = prefix.slice(0, length);
  next[length - 1]!++;
  return next;
}
