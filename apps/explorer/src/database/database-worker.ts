import type { Folder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import type { Work } from '../worker/calls.js';
import type { AbsentKind, FilterChoice } from '../trial/trial-facts.js';
import { serveCalls } from '../worker/serve-calls.js';
import type { DatabaseFacts, EntryRange } from './database-facts.js';
import type { FolderOrigin } from './folder-origin.js';
import { folderWithGaps } from './folder-with-gaps.js';
import { InspectedDatabase } from './inspected-database.js';
import { pickedFolder } from './picked-folder.js';

let opened: InspectedDatabase | undefined;

function database(): InspectedDatabase {
  if (opened === undefined) throw new TypeError('no database is open');
  return opened;
}

const methods = {
  async open(work: Work, origin: FolderOrigin): Promise<DatabaseFacts> {
    const given: Folder = origin.kind === 'files' ? pickedFolder(origin.files) : new HttpFolder(origin.url, { retries: 1, files: origin.files });
    const folder = origin.hasGaps === true ? await folderWithGaps(given) : given;
    opened = await InspectedDatabase.open(folder, origin.name, work, origin.isForcedBytewise === true);
    return opened.facts;
  },
  page: (_: Work, range: EntryRange, limit: number) => database().page(range, limit),
  value: (_: Work, key: Uint8Array) => database().value(key),
  versions: (_: Work, key: Uint8Array) => database().versions(key),
  count: (work: Work) => database().count(work),
  dropped: () => database().dropped(),
  trace: (_: Work, key: Uint8Array) => database().trace(key),
  storedFilter: (_: Work, file: string, number: number) => database().storedFilter(file, number),
  startTrial: async (work: Work, asked: readonly Uint8Array[] | AbsentKind, seed: number) => (await database().trials()).start(work, asked, seed),
  tryFilters: async (work: Work, choice: FilterChoice) => (await database().trials()).try(work, choice),
  absentLookups: (work: Work, seed: number) => database().absentLookups(work, seed),
};

/** The methods that the page can call on an open database. */
export type DatabaseMethods = typeof methods;

serveCalls(methods);
