import { allCodecs } from '@bloom/codecs';
import { internalKeyComparator, internalKeyPolicy } from '@bloom/sstable/database';
import { verifyTable, type VerifyOptions } from '@bloom/sstable/inspect';
import { BloomFilterPolicy } from '@bloom/policy';
import type { Command } from 'commander';
import { placedProblem } from '../failure.js';
import { mustNotInsist } from '../inputs/folder-argument.js';
import { BUCKET_HELP, INPUTS } from '../inputs/input-help.js';
import { shownName } from '../inputs/location.js';
import { mustHaveNoHeader } from '../inputs/opened-folder.js';
import { type InputOptions, isDatabase, recognised } from '../inputs/opened-input.js';
import { addRemoteOptions, tracingFor } from '../inputs/opened-source.js';
import { addKeyFormOptions, noteAssumption, withTableFile } from '../inputs/opened-table.js';
import { plainFindings } from '../library-advice.js';
import { note } from '../outputs/output.js';
import { addPluginOptions } from '../plugins/plugin-options.js';
import { noteCodecs, printVerified, uncheckedText } from '../outputs/verification-report.js';
import { verifyFolder } from './verify-folder.js';

/** How far into a file without a footer to search for blocks: enough for a block of usual size. */
const SEARCH_BYTES = 2 ** 20;

interface VerifyCommandOptions extends InputOptions {
  readonly anyOrder?: true;
  readonly json?: true;
}

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .summary('look for damage')
    .description(
      "Checks every checksum, handle, key, index key and filter of tables; for a database's folder, those of all its tables, and the MANIFEST and logs. A MANIFEST is read as the folder that it describes. Prints one finding per line, and exits with 1 if there is any. Also reports what it could not check.",
    )
    .argument('<input...>', INPUTS);
  addRemoteOptions(addPluginOptions(command));
  addKeyFormOptions(command)
    .option('--any-order', 'for keys in an unknown order: do not check the order')
    .option('--json', 'print one JSON object per input')
    .addHelpText(
      'after',
      `
Do not verify a folder while a program writes to it: the writes can look like
damage. Verify a copy made by bloom copy.
${BUCKET_HELP}
Examples:
  bloom verify capitals.ldb
  bloom verify 000005.ldb
  bloom verify path/to/database
  bloom verify s3://data/words
  bloom verify --any-order IndexedDB/000116.ldb`,
    )
    .action(verify);
}

async function verify(paths: readonly string[], options: VerifyCommandOptions): Promise<void> {
  for (const path of paths) {
    const tracing = await tracingFor(options);
    await verifyInput(path, { ...options, tracing });
    tracing?.report(shownName(path));
  }
}

async function verifyInput(given: string, options: VerifyCommandOptions): Promise<void> {
  const { anyOrder } = options;
  const how = { anyOrder: anyOrder === true, asJson: options.json === true };
  const location = await recognised(given, options);
  if (location.kind === 'bucket') {
    mustHaveNoHeader(location.address, options);
    mustNotInsist(location.address, options, 'published database');
    return (await import('./verify-published.js')).verifyBucket(location.address, options, how);
  }
  const isFolder = location.kind === 'folder' || location.kind === 'remote-folder';
  if (isFolder && (await (await import('./verify-published.js')).verifyPublishedFolder(location, options, how))) return;
  if (isDatabase(location)) return verifyFolder(location, options, how);
  await withTableFile(location, { ...options, searchBytes: SEARCH_BYTES }, async (file) => {
    noteAssumption(file, options);
    const { path } = file;
    const { comparator } = file.opening;
    const { codecs = allCodecs, filterPolicies: policies = [new BloomFilterPolicy()] } = file.opening;
    const verifyOptions: VerifyOptions = {
      codecs,
      comparator: anyOrder ? null : file.isInternal ? internalKeyComparator(comparator) : comparator,
      filterPolicies: file.isInternal ? policies.map(internalKeyPolicy) : policies,
    };
    const { findings, moreFindings, unchecked, isDatabaseTable } = await verifyTable(file.source, verifyOptions);
    if (options.internal === false && isDatabaseTable) {
      const isOfUserKeys = file.table?.filterStatus.state === 'contradicted';
      note(`${path}: checked as a table of a database anyway: ${isOfUserKeys ? 'its filters do' : 'its order or its filters do'} not match the keys as stored`);
    }
    const lines = findings.map((finding) => `${placedProblem(finding)} (${finding.code})`);
    const verified = { path, seen: '', lines, more: moreFindings, unchecked: uncheckedText(unchecked, anyOrder === true), figures: { findings: plainFindings(findings), moreFindings, unchecked } };
    if (!(await printVerified(verified, options.json === true))) return;
    noteCodecs(path, findings);
    if (!file.isOrdered && findings.some(({ code }) => code === 'BLOOM_OUT_OF_ORDER')) {
      note(`${path}: if the keys are in another order, pass --comparator MODULE, or skip the check with --any-order`);
    }
  });
}
