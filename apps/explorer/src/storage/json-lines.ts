import { jsonText, taggedJson } from '@bloom/web-storage';
import type { Work } from '../worker/calls.js';
import { breather } from '../worker/serve-calls.js';
import { failureFacts } from '../worker/failure.js';
import { matches } from './row-list.js';
import type { EntrySource, StoredEntry } from './stored-entry.js';

/** Text that is joined before it becomes a Blob, which browsers keep on the disk. */
const PART_LENGTH = 2 ** 20;

/** Everything that matches, a line each. @throws the signal's reason when it is cancelled. */
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

/** A record or an item, with its place and its values as tagged JSON. */
function lineOf({ key, primaryKey, value, isComplete, error, where, version }: StoredEntry): string {
  const { code, message } = error === undefined ? { code: undefined, message: undefined } : failureFacts(error);
  return jsonText({
    ...where.labels,
    ...(version !== undefined && { version: version.state, sequence: version.sequence.toString(), file: version.file }),
    ...(key !== undefined && { key: taggedJson(key) }),
    // Of an index.
    ...(primaryKey !== undefined && primaryKey !== key && { primaryKey: taggedJson(primaryKey) }),
    ...(error === undefined && version?.state !== 'deletion' && { value: taggedJson(value) }),
    ...(!isComplete && error === undefined && { isComplete }),
    ...(message !== undefined && { error: { ...(code !== undefined && { code }), message } }),
  });
}
