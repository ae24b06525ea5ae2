import { collectGarbage } from '@bloom/bulk';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { STORE_HELP } from '../inputs/input-help.js';
import { storeFailure, storeOf } from '../inputs/store-argument.js';
import { wholeNumber } from '../inputs/whole-number.js';
import { interruptible } from '../interruption.js';
import { printJson } from '../outputs/output.js';

interface GcOptions {
  readonly keep?: number;
  readonly youngerThan?: number;
  readonly dryRun?: true;
}

export function addGc(program: Command): void {
  program
    .command('gc')
    .summary('delete parts that no reader needs')
    .description(
      'Deletes MANIFESTs that were replaced, except for the last few, and parts that no remaining MANIFEST lists. Deletes nothing else, and nothing at all without a CURRENT file. Prints one JSON object with the names.',
    )
    .argument('<store>', 'where the database is published')
    .addOption(new Option('--keep <n>', 'the number of replaced publications that stay readable (default: 3)').argParser(wholeNumber(0, 1_000_000)))
    .addOption(new Option('--younger-than <time>', 'keep files written or replaced within this time, such as 90m, 24h or 7d (default: 24h)').argParser(milliseconds))
    .option('--dry-run', 'only print what would be deleted')
    .addHelpText(
      'after',
      `${STORE_HELP}
The time must be at least two hours longer than any job takes from its first
part to its publication, and longer than any reader goes without a refresh.

Examples:
  bloom bulk gc s3://data/words --keep 3 --younger-than 24h --dry-run`,
    )
    .action(gc);
}

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function milliseconds(text: string): number {
  const [, digits, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (digits !== undefined && unit !== undefined) return Number(digits) * UNITS[unit]!;
  throw new InvalidArgumentError('It must be a number with s, m, h or d, such as 90m or 24h.');
}

async function gc(path: string, { keep, youngerThan, dryRun }: GcOptions): Promise<void> {
  const store = storeOf(path);
  try {
    const report = await interruptible((signal) => collectGarbage(store, { keep, graceMs: youngerThan, isDryRun: dryRun === true, signal }));
    await printJson({ ...report, isDryRun: dryRun === true });
  } catch (error) {
    throw storeFailure(error);
  }
}
