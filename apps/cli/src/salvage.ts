import type { TableBuilderOptions } from '@bloom/sstable';
import { allCodecs } from '@bloom/sstable/codecs';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { type SalvageReport, salvagedEntries } from '@bloom/sstable/inspect';
import { writeTable } from '@bloom/sstable/node';
import { BloomFilterPolicy } from '@bloom/policy';
import type { Command } from 'commander';
import { EXIT, failureOf, placedProblem } from './failure.js';
import { interruptible } from './interruption.js';
import { withFile } from './opened-table.js';
import { counted, note } from './output.js';

interface SalvageCommandOptions {
  readonly output: string;
  readonly internal?: true;
}

export function addSalvage(program: Command): void {
  program
    .command('salvage')
    .summary('copy what can still be read')
    .description(
      'Copies all entries of a damaged table whose checksums are right into a new one. Prints what was lost, a line each, and exits with 1 if anything was.',
    )
    .argument('<table>', 'the damaged table; it is not changed')
    .requiredOption('-o, --output <table>', 'the new table')
    .option('--internal', "the table is a database's: keys are in its order, and filters are made of its user keys")
    .addHelpText(
      'after',
      `
Examples:
  bloom salvage damaged.ldb -o saved.ldb
  bloom salvage --internal 000005.ldb -o saved.ldb`,
    )
    .action(salvage);
}

async function salvage(path: string, { output, internal }: SalvageCommandOptions): Promise<void> {
  const comparator = internal ? internalKeyComparator() : undefined;
  const policy = new BloomFilterPolicy();
  const tableOptions: TableBuilderOptions = {
    comparator,
    filterPolicy: internal ? internalKeyPolicy(policy) : policy,
  };
  const report = await withFile(path, async (source) => {
    let saved: SalvageReport | undefined;
    await interruptible(async (signal) => {
      const entries = async function* (): AsyncGenerator<[Uint8Array, Uint8Array], void, undefined> {
        saved = yield* salvagedEntries(source, { codecs: allCodecs, comparator, signal });
      };
      await writeTable(output, entries(), { ...tableOptions, signal }).catch((error: unknown) => {
        throw failureOf(output, error);
      });
    });
    return saved!;
  });
  for (const finding of report.findings) console.log(placedProblem(finding));
  for (const { offset, byteLength, problem } of report.lost) {
    console.log(`${counted(byteLength, 'byte')} at offset ${offset}: ${problem}`);
  }
  if (report.outOfOrder > 0) console.log(`${counted(report.outOfOrder, 'entry')} out of order left out`);
  const found = report.foundBlocks > 0 ? `, ${report.foundBlocks} of them found without the index` : '';
  note(`${output}: ${counted(report.entries, 'entry')} of ${counted(report.dataBlocks, 'block')}${found}`);
  if (report.findings.length > 0 || report.lost.length > 0 || report.outOfOrder > 0) process.exitCode = EXIT.absent;
}
