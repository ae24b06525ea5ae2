import type { Command } from 'commander';
import { inputStat } from '../inputs/input.js';
import { keyArgument, valueArgument } from '../inputs/key-argument.js';
import { readValue } from '../inputs/standard-input.js';
import { addDatabaseOptions, type DatabaseCommandOptions, withDatabase } from '../inputs/written-database.js';
import { Failure } from '../failure.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';

interface PutOptions extends DatabaseCommandOptions, Pick<SummaryOptions, 'json'> {
  readonly hex?: true;
  readonly valueFrom?: string;
  readonly sync?: true;
}

export function addPut(program: Command): void {
  const command = program
    .command('put')
    .summary('write an entry to a database')
    .description("Writes an entry to a database, and creates the folder if it does not exist.")
    .argument('<folder>', 'the folder')
    .argument('<key>', 'the key')
    .argument('[value]', 'the value')
    .option('--value-from <file>', 'the bytes of a file as the value; - is standard input')
    .option('--hex', 'key and value are in hexadecimal')
    .option('--sync', 'wait until the write survives a power failure');
  addDatabaseOptions(addSummaryOption(command))
    .addHelpText(
      'after',
      `
Examples:
  bloom put path/to/database France Paris
  bloom put path/to/database logo --value-from logo.png`,
    )
    .action(put);
}

async function put(path: string, key: string, value: string | undefined, options: PutOptions): Promise<void> {
  const { hex, valueFrom, sync } = options;
  if (value === undefined && valueFrom === undefined) throw new Failure('no value given: pass it as an argument, or in a file with --value-from');
  if (value !== undefined && valueFrom !== undefined) throw new Failure('two values given: pass either a value or --value-from, not both');
  const keyBytes = keyArgument(key, hex === true);
  if (valueFrom !== undefined) inputStat(valueFrom);
  const valueBytes = valueFrom === undefined ? valueArgument(value!, hex === true) : readValue(valueFrom, keyBytes.length);
  await withDatabase(path, options, true, (database) => database.put(keyBytes, valueBytes, { sync: sync === true }));
  if (options.json) await printSummary(options, '', { folder: path, keyHex: Buffer.from(keyBytes).toString('hex'), valueBytes: valueBytes.length });
}
