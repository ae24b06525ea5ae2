#!/usr/bin/env node
import { inspect } from 'node:util';
import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { addBuild } from './build.js';
import { EXIT, Failure } from './failure.js';
import { addGet } from './get.js';
import { Interrupted } from './interruption.js';
import { endWithReader, exit, note } from './output.js';
import { addLayout } from './layout.js';
import { addSalvage } from './salvage.js';
import { addScan } from './scan.js';
import { addStat } from './stat.js';
import { terminalLines } from './terminal-text.js';
import { addVerify } from './verify.js';

const program = new Command('bloom')
  .description("Builds, reads and inspects LevelDB's sorted string tables.")
  .version(version)
  .exitOverride()
  .configureOutput({
    outputError() {
      // `explain` prints the error in one line.
    },
  })
  .addHelpText(
    'after',
    `
Exit codes:
  ${EXIT.ok}  success
  ${EXIT.no}  a key is absent (get), something is wrong (verify) or was lost (salvage)
  ${EXIT.failure}  bad input, options or files

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
// No error is shown as a stack trace.
process.on('uncaughtException', (error) => {
  void end(error);
});
try {
  await program.parseAsync();
} catch (error) {
  await end(error);
}
await exit();

async function end(error: unknown): Promise<never> {
  process.exitCode = explain(error);
  return exit();
}

/** Says what went wrong in one line. @returns the exit code. */
function explain(error: unknown): number {
  if (process.env.BLOOM_DEBUG) process.stderr.write(`${terminalLines(Buffer.from(inspect(error)))}\n`);
  if (error instanceof Interrupted) error.endProgram();
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT.ok;
    // Without a command, the help has been shown.
    if (error.code !== 'commander.help') note(error.message.replace(/^error: /, '').replace(/\n(\(Did you mean .*\?\))$/, ' $1'));
    return EXIT.failure;
  }
  if (error instanceof Failure) note(error.message);
  else note(`this should not happen: ${error instanceof Error ? error.message : String(error)}; BLOOM_DEBUG=1 shows where`);
  return EXIT.failure;
}
