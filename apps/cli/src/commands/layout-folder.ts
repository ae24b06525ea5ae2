import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type FileName, parseFileName } from '@bloom/leveldb';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { Failure } from '../failure.js';
import { withDatabaseFolder } from '../inputs/opened-folder.js';
import { Lines } from '../outputs/output.js';

const MEANINGS: Readonly<Record<FileName['type'], string>> = {
  current: 'CURRENT: the name of the MANIFEST',
  lock: 'LOCK: held by the program that writes',
  'info log': 'text for people',
  manifest: 'MANIFEST: a log of version edits',
  log: 'log of write batches',
  table: 'table',
  temporary: 'temporary: CURRENT before its rename',
};

/** Prints the files of a folder: length, name, and the meaning of the name. */
export async function layoutFolder(path: string, asJson: boolean): Promise<void> {
  await withDatabaseFolder({ kind: 'folder', path }, {}, async () => {
    const names = new SyncNodeFolder(path).list().sort();
    if (names.every((name) => parseFileName(name) === undefined)) {
      throw new Failure(`${path}: it has no files of a LevelDB database; to see a table, pass its file`);
    }
    const lines = new Lines();
    const width = Math.max(0, ...names.map((name) => name.length));
    for (const name of names) {
      const stat = statSync(join(path, name), { throwIfNoEntry: false });
      // A missing file has just been deleted by the program that writes the database.
      if (stat === undefined) continue;
      const type = parseFileName(name)?.type;
      const meaning = stat.isDirectory() ? 'folder' : type === undefined ? 'not named like a file of a database' : MEANINGS[type];
      if (asJson) await lines.json({ input: path, name, bytes: stat.size, type: stat.isDirectory() ? 'folder' : (type ?? null) });
      else await lines.add(`${String(stat.size).padStart(10)}  ${name.padEnd(width)}  ${meaning}`);
    }
    await lines.flush();
  });
}
