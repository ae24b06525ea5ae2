import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setInterval, setTimeout } from 'node:timers';
import { threadId } from 'node:worker_threads';
import type { DatabaseError } from '@bloom/leveldb';
import { LevelError, levelErrorOf } from '../level-error.js';
import type { OpenOptions } from '../level-options.js';
import type { Stored, EncodingFormat } from '../encoding-formats.js';
import { HeldStates, repeatedRequests } from '../worker/held-states.js';
import type { Answer, Held, LevelCall, Request } from '../worker/level-messages.js';
import { LevelSession } from '../worker/level-session.js';
import { PendingCalls } from '../worker/pending-calls.js';
import type { SharedDatabase } from '../worker/shared-database.js';
import { type ClientMessage, clientChannelName, type FolderMessage, folderChannelName, PING_MS, ThreadChannel } from './thread-channel.js';
import { ThreadHost } from './thread-host.js';

// Node's own, taken at load: test suites replace the global ones with fake ones, some before this is loaded.
const startTimer = setTimeout;
const stopTimer = clearTimeout;
const startInterval = setInterval;
const stopInterval = clearInterval;
const now = performance.now.bind(performance);

/** After this many milliseconds without an answer, it tries to lock the folder: the first time, and at most. */
const FIRST_TRY_MS = 50;
const MAX_TRY_MS = 1000;

/**
 * How long to wait before asking again which thread has the database open. Every thread receives the question, so a hundred threads that start
 * at once would be busy with it. A thread that opens the database announces it by itself.
 */
const HELLO_MS = 1000;

/** After this many milliseconds without a message, a user without pending calls tries to lock the folder, so that no other process does. */
const SILENCE_MS = 1.5 * PING_MS;

/** How long a synchronous call waits for its answer, in milliseconds. */
const MAX_WAIT_MS = 5000;

/** The calls that do not fail when the folder was deleted: nothing is left to clear or to keep. */
const NEEDLESS_WHEN_GONE: ReadonlySet<LevelCall> = new Set<LevelCall>(['clear', 'close']);
/** The call that does not fail when another folder is there, or another process has it open: this one has nothing open there. */
const NEEDLESS_WHEN_ELSEWHERE: ReadonlySet<LevelCall> = new Set<LevelCall>(['close']);

/** The parts that a guest needs to open the database itself. */
export interface GuestPlace {
  readonly path: string;
  /** Of the folder. */
  readonly identity: string;
  readonly options: OpenOptions;
  /** Whether the folder is still the same, was deleted, or another one took its place. @throws an error of the system if that cannot be told. */
  look(): 'there' | 'gone' | 'replaced';
  makeDatabase(): SharedDatabase;
}

/** The calls of a level to the thread that has the database open, until that ends and this one opens it. */
export class ThreadGuest extends PendingCalls {
  private readonly place: GuestPlace;
  private readonly client = randomUUID();
  private readonly folderChannel: ThreadChannel<FolderMessage>;
  private readonly clientChannel: ThreadChannel<ClientMessage>;
  /** Its snapshots and walks in the other thread. */
  private readonly held = new HeldStates();
  private owner: Extract<ClientMessage, { readonly owner: string }> | undefined;
  private isOpen = false;
  /** Set once this thread has the database open. */
  private own: { readonly session: LevelSession; readonly host: ThreadHost } | undefined;
  private onNews: () => void = () => undefined;
  private timer: ReturnType<typeof startTimer> | undefined;
  private tryMs = FIRST_TRY_MS;
  private saidHelloAt = -Infinity;
  private hasHeard = false;
  private heardAt = now();
  private readonly listening: ReturnType<typeof startInterval>;
  private isTrying = false;
  /** Whether a synchronous call has had no answer, and nothing was heard since: the thread that has the database open may have ended. */
  private hasMissed = false;
  private hasEnded = false;
  /** Whether another process had the folder locked at the last attempt to open it. */
  private wasElsewhere = false;

  constructor(place: GuestPlace, silenceMs = SILENCE_MS) {
    super();
    this.place = place;
    this.listening = startInterval(() => {
      if (this.isOpen && this.own === undefined && now() - this.heardAt >= silenceMs) void this.#tryToOpen();
    }, silenceMs);
    this.listening.unref();
    this.folderChannel = new ThreadChannel(folderChannelName(place.identity), (message) => {
      if ('isOpening' in message) this.onNews();
      else if ('isOpen' in message && this.own === undefined) this.#sayHello();
    });
    this.clientChannel = new ThreadChannel(clientChannelName(this.client), (message) => this.#hear(message));
  }

  /**
   * Looks for the thread that has the database open.
   *
   * @returns `'found'`; `'opening'` if a thread is opening it; undefined if none answered in `ms`.
   */
  async find(ms: number): Promise<'found' | 'opening' | undefined> {
    let hasNews = false as boolean;
    if (now() - this.saidHelloAt >= HELLO_MS) this.#sayHello();
    await new Promise<void>((resolve) => {
      const timer = startTimer(resolve, ms);
      this.onNews = () => {
        hasNews = true;
        if (this.owner === undefined) return;
        stopTimer(timer);
        resolve();
      };
    });
    this.onNews = () => undefined;
    if (this.isFound) return 'found';
    return hasNews ? 'opening' : undefined;
  }

  private get isFound(): boolean {
    return this.owner !== undefined;
  }

  override async close(): Promise<void> {
    // Calls that were made earlier and are pending are answered first.
    if (this.own === undefined) return super.close();
    await this.own.host.ownLeaves();
    return super.close();
  }

  override fail(problem: string): void {
    super.fail(problem);
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (this.own === undefined && this.owner !== undefined) this.clientChannel.post({ bye: this.owner.owner });
    this.folderChannel.close();
    this.clientChannel.close();
    stopTimer(this.timer);
    stopInterval(this.listening);
  }

  override hasten(): void {
    if (this.own === undefined && this.owner?.thread !== threadId) return;
    this.sendAsked();
    if (this.own === undefined) ThreadHost.sessionOf(this.client, this.owner!.owner)?.beginWaiting();
  }

  getNow(key: Stored, format: EncodingFormat, snapshot: Held | undefined): Stored | undefined {
    const session = this.#sessionHere();
    return session === undefined ? this.callNow(['get', key, format, snapshot], this.wait) : session.getNow(key, format, snapshot, this.held.sequenceOf(snapshot));
  }

  propertyNow(name: string): string {
    const session = this.#sessionHere();
    return session === undefined ? this.callNow(['property', name], this.wait) : session.propertyNow(name);
  }

  /** Its session, where this thread has the database open. An answer in a message would need the event loop, which a synchronous call holds up. */
  #sessionHere(): LevelSession | undefined {
    if (this.own !== undefined) {
      this.sendAsked();
      return this.own.session;
    }
    // Another level of this thread may have opened the database a moment ago.
    if (this.owner?.thread !== threadId && ThreadHost.welcome(this.place.identity, this.client)) this.clientChannel.drain();
    if (this.owner?.thread !== threadId) return undefined;
    this.sendAsked();
    const session = ThreadHost.sessionOf(this.client, this.owner.owner);
    if (session !== undefined) return session;
    const problem = 'Database is open in this thread by another copy of @bloom/level: it does not support getSync() and getProperty() here';
    throw new LevelError('LEVEL_NOT_SUPPORTED', problem);
  }

  protected send(requests: readonly Request[]): void {
    if (this.own !== undefined) this.own.session.handle(requests);
    else {
      if (this.owner !== undefined) this.clientChannel.post({ to: this.owner.owner, requests });
      this.#watch();
    }
  }

  protected override answered(request: Request, answer: Answer): void {
    if (answer[1] === 0 && request[1] === 'open') this.isOpen = true;
    if (this.own === undefined) this.held.answered(request, answer);
  }

  #hear(message: ClientMessage): void {
    if (this.own !== undefined) return;
    this.heardAt = now();
    if ('ping' in message) {
      this.clientChannel.post({ pong: message.ping });
    } else if ('answers' in message) {
      // Late answers of the previous thread are dropped, and the requests sent again: for a walk, both answers would have the same items.
      if (message.from !== this.owner?.owner) return;
      this.hasHeard = true;
      this.hasMissed = false;
      this.settle(message.answers);
      if (!this.isWaiting) this.timer?.unref();
    } else if ('owner' in message && message.owner !== this.owner?.owner) {
      this.owner = message;
      this.onNews();
      const requests = this.#allRequests();
      if (requests.length > 0) this.clientChannel.post({ to: message.owner, requests });
    }
  }

  /** All requests that a thread which has just opened the database must receive. */
  #allRequests(): Request[] {
    const again: Request[] = this.isOpen ? [[0, 'open', { createIfMissing: false }], ...this.held.requests] : [];
    return [...again, ...repeatedRequests(this.unanswered)];
  }

  #sayHello(): void {
    this.saidHelloAt = now();
    this.folderChannel.post({ hello: this.client });
  }

  /** Until everything is answered, checks whether the thread that has the database open still exists. Only that keeps this thread alive. */
  #watch(): void {
    if (this.timer !== undefined) {
      this.timer.ref();
      return;
    }
    this.timer = startTimer(() => void this.#look(), this.tryMs);
  }

  async #look(): Promise<void> {
    if ((this.isWaiting || this.hasMissed) && !this.hasHeard) {
      await this.#tryToOpen();
      this.tryMs = Math.min(2 * this.tryMs, MAX_TRY_MS);
    } else {
      this.tryMs = FIRST_TRY_MS;
    }
    this.hasHeard = false;
    this.timer = undefined;
    if (this.own !== undefined || this.hasEnded || !(this.isWaiting || this.hasMissed)) return;
    this.#watch();
    if (!this.isWaiting) this.timer!.unref();
  }

  async #tryToOpen(): Promise<void> {
    if (this.isTrying) return;
    this.isTrying = true;
    try {
      await this.#open();
    } finally {
      this.isTrying = false;
    }
  }

  /** Opens the database here, if its lock is free. */
  async #open(): Promise<void> {
    const { options, identity, path } = this.place;
    let folder: ReturnType<GuestPlace['look']>;
    try {
      folder = this.place.look();
    } catch (error) {
      this.refuse(levelErrorOf(error));
      return;
    }
    if (folder === 'gone') {
      this.#refuseAsGone(`${path} was deleted or moved`);
      return;
    }
    if (folder === 'replaced') {
      this.refuse(new LevelError('LEVEL_IO_ERROR', `another folder took the place of ${path}`), NEEDLESS_WHEN_ELSEWHERE);
      return;
    }
    const database = this.place.makeDatabase();
    const keeper = { letGo: () => undefined };
    try {
      await database.join(keeper, { ...options, errorIfExists: false, ...(this.isOpen && { createIfMissing: false }) });
    } catch (error) {
      // The level may have been closed meanwhile.
      if (this.hasEnded) return;
      const { code } = error as { readonly code?: unknown };
      if (code === 'LEVEL_LOCKED') this.#lookForOwner(error);
      else if (code === 'BLOOM_DATABASE_MISSING' && this.isOpen) this.#refuseAsGone(`the files of ${path} were deleted`);
      else this.refuse(error);
      return;
    }
    if (!this.hasEnded) {
      this.own = { session: new LevelSession(database, (answers) => this.settle(answers)), host: new ThreadHost(identity, database) };
      this.own.session.handle(this.#allRequests());
    }
    // Where this closes the database, the level was closed, or its opening refused.
    await database.leave(keeper).catch(() => undefined);
  }

  #refuseAsGone(problem: string): void {
    this.refuse(new LevelError('LEVEL_IO_ERROR', problem), NEEDLESS_WHEN_GONE);
  }

  /** Looks for the thread that has the folder locked, unless another process has it: one may have opened it while no thread had. */
  #lookForOwner(error: unknown): void {
    this.#sayHello();
    const isElsewhere = (error as { readonly cause?: Partial<DatabaseError> }).cause?.heldBy === 'another process';
    // The first time may be chance: the thread may just have ended.
    if (isElsewhere && this.wasElsewhere) this.refuse(error, NEEDLESS_WHEN_ELSEWHERE);
    this.wasElsewhere = isElsewhere;
  }

  /** Waits without the event loop. */
  private readonly wait = (isAnswered: () => boolean): void => {
    const end = now() + MAX_WAIT_MS;
    for (;;) {
      const { flag } = this.owner!;
      const sent = new Int32Array(flag);
      const seen = Atomics.load(sent, 0);
      this.clientChannel.drain();
      if (isAnswered()) return;
      // Another thread has opened the database meanwhile.
      if (this.owner!.flag !== flag) continue;
      const left = end - now();
      if (left <= 0) {
        this.hasMissed = true;
        throw new LevelError('LEVEL_IO_ERROR', 'the thread that has the database open does not answer');
      }
      Atomics.wait(sent, 0, seen, left);
    }
  };
}
