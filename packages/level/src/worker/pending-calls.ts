import { LevelError } from '../level-error.js';
import type { Stored, EncodingFormat } from '../encoding-formats.js';
import type { Answer, Held, LevelCall, LevelCalls, Request } from './level-messages.js';
import { receivedError } from './sent-error.js';

// Taken at load: test suites replace the host's functions with fake ones.
const onMicrotask = queueMicrotask;

interface Pending {
  readonly request: Request;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

type Arguments<Call extends LevelCall> = Parameters<LevelCalls[Call]>;
type Result<Call extends LevelCall> = Promise<Awaited<ReturnType<LevelCalls[Call]>>>;

/** The calls to a database that is open elsewhere. The requests of one turn are sent in one message. */
export abstract class PendingCalls {
  readonly #pending = new Map<number, Pending>();
  #asked: Request[] = [];
  #lastId = 0;
  #failure: LevelError | undefined;

  call<Call extends LevelCall>(call: Call, ...values: Arguments<Call>): Result<Call> {
    return new Promise((resolve, reject) => {
      this.#ask([call, ...values], resolve, reject);
    });
  }

  /** Makes a call whose failure is reported by the calls that depend on it. */
  tell<Call extends LevelCall>(call: Call, ...values: Arguments<Call>): void {
    this.call(call, ...values).catch(() => undefined);
  }

  /** Ends the use of the database. */
  async close(): Promise<void> {
    try {
      await this.call('close');
    } catch (error) {
      // The database was closed together with the place where it was open.
      if (this.#failure === undefined) throw error;
    } finally {
      this.fail('the level is closed');
    }
  }

  /** Reads a value synchronously. @throws LevelError where the host has no way to wait for an answer. */
  abstract getNow(key: Stored, format: EncodingFormat, snapshot: Held | undefined): Stored | undefined;
  /** Reads a property synchronously, as `getNow` reads a value. */
  abstract propertyNow(name: string): string;

  /** Ends all calls. */
  fail(problem: string): void {
    this.#failure ??= new LevelError('LEVEL_IO_ERROR', problem);
    this.refuse(this.#failure);
  }

  /** Makes the calls that were asked for take effect before the caller goes on, where the database is open in this thread. */
  hasten(): void {
    // Only where this costs no message.
  }

  /** Rejects the unanswered calls, but not later ones. @param needless names calls without a result, which are fulfilled instead. */
  protected refuse(error: unknown, needless?: ReadonlySet<LevelCall>): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    this.#asked = [];
    for (const { request, resolve, reject } of pending) {
      if (needless?.has(request[1]) === true) resolve(undefined as never);
      else reject(error);
    }
  }

  protected abstract send(requests: readonly Request[]): void;

  /** Makes a call whose outcome is known before `ask` returns, if `wait` gets its answer. */
  protected callNow<Call extends LevelCall>(values: [Call, ...Arguments<Call>], wait: (isAnswered: () => boolean) => void): Awaited<ReturnType<LevelCalls[Call]>> {
    let outcome: { readonly result: Awaited<ReturnType<LevelCalls[Call]>> } | { readonly error: unknown } | undefined;
    const id = this.#ask(values, (result) => (outcome = { result }), (error) => (outcome = { error }));
    this.sendAsked();
    try {
      wait(() => outcome !== undefined);
    } finally {
      this.#pending.delete(id);
    }
    if (outcome !== undefined && 'result' in outcome) return outcome.result;
    throw outcome?.error;
  }

  protected settle(answers: readonly Answer[]): void {
    for (const answer of answers) {
      const pending = this.#take(answer[0]);
      if (pending === undefined) continue;
      this.answered(pending.request, answer);
      if (answer[1] === 0) pending.resolve(answer[2] as never);
      else pending.reject(receivedError(answer[2]));
    }
  }

  /** Receives each answer. */
  protected answered(_request: Request, _answer: Answer): void {
    // Nothing to do, unless snapshots and walks must be made again elsewhere.
  }

  /** Requests that were sent and are not answered. */
  protected get unanswered(): Request[] {
    const unsent = new Set(this.#asked);
    return Array.from(this.#pending.values(), ({ request }) => request).filter((request) => !unsent.has(request));
  }

  protected get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  #ask(values: readonly [LevelCall, ...unknown[]], resolve: (result: never) => void, reject: (error: unknown) => void): number {
    const id = ++this.#lastId;
    if (this.#failure !== undefined) {
      reject(this.#failure);
      return id;
    }
    const request: Request = [id, ...values];
    if (this.#asked.length === 0) onMicrotask(() => this.sendAsked());
    this.#asked.push(request);
    this.#pending.set(id, { request, resolve, reject });
    return id;
  }

  /** Sends what was asked for in this turn. */
  protected sendAsked(): void {
    const asked = this.#asked;
    this.#asked = [];
    if (asked.length > 0) this.#send(asked);
  }

  #send(requests: readonly Request[]): void {
    try {
      this.send(requests);
    } catch (error) {
      // Nothing was sent: one of them contains something that cannot be, such as a function.
      if (requests.length === 1) this.#take(requests[0]![0])?.reject(error);
      else for (const request of requests) this.#send([request]);
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}
