import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Database, parseFileName } from '@bloom/leveldb';
import { isCanonicalName } from '@bloom/leveldb/internal';
import { SyncNodeFolder } from '@bloom/leveldb/node';
import { counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { mustBeLevelDb } from '../inputs/refuse-foreign-folder.js';
import { databaseFailure, mustBeNamed } from '../inputs/written-database.js';
import { WrittenFolder } from '../inputs/written-folder.js';
import { standardError } from '../outputs/output.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';
import { standardStreams } from '../standard-streams.js';
import { terminalLine } from '../outputs/terminal-text.js';
import { join } from 'node:path';

interface DestroyOptions extends Pick<SummaryOptions, 'json'> {
  readonly yes?: true;
}

export function addDestroy(program: Command): void {
  const command = program
    .command('destroy')
    .summary('delete a database')
    .description("Deletes the files of a database's folder, and the folder if nothing else is in it. Asks for confirmation first.")
    .argument('<folder>', 'the folder')
    .option('-y, --yes', 'do not ask');
  addSummaryOption(command)
    .addHelpText(
      'after',
      `
Examples:
  bloom destroy path/to/database
  bloom destroy --yes path/to/database`,
    )
    .action(destroy);
}

async function destroy(path: string, options: DestroyOptions): Promise<void> {
  mustBeNamed(path);
  try {
    const names = new SyncNodeFolder(path).list();
    const files = names.filter((name) => isCanonicalName(name));
    if (!names.some((name) => name === 'CURRENT' || parseFileName(name)?.type === 'manifest')) {
      throw new Failure(`${path}: there is no database: it has neither CURRENT nor a MANIFEST`);
    }
    // Checked before the user is asked.
    await mustBeLevelDb(path);
    const bytes = files.reduce((sum, name) => sum + (statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0), 0);
    const what = `${counted(files.length, 'file')}, ${counted(bytes, 'byte')}`;
    const isDeleted = options.yes === true || (await isWanted(path, what));
    if (isDeleted) await Database.destroy(new WrittenFolder(path));
    else process.exitCode = EXIT.no;
    await printSummary(options, isDeleted ? `${path}: deleted, ${what}` : `${path}: nothing was deleted`, { folder: path, deleted: isDeleted, files: files.length, bytes });
  } catch (error) {
    throw databaseFailure(path, error);
  }
}

async function isWanted(path: string, what: string): Promise<boolean> {
  const { stdin } = standardStreams();
  if (stdin.isTTY !== true) throw new Failure(`${path}: cannot ask for confirmation: stdin is not a terminal; pass --yes`);
  standardError().write(terminalLine(`Delete the database in ${path} (${what})? [y/N] `));
  // Without `output`, readline does not change the terminal: Ctrl-C ends the program, and TERM may be dumb.
  const lines = createInterface({ input: stdin });
  try {
    const [answer] = (await Promise.race([once(lines, 'line'), once(lines, 'close')])) as [answer?: string];
    if (answer === undefined) standardError().write('\n');
    return /^y(es)?$/i.test((answer ?? '').trim());
  } finally {
    lines.close();
  }
}
