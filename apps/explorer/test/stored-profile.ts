import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type Folder, WritableMemoryFolder, Database } from '@bloom/leveldb';
import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import { storedEntries } from '@bloom/leveldb/inspect';
import { folderFiles } from '@bloom/fixtures';
import { profileOf } from '../src/storage/dropped-profile.js';
import { OpenedProfile } from '../src/storage/opened-profile.js';

export const samplePath = join(import.meta.dirname, '../samples/web');
export const NOTES = 'IndexedDB/https_notes.example_0.indexeddb.leveldb';

export const work = (signal = new AbortController().signal) => ({ signal, progress: () => undefined });

/** A profile with these files. */
export function opened(files: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): OpenedProfile {
  return new OpenedProfile(profileOf(Array.from(files, ({ name, bytes }) => ({ path: `profile/${name}`, file: new File([bytes as Uint8Array<ArrayBuffer>], name.slice(name.lastIndexOf('/') + 1)) }))));
}

/** The files of a folder and of those in it, by their paths. */
export function filesBelow(path: string): { readonly name: string; readonly bytes: Uint8Array }[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ name: relative(path, file).replaceAll(sep, '/'), bytes: new Uint8Array(readFileSync(file)) }));
}

/** Writes the sample's IndexedDB anew, and `change` what is stored in it. */
export async function rewrittenNotes(change: (database: Database, first: { readonly key: Uint8Array; readonly value: Uint8Array }) => Promise<void>): Promise<Map<string, Uint8Array>> {
  const folder = new WritableMemoryFolder(folderFiles(join(samplePath, NOTES)));
  const options = { comparator: idbComparator, filterPolicies: [idbFilterPolicy] } as const;
  const first = await firstNote(folder);
  const database = await Database.open(folder, options);
  await change(database, first);
  await database.close();
  return folder.files();
}

/** The key of the note with a number. */
export function noteKey(number: number): Uint8Array {
  const key = new Uint8Array([0, 1, 1, 1, 3, 0, 0, 0, 0, 0, 0, 0, 0]);
  new DataView(key.buffer).setFloat64(5, number, true);
  return key;
}

/** The key of the entry with the blobs of the note with a number. */
export function externalObjectsKey(number: number): Uint8Array {
  const key = noteKey(number);
  key[3] = 3;
  return key;
}

async function firstNote(folder: Folder): Promise<{ readonly key: Uint8Array; readonly value: Uint8Array }> {
  const wanted = Buffer.from(noteKey(1));
  for await (const { key, value } of storedEntries(folder)) if (wanted.equals(key)) return { key: key.slice(), value: value.slice() };
  throw new Error('the sample has no first note');
}
