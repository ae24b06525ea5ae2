import type { VersionFacts } from '../database/database-facts.js';
import { CallError, failureFacts, type FailureFacts } from '../worker/failure.js';
import { type Remote, WorkerCalls } from '../worker/worker-calls.js';
import type { LiveDatabase } from './live-database.js';
import type { Crash, LiveLookup, LiveSeek, LiveState, NumberedEvent } from './live-facts.js';
import { Watchable } from '../session/watchable.js';

const KEPT_EVENTS = 300;

/** A version of the watched key. */
export interface WatchedVersion extends VersionFacts {
  /** Whether it is no longer in any file or memtable. */
  readonly isGone: boolean;
}

/** The live database in its own worker. It continues while other views are shown. */
export class LiveClient extends Watchable {
  state: LiveState | undefined;
  events: readonly NumberedEvent[] = [];
  /** All versions of the watched key that were seen, the newest first. */
  watched: readonly WatchedVersion[] = [];
  lookup: LiveLookup | undefined;
  seek: LiveSeek | undefined;
  failure: FailureFacts | undefined;
  readonly #live = new WorkerCalls(new Worker(new URL('./live-worker.ts', import.meta.url), { type: 'module' })).remote<LiveDatabase>();
  #watching = '';

  constructor() {
    super();
    void this.#follow();
  }

  /** Runs an action of the database, and shows its failure. */
  act(action: (live: Remote<LiveDatabase>) => Promise<unknown>): void {
    void this.#ask(() => action(this.#live));
  }

  crash(how: Crash): void {
    this.#forgetAnswers();
    this.act((live) => live.crash(how));
  }

  startOver(): void {
    this.#forgetAnswers();
    this.watched = [];
    this.events = [];
    this.act((live) => live.startOver());
  }

  async lookUp(key: Uint8Array, sequence: string | undefined): Promise<void> {
    await this.#ask(async () => {
      this.lookup = await this.#live.lookup(key, sequence);
      this.seek = undefined;
    });
  }

  async seekTo(key: Uint8Array, sequence: string | undefined): Promise<void> {
    await this.#ask(async () => {
      this.seek = await this.#live.seek(key, sequence);
      this.lookup = undefined;
    });
  }

  /** Follows the versions of a key. */
  watch(key: Uint8Array): void {
    const name = String(key);
    if (name === this.#watching) return;
    this.#watching = name;
    this.watched = [];
    this.#forgetAnswers();
    this.act((live) => live.watch(key));
  }

  async file(name: string): Promise<File> {
    return new File([(await this.#live.file(name)) as Uint8Array<ArrayBuffer>], name);
  }

  async #follow(): Promise<void> {
    try {
      for (;;) {
        const state = await this.#live.state(this.state?.number ?? -1, this.events.at(-1)?.id ?? 0);
        this.state = state;
        this.events = [...this.events, ...state.events].slice(-KEPT_EVENTS);
        if (state.facts !== undefined) this.watched = watchedVersions(this.watched, state.watched);
        this.changed();
      }
    } catch (error) {
      this.#failed(error);
    }
  }

  async #ask(ask: () => Promise<unknown>): Promise<void> {
    try {
      this.failure = undefined;
      await ask();
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.changed();
  }

  #failed(error: unknown): void {
    if (error instanceof CallError && error.isCancelled) return;
    this.failure = failureFacts(error);
    this.changed();
  }

  #forgetAnswers(): void {
    this.lookup = this.seek = undefined;
    this.changed();
  }
}

/** Adds earlier versions that are no longer stored, marked as gone. */
function watchedVersions(before: readonly WatchedVersion[], now: readonly VersionFacts[]): readonly WatchedVersion[] {
  const all = new Map(before.map((version) => [version.sequence, { ...version, isGone: true }]));
  for (const version of now) all.set(version.sequence, { ...version, isGone: false });
  return [...all.values()].sort((a, b) => Number(BigInt(b.sequence) - BigInt(a.sequence)));
}
