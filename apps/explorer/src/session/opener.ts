import { CallError, type FailureFacts, failureFacts } from '../worker/failure.js';

/** The open file or folder of the session, and the one that is being opened to replace it. */
export interface Opened<Origin, Client> {
  readonly client: Client | undefined;
  readonly opening: Origin | undefined;
  /** The origin that could not be opened, and the reason. */
  readonly failed: { readonly origin: Origin; readonly failure: FailureFacts } | undefined;
  /** The name of a file or folder in the URL that the page no longer has. */
  readonly lost: string | undefined;
}

export const NOTHING_OPEN = { client: undefined, opening: undefined, failed: undefined, lost: undefined } as const;

/** Opens one file or folder at a time. The previous one stays open until the next one is open. */
export class Opener<Origin, Client extends { readonly origin: Origin; close(): void }> {
  #state: Opened<Origin, Client> = NOTHING_OPEN;
  #controller: AbortController | undefined;
  readonly #openClient: (origin: Origin, signal: AbortSignal) => Promise<Client>;
  readonly #changed: (state: Opened<Origin, Client>) => void;

  constructor(openClient: (origin: Origin, signal: AbortSignal) => Promise<Client>, changed: (state: Opened<Origin, Client>) => void) {
    this.#openClient = openClient;
    this.#changed = changed;
  }

  /** The open origin, or the one being opened. */
  get origin(): Origin | undefined {
    const { client, opening, failed } = this.#state;
    return opening ?? failed?.origin ?? client?.origin;
  }

  async open(origin: Origin): Promise<void> {
    this.#controller?.abort();
    const mine = (this.#controller = new AbortController());
    this.#set({ ...this.#state, opening: origin, failed: undefined, lost: undefined });
    try {
      const client = await this.#openClient(origin, mine.signal);
      if (this.#controller !== mine) {
        client.close();
        return;
      }
      this.#state.client?.close();
      this.#set({ ...NOTHING_OPEN, client });
    } catch (error) {
      if (this.#controller !== mine) return;
      const isCancelled = error instanceof CallError && error.isCancelled;
      this.#set({ ...this.#state, opening: undefined, failed: isCancelled ? undefined : { origin, failure: failureFacts(error) } });
    }
  }

  /**
   * Opens what the URL names, unless it is open already.
   *
   * @param wanted undefined if the page does not have it: then nothing is open.
   * @param name its name in the URL.
   */
  follow(wanted: Origin | undefined, name: string | null, isSame: (a: Origin, b: Origin) => boolean): void {
    const now = this.origin;
    if (wanted === undefined) this.close(name ?? undefined);
    else if (now === undefined || !isSame(now, wanted)) void this.open(wanted);
  }

  /** Cancels the opening in progress. */
  cancel(): void {
    this.#controller?.abort();
    this.#controller = undefined;
    this.#set({ ...this.#state, opening: undefined });
  }

  /** @param lost the name of a file or folder that should be open but is no longer available. */
  close(lost?: string): void {
    this.#controller?.abort();
    this.#controller = undefined;
    this.#state.client?.close();
    this.#set({ ...NOTHING_OPEN, lost });
  }

  #set(state: Opened<Origin, Client>): void {
    this.#state = state;
    this.#changed(state);
  }
}
