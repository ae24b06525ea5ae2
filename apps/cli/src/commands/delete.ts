import { WriteBatch } from '@bloom/leveldb';
import { counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { keyArgument } from '../inputs/key-argument.js';
import { keyId } from '../inputs/key-id.js';
import { addRangeOptions, type RangeOptions, WantedRange } from '../inputs/key-range.js';
import { addDatabaseOptions, type DatabaseCommandOptions, withDatabase } from '../inputs/written-database.js';
import { addSummaryOption, printSummary, type SummaryOptions } from '../outputs/summary.js';

interface DeleteOptions extends DatabaseCommandOptions, RangeOptions, Pick<SummaryOptions, 'json'> {
  readonly sync?: true;
}

/** The number of operations in a batch. */
const BATCH_OPERATIONS = 10_000;

export function addDelete(program: Command): void {
  const command = program
    .command('delete')
    .summary('delete entries of a database')
    .description('Deletes keys of a database in one atomic batch, or a range of keys in batches of 10,000. Exits with 1 if none of the keys exists.')
    .argument('<folder>', 'the folder')
    .argument('[key...]', 'the keys');
  addRangeOptions(command)
    .option('--hex', 'keys, prefix and bounds are in hexadecimal')
    .option('--sync', 'wait until the deletion survives a power failure');
  addDatabaseOptions(addSummaryOption(command))
    .addHelpText(
      'after',
      `
Examples:
  bloom delete path/to/database France Japan
  bloom delete path/to/database --prefix session/
  bloom delete path/to/database --gte event/2025 --lt event/2026`,
    )
    .action(remove);
}

async function remove(path: string, keys: readonly string[], options: DeleteOptions): Promise<void> {
  const { hex, sync } = options;
  const wanted = new WantedRange(options);
  const hasRange = !wanted.isAll;
  // A variable of a shell may be empty by mistake.
  if (options.prefix === '') throw new Failure("an empty --prefix matches every key: to delete all keys, pass --gte '' instead");
  if (hasRange && keys.length > 0) throw new Failure('pass either keys or a range of keys, not both');
  if (!hasRange && keys.length === 0) throw new Failure('pass keys, or a range of keys with --prefix, --gte or --lt');
  const given = new Map<string, Uint8Array>();
  for (const text of keys) {
    const key = keyArgument(text, hex === true);
    given.set(keyId(key), key);
  }
  const writing = { sync: sync === true };
  const deleted = await withDatabase(path, options, false, async (database) => {
    let count = 0;
    let batch = new WriteBatch();
    const compare = (a: Uint8Array, b: Uint8Array): number => database.compare(a, b);
    wanted.mustNotBeReversed(compare);
    const { range, keeps } = wanted.in({ name: database.describe().comparator }, compare);
    const found = hasRange ? database.keysSync(range) : given.values();
    for (const key of found) {
      if (hasRange ? keeps?.(key) === false : !database.hasSync(key)) continue;
      batch.delete(key);
      count++;
      // The given keys are deleted in one batch. A range may need several.
      if (!hasRange || batch.count < BATCH_OPERATIONS) continue;
      await database.write(batch);
      batch = new WriteBatch();
    }
    await database.write(batch, writing);
    return count;
  });
  if (deleted === 0) process.exitCode = EXIT.no;
  await printSummary(options, `${path}: ${counted(deleted, 'key')} deleted`, { folder: path, deleted });
}
