import { basename, resolve } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { count as countText } from '@bloom/report';
import { type FolderKind, originText, recognizeStorage, type StorageKind } from '@bloom/web-storage';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { lockHolders } from '../inputs/lock-holder.js';
import { folderFailure, openDatabase } from '../inputs/opened-folder.js';
import { Lines, note } from '../outputs/output.js';
import { shortSize } from '../outputs/screen-text.js';
import { loadPlugins } from '../plugins/plugin-options.js';
import { databasesIn, originOf } from '../web-storage/exported-folder.js';
import { type FoundFolder, foundFolders, kindOf } from '../web-storage/found-folders.js';

interface LsOptions {
  readonly json?: true;
}

/** The facts of a listed folder. */
interface ListedFolder {
  readonly folder: FoundFolder;
  readonly kind: FolderKind;
  /** Undefined if the folder cannot be read. */
  readonly entries: number | undefined;
  readonly problem: string | undefined;
  readonly inUseBy: readonly string[];
}

export function addLs(program: Command): void {
  program
    .command('ls')
    .summary("list the databases in a browser's profile or an app's folder")
    .description(
      "Finds every LevelDB database in a folder and its subfolders, such as a browser's profile or the data of an Electron app. Prints for each what it is, how many entries it has, how large it is, and, on Linux, which programs have it locked. Exits with 1 if there is none, or if one cannot be read.",
    )
    .argument('<folder...>', 'profiles, or any other folders')
    .option('--json', 'print one JSON object for each database')
    .addHelpText(
      'after',
      `
Examples:
  bloom ls ~/.config/google-chrome/Default
  bloom ls ~/.config/Code
  bloom ls ~/.config/obsidian --json`,
    )
    .action(ls);
}

async function ls(paths: readonly string[], { json }: LsOptions): Promise<void> {
  const lines = new Lines();
  try {
    for (const path of paths) {
      const listed: ListedFolder[] = [];
      for (const folder of foundFolders(path)) {
        const one = await listFolder(folder);
        if (one.problem !== undefined) process.exitCode = EXIT.no;
        if (json) await lines.json(jsonOf(one));
        listed.push(one);
      }
      if (listed.length === 0) {
        process.exitCode = EXIT.no;
        note(`${path}: no LevelDB database in it`);
      }
      if (json || listed.length === 0) continue;
      if (paths.length > 1) await lines.add(`${path}:`);
      for (const line of rowsOf(listed)) await lines.add(line);
    }
  } finally {
    await lines.flush();
  }
}

async function listFolder(found: FoundFolder): Promise<ListedFolder> {
  const kind = kindOf(found);
  if (found.problem !== undefined) return { folder: found, kind, entries: undefined, problem: problemIn(found, found.problem), inUseBy: [] };
  const folder = new SyncNodeFolder(found.path);
  const inUseBy = lockHolders(found.path);
  try {
    const database = await openDatabase(folder, await loadPlugins({}), { damage: 'skip' });
    try {
      let entries = 0;
      for (const _ of database.keys()) entries++;
      const { dropped } = database.describe();
      const problem = dropped.length === 0 ? undefined : `damaged: ${dropped[0]!.reason}`;
      return { folder: found, kind: await refined(kind, found), entries, problem, inUseBy };
    } finally {
      database.close();
    }
  } catch (error) {
    const failure = folderFailure(found.path, folder, error);
    if (!(failure instanceof Failure)) throw failure;
    return { folder: found, kind, entries: undefined, problem: problemIn(found, failure), inUseBy };
  }
}

function problemIn({ path }: FoundFolder, { message }: Failure): string {
  return message.startsWith(`${path}: `) ? message.slice(path.length + 2) : message;
}

const TITLES: Readonly<Record<StorageKind, string>> = { indexeddb: 'IndexedDB', 'local-storage': 'Local Storage', 'session-storage': 'Session Storage' };

/** The kind and the origin of a folder by its contents, if its path does not determine them. */
async function refined(kind: FolderKind, found: FoundFolder): Promise<FolderKind> {
  const { path } = found;
  if (kind.storage !== undefined && kind.lacksOrigin !== true) return kind;
  const storage = kind.storage ?? (await recognizeStorage(new NodeFolder(path), { codecs: allCodecs, damage: 'skip' }));
  if (storage === undefined) return kind;
  const origin = storage === 'indexeddb' ? originOf(await databasesIn(path, { damage: 'skip' })) : undefined;
  if (kind.storage !== undefined) return kindOf(found, origin);
  return { storage, title: origin === undefined ? TITLES[storage] : `${TITLES[storage]} of ${originText(origin)}` };
}

function jsonOf({ folder, kind, entries, problem, inUseBy }: ListedFolder): object {
  return { path: folder.path, what: whatIs(folder, kind), storage: kind.storage ?? null, entries: entries ?? null, bytes: folder.bytes, inUseBy, problem: problem ?? null };
}

/** The description of a folder. The title of an unknown folder is its path, or its name. */
function whatIs({ name, path, problem }: FoundFolder, { title, storage }: FolderKind): string {
  if (storage !== undefined || (title !== name && title !== basename(resolve(path)))) return title;
  return problem === undefined ? 'database' : 'folder';
}

function rowsOf(listed: readonly ListedFolder[]): string[] {
  const rows = [
    ['folder', 'what', 'entries', 'size', 'in use by'],
    ...listed.map(({ folder, kind, entries, inUseBy }) => [folder.name === '' ? '.' : folder.name, whatIs(folder, kind), entries === undefined ? '?' : countText(entries), shortSize(folder.bytes), inUseBy.join(', ')]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.flatMap((row, i) => {
    const line = row.map((cell, column) => (column === 2 || column === 3 ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!))).join('  ').trimEnd();
    const problem = listed[i - 1]?.problem;
    return problem === undefined ? [line] : [line, `  ${problem}`];
  });
}
