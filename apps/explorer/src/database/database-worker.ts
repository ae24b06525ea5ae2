import type { Folder } from '@bloom/leveldb';
import { FileListFolder } from '@bloom/leveldb/browser';
import { HttpFolder } from '@bloom/leveldb/http';
import type { Work } from '../worker/calls.js';
import { failureFacts } from '../worker/failure.js';
import { serveCalls } from '../worker/serve-calls.js';
import type { EntryRange, FolderOrigin, OpenedFolder } from './database-facts.js';
import { InspectedDatabase } from './inspected-database.js';

let opened: InspectedDatabase | undefined;

function database(): InspectedDatabase {
  if (opened === undefined) throw new TypeError('no database is open');
  return opened;
}

serveCalls({
  async open(work: Work, origin: FolderOrigin, insistOnBytewise: boolean): Promise<OpenedFolder> {
    await opened?.close();
    opened = undefined;
    try {
      const folder: Folder = origin.kind === 'files' ? new FileListFolder(origin.files) : new HttpFolder(origin.url, { retries: 1 });
      opened = await InspectedDatabase.open(folder, origin.name, work, insistOnBytewise);
      return { ok: true, facts: opened.facts };
    } catch (error) {
      work.signal.throwIfAborted();
      const files = origin.kind === 'files' ? origin.files.map(({ name, size }) => ({ name, byteLength: size })) : [];
      return { ok: false, failure: failureFacts(error), files };
    }
  },
  page: (_: Work, range: EntryRange, limit: number) => database().page(range, limit),
  value: (_: Work, key: Uint8Array) => database().value(key),
  versions: (_: Work, key: Uint8Array) => database().versions(key),
  count: (work: Work) => database().count(work),
  dropped: () => database().dropped(),
  trace: (_: Work, key: Uint8Array) => database().trace(key),
  absentLookups: (work: Work) => database().absentLookups(work),
});
