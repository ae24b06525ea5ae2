import { visibleText } from '../bytes/quoted-text.js';
import { breather } from '../worker/serve-calls.js';
import { failureFacts } from '../worker/failure.js';
import type { Work } from '../worker/calls.js';
import type { EntrySource, StoredEntry } from './stored-entry.js';
import type { ListFacts, RowFacts } from './storage-facts.js';
import { contains, lineOf } from './value-text.js';

/** The most rows that are kept. Further ones can be found by a search. */
const MAX_ROWS = 50_000;
const KEY_LENGTH = 200;
const VALUE_LENGTH = 300;

/** A row, and the position of its entry. */
interface Row {
  readonly facts: RowFacts;
  readonly source: EntrySource;
  /** The number of entries before it in the source. */
  readonly position: number;
  readonly entry: Pick<StoredEntry, 'primaryKey'>;
}

/** The matching rows of a place, which are read on request. */
export class RowList {
  readonly #rows: Row[] = [];
  readonly #steps: AsyncGenerator<{ readonly source: EntrySource; readonly position: number; readonly entry: StoredEntry }, void, undefined>;
  readonly #find: string;
  readonly #depth: number;
  readonly #controller = new AbortController();
  #examined = 0;
  #isAtEnd = false;
  #busy: Promise<unknown> = Promise.resolve();

  /** @param depth the number of names of a place that are left out, because all rows have them. */
  constructor(sources: AsyncGenerator<EntrySource, void, undefined>, find: string, depth: number) {
    this.#steps = stepsOf(sources, this.#controller.signal);
    this.#find = find.toLowerCase();
    this.#depth = depth;
  }

  get facts(): ListFacts {
    return { rowCount: this.#rows.length, examined: this.#examined, state: this.#isAtEnd ? 'end' : this.#rows.length >= MAX_ROWS ? 'full' : 'more' };
  }

  /** Reads until there are `count` further rows, or the end is reached. Rows found before a cancellation are kept. */
  more(work: Work, count: number): Promise<ListFacts> {
    const reading = this.#busy.then(() => this.#read(work, count));
    this.#busy = reading.catch(() => undefined);
    return reading;
  }

  async #read(work: Work, count: number): Promise<ListFacts> {
    const wanted = Math.min(MAX_ROWS, this.#rows.length + count);
    const breathe = breather();
    while (this.#rows.length < wanted && !this.#isAtEnd && !work.signal.aborted) {
      const { value: step, done } = await this.#steps.next();
      if (done === true) {
        this.#isAtEnd = true;
        break;
      }
      this.#examined++;
      if (this.#find === '' || matches(step.entry, this.#find)) this.#rows.push({ ...step, entry: { primaryKey: step.entry.primaryKey }, facts: rowOf(step.entry, this.#depth) });
      work.progress(this.#examined, this.#rows.length);
      await breathe();
    }
    return this.facts;
  }

  rows(start: number, end: number): RowFacts[] {
    return this.#rows.slice(start, end).map(({ facts }) => facts);
  }

  /** The entry of a row, which is read again, because lists do not keep values. */
  async entry(number: number, signal: AbortSignal): Promise<StoredEntry> {
    const { source, position, entry } = this.#rows[number]!;
    const again = await source.again?.(entry);
    if (again !== undefined) return again;
    const breathe = breather();
    let passed = 0;
    for await (const found of source.walk(signal)) {
      signal.throwIfAborted();
      if (passed++ === position) return found;
      await breathe();
    }
    throw new Error('the folder has changed: drop it again');
  }

  /** Ends a walk in progress. */
  close(): void {
    this.#controller.abort();
    this.#busy = this.#busy.then(() => this.#steps.return());
  }
}

async function* stepsOf(sources: AsyncGenerator<EntrySource, void, undefined>, signal: AbortSignal): AsyncGenerator<{ readonly source: EntrySource; readonly position: number; readonly entry: StoredEntry }, void, undefined> {
  for await (const source of sources) {
    let position = 0;
    for await (const entry of source.walk(signal)) yield { source, position: position++, entry };
  }
}

/** Whether a text is in the key, the value or the error. */
export function matches({ key, value, error }: StoredEntry, lowerCase: string): boolean {
  if (key !== undefined && contains(key, lowerCase)) return true;
  return error === undefined ? contains(value, lowerCase) : error.message.toLowerCase().includes(lowerCase);
}

function rowOf({ key, value, error, where, version }: StoredEntry, depth: number): RowFacts {
  return {
    key: key === undefined ? '' : lineIn(where, key, KEY_LENGTH),
    value: version?.state === 'deletion' || error !== undefined ? '' : lineIn(where, value, VALUE_LENGTH),
    where: where.labels.slice(depth).map((name) => name.replace(/^https?:\/\//u, '')).join(' › '),
    error: error === undefined ? undefined : failureFacts(error).message,
    state: version?.state,
  };
}

/** Items are always text, so they are shown without quotes where that is unambiguous. */
function lineIn({ items }: StoredEntry['where'], value: unknown, limit: number): string {
  return items !== undefined && typeof value === 'string' ? `${visibleText(value, limit)}${value.length > limit ? '…' : ''}` : lineOf(value, limit);
}
