import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allCodecs } from '@bloom/codecs';
import { comparatorNameSync } from '@bloom/leveldb/inspect';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure, failureOf, mustBeWrittenHere } from '../failure.js';
import { addDamageOption, type DamageOptions } from '../inputs/folder-argument.js';
import { folderFailure, openDatabase } from '../inputs/opened-folder.js';
import { interruptible } from '../interruption.js';
import { makeFolder } from '../outputs/new-folder.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';
import { NO_PLUGINS } from '../plugins/plugin-options.js';
import { storageByName, storageIn } from '../web-storage/decoded-entries.js';
import { exportFolder, type ExportedFolderFacts, type ExportOptions, originOf } from '../web-storage/exported-folder.js';
import { type FoundFolder, foundFolders, kindOf } from '../web-storage/found-folders.js';
import { DistinctNames, safeName } from '../web-storage/safe-name.js';

interface ExportCommandOptions extends SummaryOptions, DamageOptions {
  readonly output: string;
  readonly allVersions?: true;
}

/** The entry of a folder in the report. */
interface ReportedFolder extends Partial<Omit<ExportedFolderFacts, 'error'>> {
  readonly path: string;
  readonly what: string;
  readonly storage: string | null;
  /** Why it, or the rest of it, was not exported. */
  readonly problem: string | null;
}

/** The problem of a database that is not a browser's storage. */
const OTHER_DATABASE = 'not exported: bloom scan prints its entries';

export function addExport(program: Command): void {
  const command = program
    .command('export')
    .summary("write a browser's or an app's data as JSON Lines")
    .description(
      "Finds IndexedDB, Local Storage and Session Storage in a browser's profile or the folder of an Electron app, or reads a single folder of them. Writes a JSON Lines file for each object store, origin or map, a file for each blob, and report.json, which lists what could not be read. The browser may be running. Exits with 1 if something could not be read.",
    )
    .argument('<folder>', 'the profile or folder')
    .requiredOption('-o, --output <folder>', 'the new folder, which must not exist')
    .option('--all-versions', 'also write deleted and overwritten records that are still stored, with sequence, type and file')
    .option('-q, --quiet', 'print only errors to standard error');
  addSummaryOption(addDamageOption(command))
    .addHelpText(
      'after',
      `
Each line has "key" and "value". Values that JSON lacks are objects with "$type":
{"$type":"Date","value":"2024-01-01T00:00:00.000Z"}. For a value that cannot be
read, the line has "error". The folder gets its name when it is complete.

Examples:
  bloom export ~/.config/google-chrome/Default -o chrome
  bloom export ~/.config/obsidian -o notes
  bloom export --all-versions 'Local Storage/leveldb' -o history`,
    )
    .action(exportStorage);
}

async function exportStorage(path: string, options: ExportCommandOptions): Promise<void> {
  mustBeWrittenHere(options.output);
  const { damage, allVersions } = options;
  const folders = await interruptible((signal) => exportAll(path, options.output, { damage, allVersions, signal }));
  const exported = folders.filter(({ files }) => files !== undefined);
  const files = exported.flatMap((folder) => folder.files!);
  const sum = (of: (file: (typeof files)[number]) => number): number => files.reduce((total, file) => total + of(file), 0);
  const [records, unreadable, blobs, missingBlobs] = [sum((file) => file.records), sum((file) => file.unreadable), sum((file) => file.blobs), sum((file) => file.missingBlobs)];
  const failed = folders.filter(isUnread).length;
  const damagedMetadata = exported.flatMap(({ databases }) => databases ?? []).reduce((total, { errors }) => total + errors.length, 0);
  // Among all versions are those in tables that no longer belong to the database, which a browser truncates.
  const dropped = allVersions ? 0 : exported.reduce((total, folder) => total + folder.dropped!.length, 0);
  if (unreadable + missingBlobs + damagedMetadata + dropped + failed > 0) process.exitCode = EXIT.no;
  const losses = [
    ...(unreadable > 0 ? [`${counted(unreadable, 'record')} could not be read`] : []),
    ...(missingBlobs > 0 ? [`${counted(missingBlobs, 'blob')} missing`] : []),
    ...(damagedMetadata > 0 ? [`${counted(damagedMetadata, 'metadata entry')} could not be read`] : []),
    ...(dropped > 0 ? [`${counted(dropped, 'damaged place')} left out`] : []),
    ...(failed > 0 ? [`${counted(failed, 'folder')} could not be read in full`] : []),
  ];
  const text = `${options.output}: ${counted(records, 'record')} in ${counted(files.length, 'file')}, ${counted(blobs, 'blob')}${losses.length > 0 ? `; ${losses.join(', ')}: see report.json` : ''}`;
  await printSummary(options, text, { source: path, output: options.output, folders: exported.length, files: files.length, records, blobs, unreadable, missingBlobs, damagedMetadata, dropped, failedFolders: failed });
}

function isUnread({ problem }: ReportedFolder): boolean {
  return problem !== null && problem !== OTHER_DATABASE;
}

/** Exports all folders in `path`. @throws Failure when there are none. */
async function exportAll(path: string, output: string, options: ExportOptions): Promise<ReportedFolder[]> {
  const found = [...foundFolders(path)];
  try {
    const databases = found.filter(({ problem }) => problem === undefined).map((folder) => folder.path);
    return await makeFolder(output, databases, options.signal, async (temporary) => {
      const names = new DistinctNames(['report.json']);
      const folders: ReportedFolder[] = [];
      for (const folder of found) folders.push(await exportFound(folder, temporary, names, options));
      if (folders.every(({ storage }) => storage === null)) {
        const unread = folders.find(isUnread);
        if (unread !== undefined) throw new Failure(`${path}: no IndexedDB, Local Storage or Session Storage could be read: ${unread.problem}`);
        throw new Failure(`${path}: no IndexedDB, Local Storage or Session Storage in it${found.length === 0 ? '' : '; bloom ls lists the databases that it has'}`);
      }
      writeFileSync(join(temporary, 'report.json'), `${JSON.stringify({ source: path, allVersions: options.allVersions === true, folders }, null, 2)}\n`, { flag: 'wx' });
      return folders;
    });
  } catch (error) {
    throw failureOf(output, error);
  }
}

async function exportFound(found: FoundFolder, temporary: string, names: DistinctNames, options: ExportOptions): Promise<ReportedFolder> {
  const { title } = kindOf(found);
  const facts = { path: found.name === '' ? '.' : found.name, what: title };
  if (found.problem !== undefined) return { ...facts, storage: storageByName(found.path) ?? null, problem: found.problem.message };
  let storage: ReportedFolder['storage'] = null;
  try {
    const kind = await storageIn(new NodeFolder(found.path), found.path, { codecs: allCodecs, damage: options.damage });
    if (kind === undefined) {
      // A MANIFEST without the name of a comparator is usually damaged, which opening the database shows.
      const folder = new SyncNodeFolder(found.path);
      if (comparatorNameSync(folder) === undefined) (await openDatabase(folder, NO_PLUGINS, { damage: options.damage })).close();
      return { ...facts, storage, problem: OTHER_DATABASE };
    }
    storage = kind;
    const name = names.nameFor(folderName(found, title));
    const { error, ...exported } = await exportFolder(found.path, kind, join(temporary, name), name, options);
    const what = kindOf(found, originOf(exported.databases ?? [])).title;
    return { ...facts, what, storage, problem: error === undefined ? null : problemOf(error), ...exported };
  } catch (error) {
    return { ...facts, storage: storage ?? storageByName(found.path) ?? null, problem: problemOf(error) };
  }

  /** @throws write errors and interruptions, which end the export. */
  function problemOf(error: unknown): string {
    const failure = folderFailure(found.path, new SyncNodeFolder(found.path), error);
    if (!(failure instanceof Failure) || options.signal.aborted || String((error as { path?: unknown }).path).startsWith(temporary)) throw error;
    return failure.message;
  }
}

/** The name of the output folder for a folder's files, such as `IndexedDB https_example.com_0`. */
function folderName({ name }: FoundFolder, title: string): string {
  if (name === '') return safeName(title);
  return name.replace(/\.indexeddb\.leveldb$|\/leveldb$/u, '').replaceAll('/', ' ');
}
