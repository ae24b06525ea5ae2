import type { HostFormats } from '../host-formats.js';
import type { Stored } from '../encoding-formats.js';
import type { Answer, LevelCall, LevelCalls, Request } from './level-messages.js';

const WRITES: ReadonlySet<LevelCall> = new Set<LevelCall>(['put', 'delete', 'write', 'clear']);

/** How many answered writes are kept at most: removing each by itself would move all others. */
const MAX_ANSWERED = 1000;

/**
 * The order of requests that another worker receives again if this one ends before it has answered them. A repeated read must not show a write that was
 * issued after it, and a repeated write must not undo a later one that was answered. So a write begins when the reads of its keys are answered, and
 * writes are answered in their order.
 */
export class RepeatOrder {
  readonly #formats: HostFormats;
  /** The keys of each unanswered read, by the number of its request. */
  readonly #reads = new Map<number, readonly Stored[]>();
  /** How many unanswered reads there are of each key, as text. If two keys have the same text, a write may wait without need. */
  readonly #readKeys = new Map<string, number>();
  /** The writes, of which the first `#answered` are answered. */
  #writes: number[] = [];
  #answered = 0;
  /** The answers that wait for the answers of earlier writes. */
  readonly #answers = new Map<number, Answer>();

  constructor(formats: HostFormats) {
    this.#formats = formats;
  }

  /** Whether a request must wait until reads are answered. */
  mustWait([, call, ...values]: Request): boolean {
    if (this.#readKeys.size === 0) return false;
    if (call === 'clear') return true;
    if (call === 'put' || call === 'delete') return this.#isRead(values[0] as Stored);
    // Every other one is a value.
    return call === 'write' && (values as Parameters<LevelCalls['write']>)[0].some((key, i) => i % 2 === 0 && this.#isRead(key!));
  }

  begin([id, call, ...values]: Request): void {
    if (WRITES.has(call)) this.#writes.push(id);
    else if (call === 'get' || call === 'has') this.#beginRead(id, [values[0] as Stored], values.at(-1));
    else if (call === 'getMany' || call === 'hasMany') this.#beginRead(id, values[0] as Stored[], values.at(-1));
  }

  /** Takes the answer of a request. @returns the answers to send now. */
  answered([id, call]: Request, answer: Answer): readonly Answer[] {
    if (!WRITES.has(call)) return [answer];
    this.#answers.set(id, answer);
    const due: Answer[] = [];
    for (let next; (next = this.#answers.get(this.#writes[this.#answered]!)) !== undefined; this.#answered++) {
      this.#answers.delete(next[0]);
      due.push(next);
    }
    if (this.#answered === this.#writes.length || this.#answered > MAX_ANSWERED) {
      this.#writes = this.#writes.slice(this.#answered);
      this.#answered = 0;
    }
    return due;
  }

  /** Forgets the reads that were answered. */
  sent(answers: readonly Answer[]): void {
    for (const [id] of answers) {
      for (const key of this.#reads.get(id) ?? []) {
        const text = this.#textOf(key);
        const count = this.#readKeys.get(text)!;
        if (count > 1) this.#readKeys.set(text, count - 1);
        else this.#readKeys.delete(text);
      }
      this.#reads.delete(id);
    }
  }

  /** @param snapshot of the read, which shows no later writes. */
  #beginRead(id: number, keys: readonly Stored[], snapshot: unknown): void {
    if (snapshot !== undefined) return;
    this.#reads.set(id, keys);
    for (const key of keys) {
      const text = this.#textOf(key);
      this.#readKeys.set(text, (this.#readKeys.get(text) ?? 0) + 1);
    }
  }

  #isRead(key: Stored): boolean {
    return this.#readKeys.has(this.#textOf(key));
  }

  #textOf(key: Stored): string {
    if (typeof key === 'string') return key;
    // An encoding may return anything, which the database refuses.
    return ArrayBuffer.isView(key) ? this.#formats.textOf(key, 0, key.length) : String(key);
  }
}
