import { inspect } from 'node:util';
import { Command, CommanderError, Help } from 'commander';
import { version } from '../package.json';
import { COMMAND_GROUPS, type CommandName, commandWords, HELP_ALL, todaysArguments } from './command-name.js';
import { EXIT, EXIT_MEANINGS } from './exit-codes.js';
import { Failure } from './failure.js';
import { ByteBuffer } from './formats/byte-buffer.js';
import { optionsOf } from './help-options.js';
import { Interrupted } from './interruption.js';
import { hasColour, styled } from './outputs/colour.js';
import { endWithReader, exit, flush, note, standardError } from './outputs/output.js';
import { terminalLines } from './outputs/terminal-text.js';
import { setStandardStreams, type StandardStreams, standardStreams } from './standard-streams.js';

/** The commands, each loaded when it is needed: loading all of them takes longer than looking up a key. */
const commands = {
  build: async () => (await import('./commands/build.js')).addBuild,
  ls: async () => (await import('./commands/ls.js')).addLs,
  get: async () => (await import('./commands/get.js')).addGet,
  scan: async () => (await import('./commands/scan.js')).addScan,
  count: async () => (await import('./commands/count.js')).addCount,
  find: async () => (await import('./commands/find.js')).addFind,
  stat: async () => (await import('./commands/stat.js')).addStat,
  verify: async () => (await import('./commands/verify.js')).addVerify,
  layout: async () => (await import('./commands/layout.js')).addLayout,
  salvage: async () => (await import('./commands/salvage.js')).addSalvage,
  merge: async () => (await import('./commands/merge.js')).addMerge,
  convert: async () => (await import('./commands/convert.js')).addConvert,
  diff: async () => (await import('./commands/diff.js')).addDiff,
  explore: async () => (await import('./commands/explore.js')).addExplore,
  export: async () => (await import('./commands/export.js')).addExport,
  put: async () => (await import('./commands/put.js')).addPut,
  delete: async () => (await import('./commands/delete.js')).addDelete,
  load: async () => (await import('./commands/load.js')).addLoad,
  compact: async () => (await import('./commands/compact.js')).addCompact,
  refilter: async () => (await import('./commands/refilter.js')).addRefilter,
  repair: async () => (await import('./commands/repair.js')).addRepair,
  destroy: async () => (await import('./commands/destroy.js')).addDestroy,
  copy: async () => (await import('./commands/copy.js')).addCopy,
  bulk: async () => (await import('./commands/bulk.js')).addBulk,
  advise: async () => (await import('./commands/advise.js')).addAdvise,
  filter: async () => (await import('./commands/filter.js')).addFilter,
  completion: async () => (await import('./commands/completion.js')).addCompletion,
} satisfies Record<CommandName, () => Promise<(program: Command) => void>>;

const HELP_COMMAND = ['help [command]', 'show the help of a command'] as const;

/**
 * The program, without its commands.
 *
 * @param help receives the help and the version. They are written at the end, where an error of a full device can be reported.
 * @param showsAll whether the help lists rare options.
 */
function programWith(help: ByteBuffer, showsAll: boolean): Command {
  const { stdout } = standardStreams();
  return new Command('bloom')
    .description("Reads, writes, checks and repairs LevelDB's tables and databases, and publishes databases.")
    .version(version, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(...HELP_COMMAND)
    .exitOverride()
    .configureHelp({
      // All commands have options, so the usage omits `[options]`. The list then fits 80 columns.
      subcommandTerm(command) {
        return Help.prototype.subcommandTerm.call(this, command).replace(' [options]', '');
      },
      visibleOptions(command) {
        return optionsOf(command, showsAll);
      },
      styleTitle: (text) => styled('bold', text, stdout),
      styleSubcommandTerm: (text) => styled('cyan', text, stdout),
      styleOptionTerm: (text) => styled('cyan', text, stdout),
    })
    .configureOutput({
      getOutHasColors: () => hasColour(stdout),
      writeOut(text) {
        help.utf8(text);
      },
      writeErr(text) {
        standardError().write(text);
      },
      outputError() {
        // `explain` prints the error in one line.
      },
    })
    .addHelpText(
      'after',
      `
Exit codes:
${EXIT_MEANINGS.map(([code, meaning]) => `  ${code}  ${meaning}`).join('\n')}

Examples:
  bloom build capitals.tsv -o capitals.ldb
  bloom get capitals.ldb France
  bloom scan capitals.ldb --gte F --lt G
  bloom stat capitals.ldb
  bloom scan path/to/database
  bloom help build`,
    );
}

/** Runs the program with the arguments of the process, and ends the process. */
export async function run(): Promise<never> {
  endWithReader();
  // Errors are not shown as stack traces.
  process.on('uncaughtException', (error) => {
    process.exitCode = explain(error);
    void exit();
  });
  await runCommand(process.argv.slice(2));
  return exit();
}

/** Runs a command and sets the exit code of the process. @param streams default: those of the process. */
export async function runCommand(given: readonly string[], streams?: StandardStreams): Promise<void> {
  setStandardStreams(streams);
  const help = new ByteBuffer();
  const named = todaysArguments(given);
  const end = named.indexOf('--');
  const isHelpAll = (word: string, i: number): boolean => word === HELP_ALL && (end < 0 || i < end);
  const showsAll = named.some(isHelpAll);
  const args = named.map((word, i) => (isHelpAll(word, i) ? '--help' : word));
  try {
    const program = programWith(help, showsAll);
    await addCommands(program, args[0]);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = explain(error, args);
  }
  try {
    await flush(help, hasColour(standardStreams().stdout));
  } catch (error) {
    process.exitCode = explain(error);
  }
}

/** Adds the command that was named, or all of them, for the help and for suggestions. */
async function addCommands(program: Command, name: string | undefined): Promise<void> {
  // Completion needs all commands.
  const isOne = name !== 'completion' && name !== undefined && Object.hasOwn(commands, name);
  for (const [heading, names] of Object.entries(COMMAND_GROUPS)) {
    program.commandsGroup(heading);
    for (const command of names) if (!isOne || command === name) (await commands[command]())(program);
  }
  // Set again for the group, because commands with subcommands have copied the first setting.
  program.helpCommand(...HELP_COMMAND);
}

/** The problem of the command line, and which help to read. */
function problemOf({ code, message }: CommanderError, args: readonly string[]): string {
  const problem = message.replace(/^error: /, '').replace(/\n(\(Did you mean .*\?\))$/, ' $1');
  const words = commandWords(args).join(' ');
  if (code === 'commander.unknownCommand') return `${problem}: bloom ${words === '' ? '' : `${words} `}--help lists the commands`;
  if (code === 'commander.unknownOption') return `${problem}: bloom ${words} --help lists the options; put names and keys that start with a dash after --`;
  if (code === 'commander.missingArgument' || code === 'commander.missingMandatoryOptionValue') return `${problem}: see bloom ${words} --help`;
  return problem;
}

/** A stack trace without users, passwords and queries of URLs, which may be secret. In paths made of URLs, the second slash is missing. */
function withoutSecrets(text: string): string {
  return text.replace(/\b([a-z][a-z0-9+.-]+:\/{1,2})(?:[^\s/]*@)?([^\s?#'"]*)(?:[?#][^\s'":,)]*)?/gi, '$1$2');
}

/** Prints an error in one line. @returns the exit code. */
function explain(error: unknown, args: readonly string[] = []): number {
  if (process.env.BLOOM_DEBUG) standardError().write(`${terminalLines(Buffer.from(withoutSecrets(inspect(error))))}\n`);
  if (error instanceof Interrupted) error.endProgram();
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // Without a command, the help has already been shown.
    if (error.code !== 'commander.help') note(problemOf(error, args), 'red');
    return EXIT.failure;
  }
  if (error instanceof Failure) note(error.message, 'red');
  else note(`internal error: ${error instanceof Error ? error.message : String(error)}; set BLOOM_DEBUG=1 to see where`, 'red');
  return EXIT.failure;
}
