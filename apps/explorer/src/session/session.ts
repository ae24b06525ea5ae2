/**
 * The open files and the state of each view. The URL contains the state of the current view, so that a link restores it.
 */
import { DatabaseClient } from '../database/database-client.js';
import { EVERYTHING, type EntrySearch, paramsOfSearch, searchFromParams } from '../database/entry-search.js';
import type { Dropped } from '../controls/dropped-files.js';
import { droppedFolders, folderFromParams, type FolderOrigin, isSameFolder, paramsOfFolder } from '../database/folder-origin.js';
import { BYTE_FORMS, type ByteForm } from '../bytes/byte-form-names.js';
import { type FilterState, INITIAL, paramsFromState, stateFromParams } from '../filter/filter-state.js';
import type { LiveClient } from '../live/live-client.js';
import { liveFromParams, type LiveQuery, NEW_LIVE, paramsOfLive } from '../live/live-query.js';
import { type LookupQuery, NO_QUERY, paramsOfQuery, queryFromParams } from '../lookup/lookup-query.js';
import { keepKeys } from '../filter/own-keys.js';
import { RateClient } from '../filter/rate-client.js';
import { hashOf, parseRoute, type View } from '../shell/route.js';
import { paramsOfStory, stepFrom, STORY_START, storyFromParams, type StoryState } from '../story/story-state.js';
import { type FileClient, openFile } from '../table/table-client.js';
import { fileFromParams, type FileOrigin, isSameFile, paramsOfFile } from '../table/file-origin.js';
import { paramsOfPlace, placeFromParams, START, type TablePlace } from '../table/table-place.js';
import { type ProfileOrigin, sampleProfile } from '../storage/profile-origin.js';
import { StorageClient } from '../storage/storage-client.js';
import { paramsOfStorage, storageFromParams, type StorageSearch, WHOLE_PROFILE } from '../storage/storage-place.js';
import { DroppedNames, identityOf } from './dropped-names.js';
import { NOTHING_OPEN, type Opened, Opener } from './opener.js';
import { Watchable } from './watchable.js';

export interface SessionState {
  readonly view: View;
  readonly story: StoryState;
  /** The only step of the story that is shown when it is embedded in another page, from `?embed=` in the URL. */
  readonly embedded: number | undefined;
  readonly filter: FilterState;
  readonly table: Opened<FileOrigin, FileClient>;
  readonly place: TablePlace;
  readonly database: Opened<FolderOrigin, DatabaseClient>;
  /** Databases that were dropped together, from which the user chooses one. */
  readonly choices: readonly FolderOrigin[];
  readonly storage: Opened<ProfileOrigin, StorageClient>;
  readonly stored: StorageSearch;
  /** The form in which keys of the database are shown; undefined for its default. */
  readonly keyForm: ByteForm | undefined;
  readonly search: EntrySearch;
  readonly query: LookupQuery;
  readonly live: LiveQuery;
}

/** The parts of the state that views change. */
export type ViewState = Pick<SessionState, 'story' | 'filter' | 'place' | 'keyForm' | 'search' | 'query' | 'live' | 'stored'>;

/** The initial values of the parts of the state that belong to a database. */
const NEW_DATABASE = { keyForm: undefined, search: EVERYTHING, query: NO_QUERY, choices: [] };

/** The delay of URL changes, because browsers throttle pages that change their URL with each keystroke. */
const URL_DELAY_MS = 100;

function identityOfProfile({ folders }: ProfileOrigin): string {
  return identityOf(folders.flatMap(({ files }) => files));
}

export class Session extends Watchable {
  #state: SessionState = { view: 'story', story: STORY_START, embedded: undefined, filter: INITIAL, table: NOTHING_OPEN, place: START, database: NOTHING_OPEN, ...NEW_DATABASE, storage: NOTHING_OPEN, stored: WHOLE_PROFILE, live: NEW_LIVE };
  readonly #tables = new Opener<FileOrigin, FileClient>(
    (origin, signal) => openFile(origin, { signal }),
    (table) => this.#opened({ table }),
  );
  readonly #databases = new Opener<FolderOrigin, DatabaseClient>(
    (origin, signal) => DatabaseClient.open(origin, { signal }),
    (database) => this.#opened({ database }),
  );
  readonly #profiles = new Opener<ProfileOrigin, StorageClient>(
    (origin, signal) => StorageClient.open(origin, { signal }),
    (storage) => this.#opened({ storage }),
  );
  /** Measurements: for the wanted rate, and for the curve. */
  readonly wishes = new RateClient();
  readonly rates = new RateClient();
  /** Dropped files by their names in the URL, so that going back finds them while the page is open. */
  readonly #droppedFiles = new DroppedNames<FileOrigin>();
  readonly #droppedFolders = new DroppedNames<FolderOrigin>();
  /** Profiles by the files of a database that is shown alone. */
  readonly #profilesOfFiles = new WeakMap<readonly File[], ProfileOrigin>();
  readonly #droppedProfiles = new DroppedNames<ProfileOrigin>();
  /** The filter's parameters, cached because they are long if many keys were typed. */
  #filterParams: { readonly of: FilterState; readonly params: URLSearchParams } | undefined;
  #urlTimer: ReturnType<typeof setTimeout> | undefined;
  /** The hash that was last written or followed. */
  #hash = location.hash;
  #live: LiveClient | undefined;

  /** Takes the state from the URL, and follows its changes. */
  start(): void {
    this.#set({ embedded: stepFrom(new URLSearchParams(location.search).get('embed')) });
    this.#follow();
    addEventListener('hashchange', () => this.#follow());
    addEventListener('pagehide', () => this.saveUrl());
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Changes the state of views without a step in the history. */
  change(part: Partial<ViewState>): void {
    this.#set(part);
    clearTimeout(this.#urlTimer);
    this.#urlTimer = setTimeout(() => this.saveUrl(), URL_DELAY_MS);
  }

  /** Goes to a view, which keeps its state except for `part`. Back returns from it. */
  show(view: View, part: Partial<ViewState> = {}): void {
    this.saveUrl();
    this.#set({ ...part, view });
    this.#write('push');
  }

  /** Opens dropped or picked files in any view. */
  take(dropped: Dropped): void {
    const { files, name } = dropped;
    const [first] = files;
    if (first === undefined) {
      // Opening it reports what is missing.
      if (name === '') return;
      const { view } = this.#state;
      if (view === 'storage') this.openProfile({ name, folders: [] });
      else this.openDatabase({ kind: 'files', name, files: [] }, view === 'lookup' ? 'lookup' : 'database');
      return;
    }
    if (files.length === 1 && !first.path.includes('/')) {
      this.openTable({ kind: 'file', file: first.file });
      return;
    }
    void this.#takeFolders(dropped);
  }

  async #takeFolders({ name, files: dropped, again, unread }: Dropped): Promise<void> {
    // Loaded on demand, because the first view does not need it.
    const { isOfBrowser, profileOf } = await import('../storage/dropped-profile.js');
    const { view: shown } = this.#state;
    const profile = profileOf(dropped, again, unread);
    // The database view and the lookup view show a single folder of a browser like any other folder.
    const isWanted = profile.folders.length > 1 || !(shown === 'database' || shown === 'lookup');
    if (shown === 'storage' || (isWanted && isOfBrowser(profile))) {
      this.openProfile(profile.folders.length > 0 ? profile : { ...profile, name });
      return;
    }
    const folders = droppedFolders(dropped);
    const view = shown === 'lookup' ? 'lookup' : 'database';
    const [only] = folders;
    if (folders.length === 1 && only?.kind === 'files' && isOfBrowser(profile)) this.#profilesOfFiles.set(only.files, profile);
    if (folders.length === 1) this.openDatabase(folders[0]!, view);
    else {
      this.show(view);
      this.#set({ choices: folders });
    }
  }

  openTable(origin: FileOrigin): void {
    if (origin.kind === 'file') this.#droppedFiles.add(origin, origin.file.name, origin.file, origin.copyOf ?? identityOf([origin.file]));
    this.#goTo('table', this.#tables.origin === undefined, { place: START });
    void this.#tables.open(origin);
  }

  /** @param view the view to show: the database or the lookup. */
  openDatabase(origin: FolderOrigin, view: 'database' | 'lookup' = 'database'): void {
    if (origin.kind === 'files') this.#droppedFolders.add(origin, origin.name, origin.files, origin.copyOf ?? identityOf(origin.files));
    this.#goTo(view, this.#databases.origin === undefined, NEW_DATABASE);
    void this.#databases.open(origin);
  }

  /** Shows the stored data of a browser. */
  openProfile(origin: ProfileOrigin, stored = WHOLE_PROFILE): void {
    if (origin !== sampleProfile) this.#droppedProfiles.add(origin, origin.name, origin.folders, identityOfProfile(origin));
    this.#goTo('storage', this.#profiles.origin === undefined, { stored });
    void this.#profiles.open(origin);
  }

  /** A database as its own profile, with the blobs that were dropped with it; undefined if no browser wrote it. */
  storedIn(origin: FolderOrigin): ProfileOrigin | undefined {
    return origin.kind === 'files' ? this.#profilesOfFiles.get(origin.files) : undefined;
  }

  /** Reads the open profile again. */
  async rereadProfile({ name, folders, again }: ProfileOrigin): Promise<void> {
    if (again === undefined) return;
    const { profileOf } = await import('../storage/dropped-profile.js');
    const { files, unread } = await again();
    const origin = { ...profileOf(files, again, unread), name };
    this.#droppedProfiles.replace(folders, origin, name, origin.folders, identityOfProfile(origin));
    await this.#profiles.open(origin);
  }

  closeProfile(): void {
    this.#goTo('storage', false, { stored: WHOLE_PROFILE });
    this.#profiles.close();
  }

  cancelProfile(): void {
    this.#profiles.cancel();
  }

  /** Goes back to the database of a file, and opens it if another one is open. */
  showDatabase(origin: FolderOrigin): void {
    const now = this.#databases.origin;
    if (now !== undefined && isSameFolder(now, origin)) this.show('database');
    else this.openDatabase(origin);
  }

  /** The live database, which continues while other views are shown. @param start creates it the first time. */
  liveDatabase(start: () => LiveClient): LiveClient {
    return (this.#live ??= start());
  }

  closeTable(): void {
    this.#goTo('table', false, { place: START });
    this.#tables.close();
  }

  closeDatabase(): void {
    this.#goTo(this.#state.view, false, NEW_DATABASE);
    this.#databases.close();
  }

  cancelTable(): void {
    this.#tables.cancel();
  }

  cancelDatabase(): void {
    this.#databases.cancel();
  }

  /** The link to a view in its current state. */
  linkTo(view: View): string {
    return hashOf(view, this.#paramsOf(view));
  }

  /** Writes the current state to the URL now instead of a moment later. */
  saveUrl(): void {
    if (this.#urlTimer === undefined) return;
    this.#write('replace');
  }

  #set(part: Partial<SessionState>): void {
    this.#state = { ...this.#state, ...part };
    this.changed();
  }

  #opened(part: Partial<SessionState>): void {
    this.#set(part);
    this.#write('replace');
  }

  /** @param isFirst whether the view was empty, so that no step back is needed. */
  #goTo(view: View, isFirst: boolean, part: Partial<SessionState>): void {
    this.saveUrl();
    const stays = isFirst && view === this.#state.view && location.hash === this.#hash;
    this.#set({ ...part, view });
    // What is being opened takes this step's place in the history as soon as its name is known, which is at once.
    if (stays) return;
    history.pushState(null, '', location.hash || '#');
    this.#hash = location.hash;
  }

  #paramsOf(view: View): URLSearchParams {
    const { story, filter, place, keyForm, search, query, live, stored } = this.#state;
    const params = new URLSearchParams();
    switch (view) {
      case 'story':
        return paramsOfStory(story);
      case 'filter':
        if (this.#filterParams?.of !== filter) {
          const { params: all, isWhole } = paramsFromState(filter);
          if (!isWhole && filter.keys !== this.#filterParams?.of.keys) keepKeys(filter.keys);
          this.#filterParams = { of: filter, params: all };
        }
        return this.#filterParams.params;
      case 'table':
        if (this.#tables.origin !== undefined) paramsOfFile(params, this.#tables.origin, this.#droppedFiles);
        else if (this.#state.table.lost !== undefined) params.set('file', this.#state.table.lost);
        paramsOfPlace(params, place);
        return params;
      case 'live':
        paramsOfLive(params, live);
        return params;
      case 'opfs':
        return params;
      case 'storage':
        if (this.#profiles.origin === sampleProfile) params.set('sample', '1');
        else if (this.#profiles.origin !== undefined) params.set('profile', this.#droppedProfiles.nameOf(this.#profiles.origin.folders) ?? this.#profiles.origin.name);
        else if (this.#state.storage.lost !== undefined) params.set('profile', this.#state.storage.lost);
        paramsOfStorage(params, stored);
        return params;
      case 'database':
      case 'lookup':
        if (this.#databases.origin !== undefined) paramsOfFolder(params, this.#databases.origin, this.#droppedFolders);
        else if (this.#state.database.lost !== undefined) params.set('folder', this.#state.database.lost);
        if (keyForm !== undefined) params.set('form', keyForm);
        if (view === 'database') paramsOfSearch(params, search);
        else paramsOfQuery(params, query);
        return params;
    }
  }

  #write(how: 'push' | 'replace'): void {
    clearTimeout(this.#urlTimer);
    this.#urlTimer = undefined;
    // After Back, `location.hash` is already that of another entry, while `hashchange` is still to come. That entry must not be overwritten.
    if (how === 'replace' && location.hash !== this.#hash) return;
    const hash = this.linkTo(this.#state.view);
    if (hash === location.hash) return;
    if (how === 'push') history.pushState(null, '', hash);
    else history.replaceState(null, '', hash);
    this.#hash = location.hash;
  }

  /** Takes the state from the URL after a link, Back, or typing. A view without parameters keeps its state. */
  #follow(): void {
    clearTimeout(this.#urlTimer);
    this.#urlTimer = undefined;
    this.#hash = location.hash;
    const { view, params } = parseRoute(location.hash);
    const isBare = params.toString() === '';
    const part: Partial<SessionState> = { view };
    if (isBare || view === 'filter') {
      this.#set(isBare ? part : { ...part, filter: stateFromParams(params) });
      if (location.hash !== '') this.#write('replace');
      return;
    }
    if (view === 'live') this.#set({ ...part, live: liveFromParams(params) });
    else if (view === 'story') this.#set({ ...part, story: storyFromParams(params, this.#state.story) });
    else if (view === 'table') {
      this.#set({ ...part, place: placeFromParams(params) });
      const name = params.get('file');
      this.#tables.follow(fileFromParams(params) ?? this.#droppedFiles.get(name), name, isSameFile);
    } else if (view === 'storage') {
      this.#set({ ...part, stored: storageFromParams(params) });
      const name = params.get('profile');
      this.#profiles.follow(params.has('sample') ? sampleProfile : this.#droppedProfiles.get(name), name, Object.is);
    } else {
      const form = BYTE_FORMS.find((known) => known === params.get('form'));
      this.#set({ ...part, keyForm: form, ...(view === 'database' ? { search: searchFromParams(params) } : { query: queryFromParams(params) }) });
      const name = params.get('folder');
      const wanted = folderFromParams(params) ?? this.#droppedFolders.get(name);
      const now = this.#databases.origin;
      // The state of the other view belongs to another database.
      if (wanted !== undefined && (now === undefined || !isSameFolder(now, wanted))) this.#set(view === 'database' ? { query: NO_QUERY } : { search: EVERYTHING });
      this.#databases.follow(wanted, name, isSameFolder);
    }
  }
}
