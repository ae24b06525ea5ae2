import { counted } from '@bloom/report';
import type { Command } from 'commander';
import { mustBeWrittenHere } from '../failure.js';
import { copyFolder } from '../inputs/copied-folder.js';
import { interruptible } from '../interruption.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';

export function addCopy(program: Command): void {
  const command = program
    .command('copy')
    .summary('copy a database, even one in use')
    .description(
      "Copies a consistent snapshot of a database's folder, even while another program writes to it. It takes no lock, and changes nothing in the folder.",
    )
    .argument('<folder>', 'the folder')
    .argument('<copy>', 'the new folder, which must not exist')
    .option('-q, --quiet', 'print only errors to standard error');
  addSummaryOption(command)
    .addHelpText(
      'after',
      `
The copy gets its name when it is complete. Files that the database does not
need are left out.

Examples:
  bloom copy path/to/database path/to/copy`,
    )
    .action(copy);
}

async function copy(path: string, target: string, options: SummaryOptions): Promise<void> {
  mustBeWrittenHere(target);
  const { files, bytes } = await interruptible((signal) => copyFolder(path, target, signal));
  await printSummary(options, `${target}: ${counted(files, 'file')}, ${counted(bytes, 'byte')}`, { folder: path, copy: target, files, bytes });
}
