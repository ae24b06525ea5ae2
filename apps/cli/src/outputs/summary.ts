/** The summary that commands print after writing. */
import type { Command } from 'commander';
import { note, printJson } from './output.js';

export interface SummaryOptions {
  readonly json?: true;
  readonly quiet?: true;
}

/** Adds --json for the summary. */
export function addSummaryOption(command: Command): Command {
  return command.option('--json', 'print the summary as one JSON object to standard output');
}

/** Prints the summary: a line of text on standard error, which --quiet omits, or, with --json, an object on standard output. */
export async function printSummary({ json, quiet }: SummaryOptions, text: string, figures: object): Promise<void> {
  if (json) await printJson(figures);
  else if (!quiet) note(text);
}

/** Seconds since `started`, a value of `performance.now`, rounded to milliseconds. */
export function secondsSince(started: number): number {
  return Math.round(performance.now() - started) / 1000;
}
