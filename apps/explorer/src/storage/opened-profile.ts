import { CorruptionError } from '@bloom/bytes';
import type { Work } from '../worker/calls.js';
import { failureFacts } from '../worker/failure.js';
import { entrySources } from './entry-sources.js';
import { outlineOf } from './folder-outline.js';
import type { ProfileOrigin } from './profile-origin.js';
import { jsonLines } from './json-lines.js';
import { jsonOf } from './json-of-text.js';
import { RowList } from './row-list.js';
import type { FolderFacts, ListFacts, NodeFacts, OutlineNode, RowDetails, RowFacts } from './storage-facts.js';
import type { EntrySource } from './stored-entry.js';
import { StoredFolder } from './stored-folder.js';
import type { StoragePlace, StorageSearch } from './storage-place.js';
import { ValueTree } from './value-tree.js';
import { versionSources } from './version-sources.js';

/** A profile in the worker: its folders, one list of rows, and the values of one row. */
export class OpenedProfile {
  readonly #folders: readonly StoredFolder[];
  #list: { readonly number: number; readonly rows: RowList } | undefined;
  #lists = 0;
  #tree = new ValueTree();

  constructor({ folders, name }: ProfileOrigin) {
    if (folders.length === 0) throw new CorruptionError('BLOOM_NOT_A_DATABASE', { structure: 'folder', offset: 0 }, 'it has no LevelDB database, because neither it nor any folder in it has a CURRENT');
    this.#folders = folders.map((folder) => new StoredFolder(folder, name));
  }

  async facts({ signal }: Work): Promise<FolderFacts[]> {
    const facts: FolderFacts[] = [];
    for (const folder of this.#folders) {
      signal.throwIfAborted();
      const { path, byteLength } = folder;
      facts.push({ path, title: await folder.fullTitle(), byteLength, storage: await folder.kind });
    }
    return facts;
  }

  outline(path: string): Promise<readonly OutlineNode[]> {
    return outlineOf(this.#folder(path));
  }

  list(search: StorageSearch): number {
    this.#list?.rows.close();
    const number = this.#lists++;
    this.#list = { number, rows: new RowList(this.#sources(search), search.find, depthOf(search)) };
    return number;
  }

  more(work: Work, list: number, count: number): Promise<ListFacts> {
    return this.#rows(list).more(work, count);
  }

  rows(list: number, start: number, end: number): RowFacts[] {
    return this.#rows(list).rows(start, end);
  }

  async details({ signal }: Work, list: number, row: number): Promise<RowDetails> {
    const { key, primaryKey, value, isComplete, error, where, version } = await this.#rows(list).entry(row, signal);
    const tree = (this.#tree = new ValueTree());
    const isItem = where.items !== undefined;
    const json = isItem && typeof value === 'string' ? jsonOf(value) : undefined;
    return {
      key: tree.root('key', key),
      primaryKey: primaryKey === undefined || primaryKey === key ? undefined : tree.root('primary key', primaryKey),
      value: error !== undefined || version?.state === 'deletion' ? undefined : tree.root('value', value),
      json: json && tree.root('JSON', json),
      isComplete,
      failure: error && failureFacts(error),
      version: version && { ...version, sequence: version.sequence.toString() },
    };
  }

  children(node: number, start: number, end: number): readonly NodeFacts[] {
    return this.#tree.children(node, start, end);
  }

  text(node: number): string {
    return this.#tree.text(node);
  }

  file(node: number): Promise<Blob> {
    return this.#tree.file(node);
  }

  lines(work: Work, search: StorageSearch): Promise<Blob> {
    return jsonLines(this.#sources(search), search.find, work);
  }

  #sources(search: StorageSearch): AsyncGenerator<EntrySource, void, undefined> {
    return search.hasVersions ? versionSources(this.#folders, search) : entrySources(this.#folders, search);
  }

  #folder(path: string): StoredFolder {
    const folder = this.#folders.find((each) => each.path === path);
    if (folder === undefined) throw new RangeError(`the profile has no folder ${JSON.stringify(path)}`);
    return folder;
  }

  #rows(list: number): RowList {
    // Another list was requested in the meantime.
    if (this.#list?.number !== list) throw new DOMException('the list was closed', 'AbortError');
    return this.#list.rows;
  }
}

/** The number of names that all rows of a place have in common. */
function depthOf({ folder, database, store, items }: StoragePlace): number {
  if (store !== undefined || items !== undefined) return 3;
  if (database !== undefined) return 2;
  return folder === undefined ? 0 : 1;
}
