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

serveCalls({
  open(work: Work, origin: ProfileOrigin) {
    opened = new OpenedProfile(origin);
    return opened.facts(work);
  },
  outline: (_: Work, folder: string) => profile().outline(folder),
  list: (_: Work, search: StorageSearch) => profile().list(search),
  more: (work: Work, list: number, count: number) => profile().more(work, list, count),
  rows: (_: Work, list: number, start: number, end: number) => profile().rows(list, start, end),
  details: (work: Work, list: number, row: number) => profile().details(work, list, row),
  children: (_: Work, node: number, start: number, end: number) => profile().children(node, start, end),
  text: (_: Work, node: number) => profile().text(node),
  file: (_: Work, node: number) => profile().file(node),
  lines: (work: Work, search: StorageSearch) => profile().lines(work, search),
});
