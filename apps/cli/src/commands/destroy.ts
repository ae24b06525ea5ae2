import { statSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Database, parseFileName } from '@bloom/leveldb';
import { SyncNodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { count, counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT, Failure } from '../failure.js';
import { databaseFailure } from '../inputs/written-database.js';
import { note } from '../outputs/output.js';
import { terminalLine } from '../outputs/terminal-text.js';
import { join } from 'node:path';

interface DestroyOptions {
  readonly yes?: true;
}

export function addDestroy(program: Command): void {
  program
    .command('destroy')
    .summary('delete a database')
    .description("Deletes the files of a database's folder, and the folder if nothing else is in it. Asks before it does.")
    .argument('<folder>', 'the folder')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      `
Examples:
  bloom destroy path/to/database
  bloom destroy --yes path/to/database`,
    )
    .action(destroy);
}

async function destroy(path: string, { yes }: DestroyOptions): Promise<void> {
  try {
    const names = new SyncNodeFolder(path).list();
    const files = names.filter((name) => parseFileName(name) !== undefined);
    if (!files.some((name) => name === 'CURRENT' || parseFileName(name)?.type === 'manifest')) {
      throw new Failure(`${path}: there is no database: it has neither CURRENT nor a MANIFEST`);
    }
    const bytes = files.reduce((sum, name) => sum + (statSync(join(path, name), { throwIfNoEntry: false })?.size ?? 0), 0);
    const what = `${counted(files.length, 'file')}, ${count(bytes)} bytes`;
    if (!yes && !(await isWanted(path, what))) {
      process.exitCode = EXIT.no;
      note(`${path}: nothing was deleted`);
      return;
    }
    await Database.destroy(new WritableNodeFolder(path));
    note(`${path}: deleted, ${what}`);
  } catch (error) {
    throw databaseFailure(path, error);
  }
}

async function isWanted(path: string, what: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Failure(`${path}: nobody can be asked, since standard input is not a terminal: --yes deletes without asking`);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(terminalLine(`Delete the database in ${path} (${what})? [y/N] `))).trim());
  } finally {
    asking.close();
  }
}
