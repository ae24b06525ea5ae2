import { allCodecs } from '@bloom/codecs';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { verifyTable, type VerifyOptions } from '@bloom/sstable/inspect';
import { BloomFilterPolicy } from '@bloom/policy';
import { counted } from '@bloom/report';
import type { Command } from 'commander';
import { EXIT, placedProblem } from './failure.js';
import { isFolder, mustNotInsist } from './folder-argument.js';
import { addKeyFormOptions, type KeyFormOptions, noteAssumption, withTableFile } from './opened-table.js';
import { Lines, note } from './output.js';
import { uncheckedText } from './unchecked-text.js';
import { verifyFolder } from './verify-folder.js';

/** Enough for a block of usual size: without a footer there is not much to verify, so it should not take long. */
const SEARCH_BYTES = 2 ** 20;

interface VerifyCommandOptions extends KeyFormOptions {
  readonly anyOrder?: true;
}

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .summary('look for damage')
    .description(
      "Checks every checksum, handle, key, index key and filter of a table; for a database's folder, those of all its tables, and the MANIFEST and logs. Prints what is wrong, one finding per line, and exits with 1 if anything is.",
    )
    .argument('<table|folder>', "the table, or a database's folder");
  addKeyFormOptions(command)
    .option('--any-order', 'for keys in an unknown order: do not check the order')
    .addHelpText(
      'after',
      `
Examples:
  bloom verify capitals.ldb
  bloom verify 000005.ldb
  bloom verify path/to/database
  bloom verify --any-order IndexedDB/000116.ldb`,
    )
    .action(verify);
}

async function verify(path: string, options: VerifyCommandOptions): Promise<void> {
  const { anyOrder } = options;
  if (isFolder(path)) {
    mustNotInsist(path, options);
    return verifyFolder(path, anyOrder === true);
  }
  await withTableFile(path, { ...options, searchBytes: SEARCH_BYTES }, async (file) => {
    noteAssumption(file, options);
    const policies = [new BloomFilterPolicy()];
    const verifyOptions: VerifyOptions = {
      codecs: allCodecs,
      comparator: anyOrder ? null : file.isInternal ? internalKeyComparator() : undefined,
      filterPolicies: file.isInternal ? policies.map(internalKeyPolicy) : policies,
    };
    const { findings, moreFindings, unchecked, isDatabaseTable } = await verifyTable(file.source, verifyOptions);
    if (options.internal === false && isDatabaseTable) {
      const isOfUserKeys = file.table?.filterStatus.state === 'contradicted';
      note(`${path}: checked as a database's table all the same: ${isOfUserKeys ? 'its filters do' : 'its order or its filters do'} not match the keys as stored`);
    }
    if (findings.length === 0) {
      note(`${path}: nothing is wrong${uncheckedText(unchecked, anyOrder === true)}`);
      return;
    }
    process.exitCode = EXIT.no;
    const lines = new Lines();
    for (const finding of findings) await lines.add(`${placedProblem(finding)} (${finding.code})`);
    if (moreFindings > 0) await lines.add(`and ${moreFindings} more`);
    await lines.flush();
    note(`${path}: ${counted(findings.length + moreFindings, 'finding')}${uncheckedText(unchecked, anyOrder === true)}`);
    if (!file.isBytewise && findings.some(({ code }) => code === 'BLOOM_OUT_OF_ORDER')) {
      note(`${path}: if the keys are in another order, use --any-order not to check it`);
    }
  });
}
