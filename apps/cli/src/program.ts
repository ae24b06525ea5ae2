import { inspect } from 'node:util';
import { Command, CommanderError, Help } from 'commander';
import { version } from '../package.json';
import type { CommandName } from './command-name.js';
import { EXIT, EXIT_MEANINGS, Failure } from './failure.js';
import { ByteBuffer } from './formats/byte-buffer.js';
import { Interrupted } from './interruption.js';
import { endWithReader, exit, flush, note, standardError } from './outputs/output.js';
import { setStandardStreams, type StandardStreams } from './standard-streams.js';
import { terminalLines } from './outputs/terminal-text.js';

/** The commands, each loaded when it is needed: loading all of them takes longer than looking up a key. */
const commands = {
  build: async () => (await import('./commands/build.js')).addBuild,
  get: async () => (await import('./commands/get.js')).addGet,
  scan: async () => (await import('./commands/scan.js')).addScan,
  count: async () => (await import('./commands/count.js')).addCount,
  size: async () => (await import('./commands/size.js')).addSize,
  find: async () => (await import('./commands/find.js')).addFind,
  stat: async () => (await import('./commands/stat.js')).addStat,
  verify: async () => (await import('./commands/verify.js')).addVerify,
  layout: async () => (await import('./commands/layout.js')).addLayout,
  salvage: async () => (await import('./commands/salvage.js')).addSalvage,
  merge: async () => (await import('./commands/merge.js')).addMerge,
  convert: async () => (await import('./commands/convert.js')).addConvert,
  diff: async () => (await import('./commands/diff.js')).addDiff,
  put: async () => (await import('./commands/put.js')).addPut,
  delete: async () => (await import('./commands/delete.js')).addDelete,
  load: async () => (await import('./commands/load.js')).addLoad,
  compact: async () => (await import('./commands/compact.js')).addCompact,
  refilter: async () => (await import('./commands/refilter.js')).addRefilter,
  repair: async () => (await import('./commands/repair.js')).addRepair,
  destroy: async () => (await import('./commands/destroy.js')).addDestroy,
  copy: async () => (await import('./commands/copy.js')).addCopy,
  part: async () => (await import('./commands/part.js')).addPart,
  split: async () => (await import('./commands/split.js')).addSplit,
  assemble: async () => (await import('./commands/assemble.js')).addAssemble,
  publish: async () => (await import('./commands/publish.js')).addPublish,
  gc: async () => (await import('./commands/gc.js')).addGc,
  filter: async () => (await import('./commands/filter.js')).addFilter,
  compression: async () => (await import('./commands/compression.js')).addCompression,
  completion: async () => (await import('./commands/completion.js')).addCompletion,
} satisfies Record<CommandName, () => Promise<(program: Command) => void>>;

/** The program, without its commands. @param help is given the help and the version, which are written in the end: to a full device, that fails. */
function programWith(help: ByteBuffer): Command {
  return new Command('bloom')
    .description("Builds, reads and inspects LevelDB's sorted string tables, reads and writes the folders of its databases, and publishes databases.")
    .version(version)
    .exitOverride()
    .configureHelp({
      // All commands have options. Without the word, the list fits 80 columns.
      subcommandTerm(command) {
        return Help.prototype.subcommandTerm.call(this, command).replace(' [options]', '');
      },
    })
    .configureOutput({
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
  // No error is shown as a stack trace.
  process.on('uncaughtException', (error) => {
    process.exitCode = explain(error);
    void exit();
  });
  await runCommand(process.argv.slice(2));
  return exit();
}

/** Runs a command and sets the exit code of the process. @param streams those of the process, if they are not given. */
export async function runCommand(args: readonly string[], streams?: StandardStreams): Promise<void> {
  setStandardStreams(streams);
  const help = new ByteBuffer();
  const program = programWith(help);
  // Help about a command that does not exist: without `help` before it, its name is reported as unknown.
  const [first, topic] = args;
  const isUnknownTopic = first === 'help' && topic !== undefined && !Object.hasOwn(commands, topic);
  try {
    await addCommands(program, first);
    await program.parseAsync(isUnknownTopic ? args.slice(1) : args, { from: 'user' });
  } catch (error) {
    process.exitCode = explain(error, args);
  }
  try {
    await flush(help);
  } catch (error) {
    process.exitCode = explain(error);
  }
}

/** Adds the command that was named, or all of them, for the help and for suggestions. */
async function addCommands(program: Command, name: string | undefined): Promise<void> {
  // Completion is for all of them.
  const named = Object.entries(commands).filter(([command]) => command === name && name !== 'completion');
  for (const [, load] of named.length > 0 ? named : Object.entries(commands)) (await load())(program);
}

/** What is wrong with the command line, and where to read more. */
function problemOf({ code, message }: CommanderError, [first, second]: readonly string[]): string {
  const problem = message.replace(/^error: /, '').replace(/\n(\(Did you mean .*\?\))$/, ' $1');
  if (code === 'commander.unknownCommand') return `${problem}: bloom --help lists the commands`;
  const command = first === 'filter' && second !== undefined && /^[a-z]+$/.test(second) ? `${first} ${second}` : first;
  if (code === 'commander.unknownOption') return `${problem}: bloom ${command} --help lists the options; names and keys that begin with a dash come after --`;
  if (code === 'commander.missingArgument' || code === 'commander.missingMandatoryOptionValue') return `${problem}: see bloom ${command} --help`;
  return problem;
}

/** Stack traces without what may be secret in the URLs of a cause. */
function withoutQueries(text: string): string {
  return text.replace(/\b(https?:\/\/)(?:[^\s/@'"]*@)?([^\s?#'"]*)(?:[?#][^\s'":,)]*)?/gi, '$1$2');
}

/** Says what went wrong in one line. @returns the exit code. */
function explain(error: unknown, args: readonly string[] = []): number {
  if (process.env.BLOOM_DEBUG) standardError().write(`${terminalLines(Buffer.from(withoutQueries(inspect(error))))}\n`);
  if (error instanceof Interrupted) error.endProgram();
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // Without a command, the help has been shown.
    if (error.code !== 'commander.help') note(problemOf(error, args));
    return EXIT.failure;
  }
  if (error instanceof Failure) note(error.message);
  else note(`this should not happen: ${error instanceof Error ? error.message : String(error)}; BLOOM_DEBUG=1 shows where`);
  return EXIT.failure;
}
