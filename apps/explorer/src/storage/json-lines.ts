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

/** A record or an item with its place, in one line. Its values are tagged JSON, as `bloom export` writes it. */
function lineOf({ key, primaryKey, value, isComplete, error, where, version }: StoredEntry): string {
  const members = Object.entries(where.labels).map(([name, label]) => member(name, JSON.stringify(label)));
  if (version !== undefined) {
    const { state, sequence, file } = version;
    members.push(member('version', JSON.stringify(state)), member('sequence', String(sequence)), member('file', JSON.stringify(file)));
  }
  if (key !== undefined) members.push(member('key', jsonText(taggedJson(key))));
  // Of an index.
  if (primaryKey !== undefined && primaryKey !== key) members.push(member('primaryKey', jsonText(taggedJson(primaryKey))));
  if (error !== undefined) {
    const { code, message } = failureFacts(error);
    members.push(member('error', JSON.stringify({ code, message })));
  } else if (version?.state !== 'deletion') members.push(member('value', jsonText(taggedJson(value))));
  if (!isComplete && error === undefined) members.push('"isComplete":false');
  return `{${members.join(',')}}`;
}

function member(name: string, json: string): string {
  return `${JSON.stringify(name)}:${json}`;
}
