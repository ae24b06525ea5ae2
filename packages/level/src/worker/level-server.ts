/**
 * The worker of one page. The workers of all pages that use a path elect one of them, which opens the database for all: the one that holds the
 * lock of the path. Its own page talks to it through a port. The other workers pass on their pages' requests, each through its own channel, and
 * keep each request until it is answered. When the worker that has the database open ends for any reason, the lock goes to the next, which
 * announces itself, and receives the unanswered requests again. The other pages' iterators and snapshots continue there, if their state is the
 * one in which it opened the database.
 *
 *     lock       `@bloom/level PATH`             held by the worker that has the database open
 *     lock       `@bloom/level client CLIENT`    held by every worker, so that it is noticed when it ends
 *     channel    `@bloom/level PATH`             { hello: CLIENT } of those who look for the worker; { owner: CLIENT } of that worker
 *     channel    `@bloom/level client CLIENT`    { owner: CLIENT }, then requests and answers
 */
import type { HostFormats } from '../host-formats.js';
import type { OpenOptions } from '../level-options.js';
import { browser, type MessagePortLike } from './browser-parts.js';
import { HeldStates, repeatedRequests } from './held-states.js';
import { type Answer, type Greeting, lockOfClient, type Request } from './level-messages.js';
import { LevelSession } from './level-session.js';
import { opfsPlace } from './opfs-place.js';
import { type ServeOptions, SharedDatabase } from './shared-database.js';

type PathMessage = { readonly hello: string } | { readonly owner: string };
type ClientMessage = { readonly owner: string } | { readonly to: string; readonly requests: readonly Request[] } | { readonly from: string; readonly answers: Answer[] };

/** One name for all spellings of a path. */
const lockOf = (path: string): string => `@bloom/level ${path.split('/').filter((name) => name !== '' && name !== '.').join('/')}`;

/** Another page's worker, in the worker that has the database open. */
interface Guest {
  readonly session: LevelSession;
  readonly channel: MessagePortLike;
}

export class LevelServer {
  private readonly path: string;
  private readonly client: string;
  private readonly port: MessagePortLike;
  private readonly database: SharedDatabase;
  private readonly onEnd: () => void;
  private readonly pathChannel: MessagePortLike;
  private readonly clientChannel: MessagePortLike;
  /** The unanswered requests of its page. */
  private readonly pending = new Map<number, Request>();
  private readonly guests = new Map<string, Guest>();
  /** The snapshots and walks of its page in another worker. */
  private readonly held = new HeldStates();
  /** The options with which the page's level is open, for the next worker that opens the database. */
  private openWith: Request | undefined;
  /** Its page's session, once this worker has the database open. */
  private own: LevelSession | undefined;
  /** The other worker that has the database open, if there is one. */
  private owner: string | undefined;
  /** Whether it holds its own lock. Until then, a worker that waits for that lock would get it, and assume that this worker has ended. */
  private hasLock = false;
  private isLeaving = false;
  /** Lets the next worker open the database. From then on, this one answers no requests. */
  private endElection: () => void = () => undefined;
  private hasEnded = false;
  private readonly waiting = new AbortController();

  /** @param onEnd called when the worker has nothing left to do. */
  constructor({ path, client }: Greeting, port: MessagePortLike, formats: HostFormats, options: ServeOptions, onEnd: () => void) {
    this.path = path;
    this.client = client;
    this.port = port;
    this.database = new SharedDatabase(opfsPlace(path), formats, options);
    this.onEnd = onEnd;
    this.pathChannel = new browser.BroadcastChannel(lockOf(path));
    this.clientChannel = new browser.BroadcastChannel(lockOfClient(client));
    this.pathChannel.onmessage = ({ data }) => this.#hear(data as PathMessage);
    this.clientChannel.onmessage = ({ data }) => this.#hearOwner(data as ClientMessage);
    port.onmessage = ({ data }) => this.#ask(data as Request[]);
    void browser.navigator.locks.request(lockOfClient(client), {}, () => {
      this.hasLock = true;
      port.postMessage([]);
      this.#join();
      return new Promise(() => undefined);
    });
  }

  /** Looks for the worker that has the database open, and waits to become that worker. */
  #join(): void {
    this.pathChannel.postMessage({ hello: this.client } satisfies PathMessage);
    const elected = (): Promise<void> =>
      new Promise((resolve) => {
        this.endElection = () => {
          this.hasEnded = true;
          resolve();
        };
        this.#become();
      });
    browser.navigator.locks.request(lockOf(this.path), { signal: this.waiting.signal }, elected).then(
      () => this.onEnd(),
      // It was stopped while it waited.
      () => this.onEnd(),
    );
  }

  /** The lock is held: opens the database, for its own page and for all others. */
  #become(): void {
    this.owner = undefined;
    this.own = new LevelSession(this.database, (answers) => this.#answered(answers));
    this.own.handle(this.#unanswered());
    this.pathChannel.postMessage({ owner: this.client } satisfies PathMessage);
  }

  #hear(message: PathMessage): void {
    if ('hello' in message) {
      if (this.own !== undefined && !this.hasEnded) this.#welcome(message.hello);
    } else if (this.hasLock) {
      // The new worker does not know any of the others yet.
      this.pathChannel.postMessage({ hello: this.client } satisfies PathMessage);
    }
  }

  /** Begins to serve another page's worker. */
  #welcome(client: string): void {
    if (this.guests.has(client)) return;
    const channel = new browser.BroadcastChannel(lockOfClient(client));
    const session = new LevelSession(this.database, (answers) => channel.postMessage({ from: this.client, answers } satisfies ClientMessage), true);
    this.guests.set(client, { session, channel });
    channel.onmessage = ({ data }) => {
      const message = data as ClientMessage;
      if ('requests' in message && message.to === this.client) session.handle(message.requests);
    };
    // Granted when that worker has ended.
    browser.navigator.locks.request(lockOfClient(client), {}, () => this.#dismiss(client)).catch(() => undefined);
    channel.postMessage({ owner: this.client } satisfies ClientMessage);
  }

  async #dismiss(client: string): Promise<void> {
    const guest = this.guests.get(client);
    if (guest === undefined) return;
    this.guests.delete(client);
    guest.channel.close();
    await guest.session.end().catch(() => undefined);
    this.#leaveIfDone();
  }

  /** Handles the messages of the worker that has the database open. */
  #hearOwner(message: ClientMessage): void {
    if (this.own !== undefined) return;
    if ('answers' in message) {
      // Late answers of the previous worker are dropped, and the requests sent again: for a walk, both answers would have the same items.
      if (message.from === this.owner) this.#answered(message.answers);
    } else if ('owner' in message && message.owner !== this.owner) {
      this.owner = message.owner;
      this.#passOn(this.#unanswered());
    }
  }

  /** Handles the requests of the page. */
  #ask(requests: readonly Request[]): void {
    for (const request of requests) this.pending.set(request[0], request);
    if (this.own !== undefined) this.own.handle(requests);
    else if (this.owner !== undefined) this.#passOn(requests);
  }

  #passOn(requests: readonly Request[]): void {
    if (requests.length > 0) this.clientChannel.postMessage({ to: this.owner!, requests } satisfies ClientMessage);
  }

  /** All requests that a worker which has just opened the database must receive. */
  #unanswered(): Request[] {
    return [...(this.openWith === undefined ? [] : [this.openWith, ...this.held.requests]), ...repeatedRequests([...this.pending.values()])];
  }

  #answered(answers: readonly Answer[]): void {
    const wanted: Answer[] = [];
    let isClosed = false;
    for (const answer of answers) {
      const request = this.pending.get(answer[0]);
      if (request === undefined) continue;
      this.pending.delete(answer[0]);
      wanted.push(answer);
      const [, call] = request;
      if (this.own === undefined) this.held.answered(request, answer);
      if (call === 'open' && answer[1] === 0) this.openWith = openedAgain(request);
      if (call === 'close' || call === 'destroy' || call === 'repair') isClosed = true;
    }
    if (wanted.length > 0) this.port.postMessage(wanted, wanted.flatMap(largeBuffer));
    if (isClosed) this.#leave();
  }

  /** The page no longer needs the worker. */
  #leave(): void {
    this.openWith = undefined;
    this.isLeaving = true;
    if (this.own === undefined) this.waiting.abort();
    else this.#leaveIfDone();
  }

  /** Lets the next worker open the database, unless others use it here. */
  #leaveIfDone(): void {
    if (this.isLeaving && this.guests.size === 0) this.endElection();
  }
}

/** From this many bytes on, a buffer is transferred instead of copied. */
const LARGE_BYTES = 16 * 2 ** 10;

/** The buffer of a large value, which the page gets instead of a copy. */
function largeBuffer([, failed, result]: Answer): unknown[] {
  return failed === 0 && result instanceof Uint8Array && result.length >= LARGE_BYTES && result.length === result.buffer.byteLength ? [result.buffer] : [];
}

/** The request that reopens a level that was open. */
function openedAgain([, call, options]: Request): Request {
  return [0, call, { ...(options as OpenOptions), createIfMissing: false, errorIfExists: false }];
}
