import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval, setTimeout } from 'node:timers';
import { threadId } from 'node:worker_threads';
import type { Answer } from '../worker/level-messages.js';
import { LevelSession } from '../worker/level-session.js';
import type { SharedDatabase } from '../worker/shared-database.js';
import { type ClientMessage, clientChannelName, type FolderMessage, folderChannelName, PING_MS, ThreadChannel } from './thread-channel.js';

// Node's own, taken at load: test suites replace the global ones with fake ones, some before this is loaded.
const startTimer = setTimeout;
const startInterval = setInterval;
const stopInterval = clearInterval;
const now = performance.now.bind(performance);

/** How many pings in a row a user may miss: a thread that is computing receives none. */
const MISSED_PINGS = 12;
/**
 * How long users may take to answer when this thread's own level is closed. Those with iterators or snapshots, which they would lose, get more
 * time. Whether a user is busy or was terminated cannot be told.
 */
const LAST_PING_MS = 300;
const LAST_PING_OF_HOLDERS_MS = 2000;

/** Another level that uses the database, in this or another thread. */
interface Guest {
  readonly token: string;
  readonly session: LevelSession;
  readonly channel: ThreadChannel<ClientMessage>;
  /** Counts the messages that were sent: a thread that waits for an answer without its event loop waits for this counter. */
  readonly flag: SharedArrayBuffer;
  missedPings: number;
}

/** Serves the database that this thread has open to the other users of the folder, until it is closed. */
export class ThreadHost {
  /** Those of this thread that have a database open. */
  static readonly #here = new Set<ThreadHost>();
  readonly #identity: string;
  readonly #database: SharedDatabase;
  readonly #channel: ThreadChannel<FolderMessage>;
  readonly #guests = new Map<string, Guest>();
  readonly #pings: ReturnType<typeof startInterval>;

  /** @param identity of the folder. */
  constructor(identity: string, database: SharedDatabase) {
    this.#identity = identity;
    this.#database = database;
    this.#channel = new ThreadChannel(folderChannelName(identity), (message) => {
      if ('hello' in message && database.isOpen) this.#welcome(message.hello);
    });
    database.onClose = (closing) => void this.#end(closing);
    this.#channel.post({ isOpen: true });
    this.#pings = startInterval(() => this.#ping(), PING_MS);
    this.#pings.unref();
    ThreadHost.#here.add(this);
  }

  /**
   * Serves a user of this thread that may not have heard yet that the database is open here: in its channel, the host's greeting comes next.
   *
   * @returns whether this thread has the database of the folder open.
   */
  static welcome(identity: string, client: string): boolean {
    for (const host of ThreadHost.#here) {
      if (host.#identity !== identity || !host.#database.isOpen) continue;
      host.#welcome(client);
      return true;
    }
    return false;
  }

  /**
   * The session of a user of this thread, after all that the user has sent; undefined if no host of this thread has it.
   *
   * @param token of the session.
   */
  static sessionOf(client: string, token: string): LevelSession | undefined {
    for (const host of ThreadHost.#here) {
      const guest = host.#guests.get(client);
      if (guest?.token !== token) continue;
      guest.channel.drain();
      return guest.session;
    }
    return undefined;
  }

  /** This thread's own level is about to leave the database, which stays open as long as others use it. */
  async ownLeaves(): Promise<void> {
    // Users that ended without a message must not keep the folder locked. A busy one finds the database again.
    this.#ping();
    const begun = now();
    while (this.#mayAnswer(now() - begun)) await new Promise((resolve) => startTimer(resolve, 10));
    const silent = [...this.#guests].filter(([, { missedPings }]) => missedPings > 0);
    await Promise.all(silent.map(([client]) => this.#dismiss(client)));
  }

  /** Whether a user that has not answered for this long may still do so. */
  #mayAnswer(waitedMs: number): boolean {
    for (const { missedPings, session } of this.#guests.values()) {
      if (missedPings > 0 && waitedMs < (session.holdsStates ? LAST_PING_OF_HOLDERS_MS : LAST_PING_MS)) return true;
    }
    return false;
  }

  #welcome(client: string): void {
    const guest = this.#guests.get(client) ?? this.#admit(client);
    guest.channel.post({ owner: guest.token, flag: guest.flag, thread: threadId });
  }

  #admit(client: string): Guest {
    const token = randomUUID();
    const flag = new SharedArrayBuffer(4);
    const sent = new Int32Array(flag);
    const channel = new ThreadChannel<ClientMessage>(clientChannelName(client), (message) => {
      guest.missedPings = 0;
      if (this.#guests.get(client) !== guest) return;
      if ('requests' in message && message.to === token) guest.session.handle(message.requests);
      else if ('bye' in message && message.bye === token) void this.#dismiss(client);
    });
    const answer = (answers: Answer[]): void => {
      channel.post({ from: token, answers });
      Atomics.add(sent, 0, 1);
      Atomics.notify(sent, 0);
    };
    const session = new LevelSession(this.#database, answer, true);
    const guest: Guest = { token, session, channel, flag, missedPings: 0 };
    this.#guests.set(client, guest);
    return guest;
  }

  async #dismiss(client: string): Promise<void> {
    const guest = this.#guests.get(client);
    if (guest === undefined) return;
    this.#guests.delete(client);
    guest.channel.close();
    await guest.session.end().catch(() => undefined);
  }

  #ping(): void {
    for (const [client, guest] of this.#guests) {
      if (guest.missedPings >= MISSED_PINGS) {
        void this.#dismiss(client);
        continue;
      }
      guest.missedPings++;
      guest.channel.post({ ping: guest.token });
    }
  }

  /** Those who have closed their levels still get their answers. Those who have not opened theirs yet open the database themselves. */
  async #end(closing: Promise<void>): Promise<void> {
    ThreadHost.#here.delete(this);
    stopInterval(this.#pings);
    this.#channel.close();
    const guests = [...this.#guests.values()];
    this.#guests.clear();
    await closing.catch(() => undefined);
    // By the next turn, the answers are sent.
    startTimer(() => {
      for (const { channel } of guests) channel.close();
    });
  }
}
