/** The commands of the program as plain values, for what is generated from them: completion and the man page. */
import type { EventEmitter } from 'node:events';
import type { Command, Option } from 'commander';
import { optionsOf } from '../help-options.js';

export interface CommandTree {
  /** The words that name it, after the program. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  /** Arguments as the usage shows them, such as `<input...>`. */
  readonly usage: string;
  /** What the first argument can be; undefined when it can be anything. */
  readonly choices: readonly string[] | undefined;
  readonly options: readonly OptionEntry[];
  /** What the help says after the options: examples and formats. */
  readonly notes: string;
}

export interface OptionEntry {
  /** Such as `-f` and `--format`. */
  readonly names: readonly string[];
  /** As the help shows it, such as `-f, --format <format>`. */
  readonly flags: string;
  readonly description: string;
  /** Whether a value follows. */
  readonly hasValue: boolean;
  /** What the value can be; undefined when it can be anything. */
  readonly choices: readonly string[] | undefined;
}

/** All commands of the program, subcommands with the names of both. */
export function commandTreesOf(program: Command, prefix = ''): CommandTree[] {
  const helper = program.createHelp();
  return program.commands.flatMap((command): CommandTree[] => {
    const name = `${prefix}${command.name()}`;
    const below = commandTreesOf(command, `${name} `);
    const tree = {
      name,
      summary: command.summary(),
      description: command.description(),
      usage: command.registeredArguments.map((argument) => helper.argumentTerm(argument)).map((term, i) => decorated(term, command, i)).join(' '),
      choices: command.registeredArguments[0]?.argChoices,
      options: optionsOf(command, true).map(entryOf),
      notes: notesOf(command),
    };
    return [tree, ...below];
  });
}

function notesOf(command: Command): string {
  let notes = '';
  const emitter: unknown = command;
  (emitter as EventEmitter).emit('afterHelp', { error: false, command, write: (text: string) => (notes += text) });
  return notes.trim();
}

function decorated(term: string, command: Command, i: number): string {
  const { required, variadic } = command.registeredArguments[i]!;
  const text = `${term}${variadic ? '...' : ''}`;
  return required ? `<${text}>` : `[${text}]`;
}

function entryOf({ short, long, flags, description, required, optional, argChoices }: Option): OptionEntry {
  return {
    names: [short, long].filter((name) => name !== undefined),
    flags,
    description,
    hasValue: required || optional,
    choices: argChoices,
  };
}
