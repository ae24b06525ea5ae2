import { count, counted } from '@bloom/report';
import type { Command } from 'commander';
import { keyOption } from '../inputs/key-argument.js';
import { mustNotBeReversed } from '../inputs/key-range.js';
import { addDatabaseOptions, type DatabaseCommandOptions, withDatabase } from '../inputs/written-database.js';
import { addSummaryOption, printSummary, secondsSince, type SummaryOptions } from '../outputs/summary.js';

interface CompactOptions extends DatabaseCommandOptions, SummaryOptions {
  readonly hex?: true;
  readonly from?: string;
  readonly to?: string;
}

export function addCompact(program: Command): void {
  const command = program
    .command('compact')
    .summary('merge the tables of a database')
    .description("Merges the tables of a database's folder, so that deleted and overwritten entries no longer take space.")
    .argument('<folder>', 'the folder')
    .option('--from <key>', 'only tables with keys from this one on')
    .option('--to <key>', 'only tables with keys up to this one')
    .option('--hex', 'keys are in hexadecimal')
    .option('-q, --quiet', 'print only errors to standard error');
  addDatabaseOptions(addSummaryOption(command))
    .addHelpText(
      'after',
      `
Tables that need no merge stay as they are, such as a single table in the last
level. The options for new tables do not change them.

Examples:
  bloom compact path/to/database
  bloom compact path/to/database --from user/ --to user0 --compression zlib`,
    )
    .action(compact);
}

async function compact(path: string, options: CompactOptions): Promise<void> {
  const started = performance.now();
  const isHex = options.hex === true;
  const [from, to] = [keyOption(options.from, isHex), keyOption(options.to, isHex)];
  const [before, after] = await withDatabase(path, options, false, async (database) => {
    const size = (): Size => {
      const tables = database.describe().levels.flat();
      return { tables: tables.length, bytes: tables.reduce((sum, { byteLength }) => sum + byteLength, 0) };
    };
    mustNotBeReversed('--from', from, '--to', to, (a, b) => database.compare(a, b));
    await database.flush();
    const first = size();
    await database.compactRange(from, to);
    return [first, size()] as const;
  });
  const seconds = secondsSince(started);
  const text = `${path}: ${counted(after.tables, 'table')} of ${count(after.bytes)} bytes (before: ${count(before.tables)} of ${count(before.bytes)}); ${seconds.toFixed(2)} s`;
  await printSummary(options, text, { folder: path, before, after, seconds });
}

interface Size {
  readonly tables: number;
  readonly bytes: number;
}
