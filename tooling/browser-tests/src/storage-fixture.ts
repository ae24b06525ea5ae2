/** Writes the storage of a profile as a fixture. */
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

// Text logs have paths of the machine in them.
const isData = (path: string): boolean => !['LOCK', 'LOG', 'LOG.old'].includes(basename(path));

/**
 * Writes a fixture.
 *
 * @param profile the folder with the storage.
 * @param stored the report of the page, for `stored.json`.
 */
export function writeStorageFixture(target: string, profile: string, stored: object): void {
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const copy = (from: string, to: string): void => cpSync(from, join(target, to), { recursive: true, filter: isData });
  const indexedDb = join(profile, 'IndexedDB');
  for (const name of readdirSync(indexedDb)) copy(join(indexedDb, name), `page.indexeddb.${name.endsWith('.blob') ? 'blob' : 'leveldb'}`);
  copy(join(profile, 'Local Storage', 'leveldb'), 'local-storage');
  if (existsSync(join(profile, 'Session Storage'))) copy(join(profile, 'Session Storage'), 'session-storage');
  writeFileSync(join(target, 'stored.json'), `${JSON.stringify(stored, undefined, 1)}\n`);
}
