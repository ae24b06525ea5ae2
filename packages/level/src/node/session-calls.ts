import type { Stored, EncodingFormat } from '../encoding-formats.js';
import type { Held, Request } from '../worker/level-messages.js';
import { LevelSession } from '../worker/level-session.js';
import { PendingCalls } from '../worker/pending-calls.js';
import type { DatabaseUser, SharedDatabase } from '../worker/shared-database.js';
import type { ThreadHost } from './thread-host.js';

/** The calls of a level in the thread that has a shared database open, once that reopens after a failed write: they wait until it is open. */
export class SessionCalls extends PendingCalls {
  readonly #session: LevelSession;
  readonly #host: ThreadHost;

  /** @param user whose place it takes. */
  constructor(database: SharedDatabase, host: ThreadHost, user: DatabaseUser) {
    super();
    this.#host = host;
    this.#session = new LevelSession(database, (answers) => this.settle(answers));
    this.#session.replace(user);
  }

  override async close(): Promise<void> {
    await this.#host.ownLeaves();
    await super.close();
  }

  override hasten(): void {
    this.sendAsked();
  }

  getNow(key: Stored, format: EncodingFormat, snapshot: Held | undefined): Stored | undefined {
    this.sendAsked();
    return this.#session.getNow(key, format, snapshot);
  }

  propertyNow(name: string): string {
    return this.#session.propertyNow(name);
  }

  protected send(requests: readonly Request[]): void {
    this.#session.handle(requests);
  }
}
