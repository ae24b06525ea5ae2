import { entryJson } from '@bloom/web-storage';
import type { Work } from '../worker/calls.js';
import { breather } from '../worker/serve-calls.js';
import { failureFacts } from '../worker/failure.js';
import { matches } from './row-list.js';
import type { EntrySource, StoredEntry } from './stored-entry.js';

/** The length of text that is collected before it becomes a Blob, which browsers may keep on disk. */
const PART_LENGTH = 2 ** 20;

/** All matching entries, one per line. @throws the signal's reason when it is cancelled. */
export async function jsonLines(sources: AsyncGenerator<EntrySource, void, undefined>, find: string, work: Work): Promise<Blob> {
  const parts: Blob[] = [];
  const lowerCase = find.toLowerCase();
  const breathe = breather();
  let text = '';
  let examined = 0;
  for await (const source of sources) {
    for await (const entry of source.walk(work.signal)) {
      work.signal.throwIfAborted();
      examined++;
      if (find === '' || matches(entry, lowerCase)) text += `${lineOf(entry)}\n`;
      if (text.length >= PART_LENGTH) {
        parts.push(new Blob([text]));
        text = '';
      }
      work.progress(examined, 0);
      await breathe();
    }
  }
  return new Blob([...parts, text], { type: 'application/x-ndjson' });
}

/** A record or an item with its place, in one line, as `bloom export` writes it; for a version also its state. */
function lineOf({ error, where, version, ...entry }: StoredEntry): string {
  const place = { ...where.names, ...(version !== undefined && { state: version.state }) };
  const type = version?.state === 'deletion' ? 'deletion' : 'value';
  return entryJson({ ...entry, place, version: version && { ...version, type }, error: error && failureFacts(error) });
}
