import { existsSync } from 'node:fs';
import { Database, parseFileName } from '@bloom/leveldb';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { count, counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { droppedJson, droppedText } from '../inputs/opened-folder.js';
import { addDatabaseOptions, databaseFailure, type DatabaseCommandOptions, databaseOptionsOf } from '../inputs/written-database.js';
import { WrittenFolder } from '../inputs/written-folder.js';
import { printLines } from '../outputs/output.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';

type RepairOptions = DatabaseCommandOptions & Pick<SummaryOptions, 'json'> & { readonly fromTablesAlone?: boolean };

export function addRepair(program: Command): void {
  const command = program
    .command('repair')
    .summary('rebuild a database from its readable parts')
    .description(
      "Rebuilds a damaged database from its logs and tables. Moves damaged and obsolete files to a subfolder named lost. Prints each loss on a line, and exits with 1 if there is any.",
    )
    .argument('<folder>', 'the folder')
    .option('--from-tables-alone', 'merge all tables and logs, even if an intact MANIFEST says that some are obsolete');
  addDatabaseOptions(addSummaryOption(command))
    .addHelpText(
      'after',
      `
An intact MANIFEST determines which files are part of the database. If there is
none, or with --from-tables-alone, deleted keys may reappear from files that the
database no longer used. To be able to try again, copy the folder first.

Examples:
  bloom repair path/to/database`,
    )
    .action(repair);
}

async function repair(path: string, options: RepairOptions): Promise<void> {
  const settings = await databaseOptionsOf(path, options);
  try {
    mustHaveFiles(path);
    const { fromTablesAlone = false } = options;
    const report = await Database.repair(new WrittenFolder(path), { ...settings, fromTablesAlone });
    const { manifest = null, guessed, kept, written, entries, setAside, lost, moreLost } = report;
    const lostLines = [...lost.map((drop) => `${drop.file}: ${droppedText(drop)}`), ...(moreLost > 0 ? [`${count(moreLost)} more places`] : [])];
    // Set first: the program ends while it prints if nobody reads on.
    if (lost.length + moreLost > 0) process.exitCode = EXIT.no;
    if (!options.json) await printLines(lostLines);
    const parts = [`${counted(kept.length, 'table')} kept`, `${counted(written.length, 'table')} written`, counted(entries, 'entry')];
    const basis = manifest === null ? 'without a MANIFEST' : `according to ${manifest}`;
    parts.push(guessed.length === 0 ? basis : `${basis}, from ${counted(guessed.length, 'file')} of unknown age: deleted keys may have reappeared`);
    if (setAside.length > 0) parts.push(`${counted(setAside.length, 'file')} moved to lost`);
    const summary = { folder: path, manifest, guessed, kept: kept.length, written: written.length, entries, setAside, lost: lost.map(droppedJson), moreLost };
    await printSummary(options, `${path}: ${parts.join(', ')}`, summary);
  } catch (error) {
    throw databaseFailure(path, error);
  }
}

/** @throws Failure for a folder without a file of a database: LevelDB would make a new database in it. */
function mustHaveFiles(path: string): void {
  const names = existsSync(path) ? new SyncNodeFolder(path).list() : undefined;
  if (names?.every((name) => parseFileName(name) === undefined)) throw new Failure(`${path}: it has no files of a LevelDB database`);
}
