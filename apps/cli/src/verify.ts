import { allCodecs } from '@bloom/sstable/codecs';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { verifyTable, type VerifyOptions } from '@bloom/sstable/inspect';
import { BloomFilterPolicy } from '@bloom/policy';
import type { Command } from 'commander';
import { EXIT, placedProblem } from './failure.js';
import { withFile } from './opened-table.js';
import { note } from './output.js';

interface VerifyCommandOptions {
  readonly internal?: true;
  readonly anyOrder?: true;
}

export function addVerify(program: Command): void {
  program
    .command('verify')
    .summary('look for damage')
    .description(
      'Checks every checksum, handle, key, index key and filter of a table. Prints what is wrong, a line each, and exits with 1 if anything is.',
    )
    .argument('<table>', 'the table')
    .option('--internal', "the table is a database's: keys are in its order, and filters of its user keys")
    .option('--any-order', 'the order of the keys is not known: do not check it')
    .addHelpText(
      'after',
      `
Examples:
  bloom verify capitals.ldb
  bloom verify --internal 000005.ldb
  bloom verify --internal --any-order IndexedDB/000116.ldb`,
    )
    .action(verify);
}

async function verify(path: string, { internal, anyOrder }: VerifyCommandOptions): Promise<void> {
  const policies = [new BloomFilterPolicy()];
  const options: VerifyOptions = {
    codecs: allCodecs,
    comparator: anyOrder ? null : internal ? internalKeyComparator() : undefined,
    filterPolicies: internal ? policies.map(internalKeyPolicy) : policies,
  };
  const findings = await withFile(path, (source) => verifyTable(source, options));
  for (const finding of findings) console.log(`${placedProblem(finding)} (${finding.code})`);
  if (findings.length === 0) note(`${path}: nothing is wrong`);
  else process.exitCode = EXIT.absent;
}
