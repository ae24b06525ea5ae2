import { BloomLevel } from '@bloom/level';
import { OpfsFolder } from '@bloom/leveldb/opfs';
import { failureFacts, type FailureFacts } from '../worker/failure.js';

/** The path in the origin private file system. */
const PATH = 'bloom-explorer/database';
/** The number of entries that are listed. */
export const LISTED_ENTRIES = 200;

export type OpfsEntry = readonly [key: string, value: string];

/** A file of the database's folder. */
export interface OpfsFile {
  readonly name: string;
  readonly byteLength: number;
}

/** The result of a lookup. */
export interface OpfsAnswer {
  readonly key: string;
  /** Undefined if the key is absent. */
  readonly value: string | undefined;
}

export interface OpfsState {
  /** The first entries; undefined until they are read. */
  readonly entries: readonly OpfsEntry[] | undefined;
  readonly hasMore: boolean;
  readonly files: readonly OpfsFile[];
  readonly answer: OpfsAnswer | undefined;
  readonly failure: FailureFacts | undefined;
}

/** The database in this browser, which all tabs with this page share. */
export class OpfsClient {
  state: OpfsState = { entries: undefined, hasMore: false, files: [], answer: undefined, failure: undefined };
  readonly #folder = new OpfsFolder(PATH);
  readonly #changed: () => void;
  /** Notifies other tabs of changes. */
  readonly #channel = new BroadcastChannel(PATH);
  readonly #level: BloomLevel;
  #isClosed = false;
  /** The last call: reads and writes run one after another, in the order of their calls. */
  #last: Promise<void> = Promise.resolve();

  /** @param changed called when the state has changed. */
  constructor(changed: () => void) {
    this.#changed = changed;
    this.#level = new BloomLevel(PATH, { worker: () => new Worker(new URL('./opfs-worker.ts', import.meta.url), { type: 'module' }) });
    this.#channel.onmessage = () => this.#do(() => this.#read());
    this.#do(() => this.#read());
  }

  put(key: string, value: string): void {
    this.#write(() => this.#level.put(key, value));
  }

  delete(key: string): void {
    this.#write(() => this.#level.del(key));
  }

  deleteAll(): void {
    this.#write(() => this.#level.clear());
  }

  get(key: string): void {
    this.#do(async () => this.#set({ answer: { key, value: await this.#level.get(key) } }));
  }

  /** The current files of the folder. */
  async filesNow(): Promise<File[]> {
    const files: File[] = [];
    for (const { name } of await this.#listFiles()) {
      const file = await this.#folder.open(name);
      if (file !== undefined) files.push(new File([(await file.read(0, file.byteLength)).slice()], name));
    }
    return files;
  }

  /** Closes the level in this tab. Other tabs continue. */
  close(): void {
    this.#isClosed = true;
    this.#channel.close();
    this.#level.close().catch(() => undefined);
  }

  #write(write: () => Promise<void>): void {
    this.#do(async () => {
      await write();
      this.#channel.postMessage('changed');
      this.#set({ answer: undefined });
      await this.#read();
    });
  }

  async #read(): Promise<void> {
    const entries = await this.#firstEntries();
    this.#set({ entries: entries.slice(0, LISTED_ENTRIES), hasMore: entries.length > LISTED_ENTRIES, files: await this.#listFiles() });
  }

  async #firstEntries(): Promise<OpfsEntry[]> {
    try {
      return await this.#level.iterator({ limit: LISTED_ENTRIES + 1 }).all();
    } catch (error) {
      // The tab that had the database open was closed in the meantime.
      if ((error as { readonly code?: unknown }).code === 'LEVEL_SNAPSHOT_LOST') return this.#firstEntries();
      throw error;
    }
  }

  async #listFiles(): Promise<OpfsFile[]> {
    const files: OpfsFile[] = [];
    for (const name of (await this.#folder.list()).sort()) {
      const file = await this.#folder.open(name);
      if (file !== undefined) files.push({ name, byteLength: file.byteLength });
    }
    return files;
  }

  #do(what: () => Promise<void>): void {
    this.#last = this.#last.then(async () => {
      if (this.#isClosed) return;
      try {
        await what();
        this.#set({ failure: undefined });
      } catch (error) {
        this.#set({ failure: failureFacts((error as Error).cause ?? error) });
      }
    });
  }

  #set(part: Partial<OpfsState>): void {
    if (this.#isClosed) return;
    this.state = { ...this.state, ...part };
    this.#changed();
  }
}
