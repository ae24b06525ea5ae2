import { type CallOptions, WorkerCalls } from '../worker/worker-calls.js';
import { type ProfileOrigin, sampleProfile } from './profile-origin.js';
import type { FolderFacts, ListFacts, NodeFacts, OutlineNode, RowDetails, RowFacts } from './storage-facts.js';
import type { StorageSearch } from './storage-place.js';

/** A profile that is open in its own worker. */
export class StorageClient {
  readonly origin: ProfileOrigin;
  readonly folders: readonly FolderFacts[];
  readonly #calls: WorkerCalls;

  private constructor(origin: ProfileOrigin, folders: readonly FolderFacts[], calls: WorkerCalls) {
    this.origin = origin;
    this.folders = folders;
    this.#calls = calls;
  }

  /** Opens a profile, or the sample. */
  static async open(origin: ProfileOrigin, options: CallOptions = {}): Promise<StorageClient> {
    const given = origin === sampleProfile ? await (await import('./sample-profile.js')).loadSampleProfile(options.signal) : origin;
    const calls = new WorkerCalls(new Worker(new URL('./storage-worker.ts', import.meta.url), { type: 'module' }));
    try {
      return new StorageClient(origin, await calls.call<readonly FolderFacts[]>('open', [{ name: given.name, folders: given.folders }], options), calls);
    } catch (error) {
      calls.close();
      throw error;
    }
  }

  outline(folder: string): Promise<readonly OutlineNode[]> {
    return this.#calls.call('outline', [folder]);
  }

  /** Starts a list, and ends the previous one. @returns its number. */
  list(search: StorageSearch): Promise<number> {
    return this.#calls.call('list', [search]);
  }

  /** Reads further rows, `rows` at most. Progress is the number of records that were read. */
  more(list: number, rows: number, options: CallOptions): Promise<ListFacts> {
    return this.#calls.call('more', [list, rows], options);
  }

  rows(list: number, start: number, end: number): Promise<readonly RowFacts[]> {
    return this.#calls.call('rows', [list, start, end]);
  }

  details(list: number, row: number, options: CallOptions): Promise<RowDetails> {
    return this.#calls.call('details', [list, row], options);
  }

  children(node: number, start: number, end: number): Promise<readonly NodeFacts[]> {
    return this.#calls.call('children', [node, start, end]);
  }

  /** The whole text of a node whose text is shown in part. */
  text(node: number): Promise<string> {
    return this.#calls.call('text', [node]);
  }

  /** The contents of a Blob, a File or bytes. */
  file(node: number): Promise<Blob> {
    return this.#calls.call('file', [node]);
  }

  /** All rows of a search as JSON Lines. */
  lines(search: StorageSearch, options: CallOptions): Promise<Blob> {
    return this.#calls.call('lines', [search], options);
  }

  close(): void {
    this.#calls.close();
  }
}
