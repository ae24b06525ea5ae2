/** The reference of all commands as a page in Markdown. */
import { COMMAND_GROUPS } from '../command-name.js';
import type { CommandTree } from './command-tree.js';

const INTRODUCTION = `\`bloom help COMMAND\` prints the same. \`COMMAND --help\` leaves out the options that most people never need, and \`--help-all\` lists them. Where a command takes an INPUT, that can be a table, a database's folder, a log, a MANIFEST, the URL of one, or \`s3://BUCKET/PREFIX\`; \`-\` is standard input. An argument after \`--\` is never an option.`;

/** @param exitCodes as the help lists them. */
export function referencePage(commands: readonly CommandTree[], exitCodes: readonly (readonly [number, string])[]): string {
  const lines = ['# The command line', '', INTRODUCTION, '', '| Exit code | Meaning |', '| ---: | --- |', ...exitCodes.map(([code, meaning]) => `| ${code} | ${meaning} |`), ''];
  for (const [heading, names] of Object.entries(COMMAND_GROUPS)) {
    lines.push(`## ${heading.replace(':', '')}`, '');
    for (const name of names) for (const command of commands.filter((one) => one.name === name || one.name.startsWith(`${name} `))) lines.push(...sectionOf(command));
  }
  return `${lines.join('\n').trimEnd()}\n`;
}

function sectionOf({ name, usage, description, options, notes }: CommandTree): string[] {
  const rows = options.filter(({ names }) => !names.includes('--help')).map(({ flags, description: text, choices }) => `| \`${flags}\` | ${cell(choices === undefined ? text : `${text}: ${choices.map((choice) => `\`${choice}\``).join(', ')}`)} |`);
  return [
    `### bloom ${name}`,
    '',
    '```sh',
    `bloom ${name} ${usage}`.trimEnd(),
    '```',
    '',
    escaped(description),
    '',
    ...(rows.length === 0 ? [] : ['| Option | Meaning |', '| --- | --- |', ...rows, '']),
    ...(notes === '' ? [] : ['```text', notes, '```', '']),
  ];
}

/** Text in which nothing is a tag of HTML. */
function escaped(text: string): string {
  return text.replaceAll('<', '&lt;');
}

function cell(text: string): string {
  return escaped(text).replaceAll('|', '\\|');
}
