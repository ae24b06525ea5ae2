import { type Command, Help, Option } from 'commander';
import { HELP_ALL } from './command-name.js';

/** Options that most people never need: --help leaves them out, and --help-all lists them. */
const RARE_OPTIONS: ReadonlySet<string> = new Set([
  '--any-order',
  '--batch-size',
  '--block-restart-interval',
  '--codec',
  '--comparator',
  '--damage',
  '--decode-keys',
  '--drop-deletions',
  '--filter-range',
  '--from-tables-alone',
  '--header',
  '--if-match',
  '--internal',
  '--max-table-size',
  '--memory',
  '--no-internal',
  '--sync',
  '--trace',
]);

/** The options of a command, as the help lists them. @param all whether to include rare options. */
export function optionsOf(command: Command, all: boolean): Option[] {
  const options = new Help().visibleOptions(command);
  const usual = options.filter(({ long }) => !RARE_OPTIONS.has(long!));
  const rare = options.length - usual.length;
  if (all || rare === 0) return options;
  return usual.map((option) => (option.long === '--help' ? new Option(option.flags, `${option.description}; ${HELP_ALL} lists ${rare} more option${rare === 1 ? '' : 's'}`) : option));
}
