/** The man page, in the macros of man(7). */
import type { CommandTree } from './command-tree.js';

/** @param intro what the program is, and its exit codes, as the help says it. */
export function manPage(commands: readonly CommandTree[], { version, description, exitCodes }: { readonly version: string; readonly description: string; readonly exitCodes: readonly (readonly [number, string])[] }): string {
  const lines = [
    `.TH BLOOM 1 "" "bloom ${version}" "User Commands"`,
    '.SH NAME',
    `bloom \\- ${escaped(description)}`,
    '.SH SYNOPSIS',
    ...commands.filter(({ name }) => !commands.some((other) => other.name.startsWith(`${name} `))).flatMap(({ name, usage }, i) => [...(i === 0 ? [] : ['.br']), `.B bloom ${escaped(name)}`, escaped(`[OPTIONS] ${usage}`.trim())]),
    '.SH DESCRIPTION',
    escaped(description),
    '.SH COMMANDS',
  ];
  for (const { name, usage, description: text, options } of commands) {
    lines.push(`.SS bloom ${escaped(`${name} ${usage}`.trim())}`);
    for (const [i, paragraph] of text.split('\n').entries()) lines.push(...(i === 0 ? [] : ['.PP']), escaped(paragraph));
    for (const { flags, description: meaning } of options) lines.push('.TP', `.B ${escaped(flags)}`, escaped(meaning));
  }
  lines.push('.SH EXIT STATUS');
  for (const [code, meaning] of exitCodes) lines.push('.TP', `.B ${code}`, escaped(meaning));
  lines.push(
    '.SH ENVIRONMENT',
    '.TP',
    '.B AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION',
    'Credentials and region for s3://.',
    '.TP',
    '.B AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL',
    escaped("The address of a server other than Amazon's."),
    '.TP',
    '.B BLOOM_HTTP_HEADERS',
    'Headers for requests, one NAME: VALUE per line.',
    '.TP',
    '.B BLOOM_DEBUG',
    'With 1, errors are shown with their causes and stack traces.',
    '.TP',
    '.B NO_COLOR',
    'Any value: no colours on terminals.',
    '.TP',
    '.B NODE_DISABLE_COMPILE_CACHE',
    'With 1, no compiled code is stored or read.',
  );
  return `${lines.join('\n')}\n`;
}

/** Text in which nothing is a request or an escape of troff. */
function escaped(text: string): string {
  const plain = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll("'", '\\(aq');
  return /^[.']/.test(plain) ? `\\&${plain}` : plain;
}
