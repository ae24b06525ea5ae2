import type { Work } from '../worker/calls.js';
import { serveCalls } from '../worker/serve-calls.js';
import { OpenedProfile } from './opened-profile.js';
import type { ProfileOrigin } from './profile-origin.js';
import type { StorageSearch } from './storage-place.js';

let opened: OpenedProfile | undefined;

function profile(): OpenedProfile {
  if (opened === undefined) throw new TypeError('no profile is open');
  return opened;
}

const methods = {
  open(work: Work, origin: ProfileOrigin) {
    opened = new OpenedProfile(origin);
    return opened.facts(work);
  },
  outline: (_: Work, folder: string) => profile().outline(folder),
  /** Starts a list, and ends the previous one. @returns its number. */
  list: (_: Work, search: StorageSearch) => profile().list(search),
  /** Reads further rows, `rows` at most. Progress is the number of records that were read. */
  more: (work: Work, list: number, rows: number) => profile().more(work, list, rows),
  rows: (_: Work, list: number, start: number, end: number) => profile().rows(list, start, end),
  details: (work: Work, list: number, row: number) => profile().details(work, list, row),
  children: (_: Work, node: number, start: number, end: number) => profile().children(node, start, end),
  /** The whole text of a node whose text is shown in part. */
  text: (_: Work, node: number) => profile().text(node),
  /** The contents of a Blob, a File or bytes. */
  file: (_: Work, node: number) => profile().file(node),
  /** All rows of a search as JSON Lines. */
  lines: (work: Work, search: StorageSearch) => profile().lines(work, search),
};

/** The methods that the page can call on an open profile. */
export type StorageMethods = typeof methods;

serveCalls(methods);
