/** Finds the LevelDB folders in a profile, an app's folder or any other folder. */
import { readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type FolderKind, kindOfFolder } from '@bloom/web-storage';
import { Failure, failureOf } from '../failure.js';
import { storageByName } from './decoded-entries.js';

/** A LevelDB folder, or a folder that cannot be read. */
export interface FoundFolder {
  readonly path: string;
  /** The path from the start of the search, with `/`; empty for that folder itself. */
  readonly name: string;
  /** Bytes of all its files. */
  readonly bytes: number;
  /** Why its files cannot be listed. */
  readonly problem?: Failure;
}

/** Logs and tables. */
const CONTENTS = /^\d+\.(?:log|ldb|sst)$/u;

/**
 * Finds the folders that have a CURRENT and a MANIFEST, and those with the name of a storage that lack one of these files. Folders that cannot be read have a `problem`. Links to folders are not followed.
 *
 * @throws Failure when the first folder cannot be read.
 */
export function* foundFolders(root: string): Generator<FoundFolder, void, undefined> {
  if (root === '') throw new Failure('the name of the folder is empty');
  const waiting = [{ path: root, name: '' }];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { path, name } = folder;
    const inside: typeof waiting = [];
    const files: string[] = [];
    let bytes = 0;
    try {
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        if (entry.isDirectory()) inside.push({ path: join(path, entry.name), name: name === '' ? entry.name : `${name}/${entry.name}` });
        else if (entry.isFile() || (entry.isSymbolicLink() && isFile(join(path, entry.name)))) files.push(entry.name);
      }
      if (isDatabase(path, files)) bytes = files.reduce((sum, file) => sum + sizeOf(join(path, file)), 0);
    } catch (error) {
      const failure = failureOf(path, error);
      if (name === '' || !(failure instanceof Failure)) throw failure;
      yield { path, name, bytes: 0, problem: failure };
      continue;
    }
    if (isDatabase(path, files)) yield { path, name, bytes };
    waiting.push(...inside.sort((a, b) => (a.name < b.name ? 1 : -1)));
  }
}

function isDatabase(path: string, files: readonly string[]): boolean {
  if (files.includes('CURRENT') && files.some((file) => /^MANIFEST-\d+$/u.test(file))) return true;
  return storageByName(path) !== undefined && files.some((file) => CONTENTS.test(file));
}

/** Whether a link leads to a file. */
function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // It leads to itself, or to a folder that cannot be read.
    return false;
  }
}

/** What a found folder is, according to its whole path: a search can start within a profile. @param origin as `kindOfFolder` takes it. */
export function kindOf({ path, name }: FoundFolder, origin?: string): FolderKind {
  const whole = resolve(path).replaceAll('\\', '/');
  const kind = kindOfFolder(whole, origin);
  return kind.title === whole ? { ...kind, title: name === '' ? basename(whole) : name } : kind;
}

function sizeOf(path: string): number {
  // A browser may have deleted the folder.
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
