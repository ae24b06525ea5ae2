#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { addBuild } from './build.js';
import { EXIT, Failure } from './failure.js';
import { addGet } from './get.js';
import { Interrupted } from './interruption.js';
import { endWithReader, note } from './output.js';
import { addLayout } from './layout.js';
import { addSalvage } from './salvage.js';
import { addScan } from './scan.js';
import { addStat } from './stat.js';
import { addVerify } from './verify.js';

const program = new Command('bloom')
  .description("Builds, reads and inspects LevelDB's sorted string tables.")
  .version(version)
  .exitOverride()
  .configureOutput({
    outputError() {
      // Said in one line by `explain`.
    },
  })
  .addHelpText(
    'after',
    `
Exit codes: ${EXIT.ok} success, ${EXIT.absent} a key is absent (get) or a table damaged (verify, salvage), ${EXIT.failure} bad input, options or files.

Examples:
  bloom build capitals.tsv -o capitals.ldb
  bloom get capitals.ldb France
  bloom scan capitals.ldb --gte F --lt G
  bloom stat capitals.ldb
  bloom help build`,
  );
addBuild(program);
addGet(program);
addScan(program);
addStat(program);
addVerify(program);
addLayout(program);
addSalvage(program);

endWithReader();
try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = explain(error);
}
// Input that is still open would keep the program alive.
process.exit();

/** Says what went wrong in one line. @returns the exit code. */
function explain(error: unknown): number {
  if (process.env.BLOOM_DEBUG) console.error(error);
  if (error instanceof Interrupted) error.endProgram();
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // Without a command, its help is what was shown.
    if (error.code !== 'commander.help') noteLine(error.message.replace(/^error: /, ''));
    return EXIT.failure;
  }
  if (error instanceof Failure) noteLine(error.message);
  else
    noteLine(
      `this should not happen: ${error instanceof Error ? error.message : String(error)}; BLOOM_DEBUG=1 shows where`,
    );
  return EXIT.failure;
}

function noteLine(text: string): void {
  note(text.replaceAll(/\s*[\r\n]+\s*/g, ' '));
}
