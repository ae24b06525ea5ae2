/** The commands by their purpose, under the headings of the help. */
export const COMMAND_GROUPS = {
  'Look:': ['ls', 'get', 'scan', 'find', 'count', 'stat', 'verify', 'layout', 'diff', 'explore', 'export'],
  'Write:': ['build', 'merge', 'convert', 'put', 'delete', 'load', 'compact', 'copy', 'destroy'],
  'Rescue:': ['salvage', 'repair'],
  'Publish:': ['bulk'],
  'Tune:': ['advise', 'filter', 'refilter'],
  'Set up:': ['completion'],
} as const;

/** The option that lists all options of a command. */
export const HELP_ALL = '--help-all';

export type CommandName = (typeof COMMAND_GROUPS)[keyof typeof COMMAND_GROUPS][number];

/** The commands that have subcommands. */
const SUBCOMMANDS: Readonly<Partial<Record<CommandName, readonly string[]>>> = {
  bulk: ['part', 'split', 'assemble', 'publish', 'gc'],
  advise: ['filters', 'compression'],
  filter: ['size', 'test'],
};

/** Former names of commands. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  size: ['count', '--bytes'],
  compression: ['advise', 'compression'],
  'filter compare': ['advise', 'filters'],
  ...Object.fromEntries(SUBCOMMANDS.bulk!.map((name) => [name, ['bulk', name]])),
};

export function isCommandName(word: string | undefined): word is CommandName {
  return Object.values(COMMAND_GROUPS).some((names: readonly string[]) => names.includes(word!));
}

/** The arguments with the command's current name, and `COMMAND --help-all` for `help COMMAND`. */
export function todaysArguments(args: readonly string[]): readonly string[] {
  const [first = '', second] = args;
  if (first === 'help' && second !== undefined) {
    const [name, ...rest] = todaysArguments(args.slice(1));
    // The name of a command that does not exist is reported as unknown.
    return isCommandName(name) ? [name, ...rest, HELP_ALL] : args.slice(1);
  }
  const taken = Object.hasOwn(ALIASES, `${first} ${second}`) ? 2 : 1;
  const alias = args.slice(0, taken).join(' ');
  return Object.hasOwn(ALIASES, alias) ? [...ALIASES[alias]!, ...args.slice(taken)] : args;
}

/** The words that name the command in {@link todaysArguments}; none when it does not exist. */
export function commandWords([first, second]: readonly string[]): readonly string[] {
  if (!isCommandName(first)) return [];
  return SUBCOMMANDS[first]?.includes(second!) ? [first, second!] : [first];
}
