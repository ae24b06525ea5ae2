import { idbComparator, idbFilterPolicy } from '@bloom/leveldb/idb-comparator';
import type { Folder } from '@bloom/leveldb';
import { type DatabaseFinding, verifyDatabase } from '@bloom/leveldb/inspect';
import { counted } from '@bloom/report';
import { Failure, placedProblem } from '../failure.js';
import { lockHolders } from '../inputs/lock-holder.js';
import type { InputOptions } from '../inputs/opened-input.js';
import { type DatabaseLocation, noteIgnoredComparator, openDatabase, readerOptions, unknownOrderText, withDatabaseFolder } from '../inputs/opened-folder.js';
import type { Plugins } from '../plugins/plugin-options.js';
import { note } from '../outputs/output.js';
import { withoutAdvice } from '../library-advice.js';
import type { HowToVerify } from './verify-published.js';
import { noteCodecs, printVerified, uncheckedText } from '../outputs/verification-report.js';

/** Checks all files of a database, and prints what is wrong with each. */
export async function verifyFolder(location: DatabaseLocation, options: InputOptions, { anyOrder, asJson }: HowToVerify): Promise<void> {
  await withDatabaseFolder(location, { ...options, damage: 'skip' }, async (path, folder, plugins) => {
    const { comparators, filterPolicies, codecs } = await readerOptions(plugins);
    const checking = {
      codecs,
      comparators: anyOrder ? null : [...(comparators ?? []), idbComparator],
      filterPolicies: [...(filterPolicies ?? []), idbFilterPolicy],
    };
    const { findings, moreFindings, unchecked, comparator, tables, logs, missingLog } = await verifyDatabase(await listed(folder, plugins), checking);
    noteIgnoredComparator(path, comparator, plugins);
    // A folder without a database and a database of another engine are bad input, like a missing file.
    const [first] = findings;
    if (first?.code === 'BLOOM_UNSUPPORTED_FORMAT' && first.structure === 'folder') throw new Failure(`${path}: ${first.problem}`);
    if (first?.code === 'BLOOM_NOT_A_DATABASE' && tables.length + logs.length === 0) throw new Failure(`${path}: ${first.problem}`);
    const named = findings.map((finding) => ({ ...finding, problem: isOwnText(finding) ? problemOf(finding, comparator) : withoutAdvice(finding.problem) }));
    const figures = { comparator: comparator ?? null, tables: tables.length, logs: logs.length, missingLog: missingLog ?? null, findings: named, moreFindings, unchecked };
    const seen = `${counted(tables.length, 'table')} and ${counted(logs.length, 'log')}`;
    if (missingLog !== undefined && !asJson) note(`${path}: the MANIFEST names ${missingLog}, which is missing: LevelDB opens the database without the writes that were only in it`);
    const lines = findings.map((finding) => `${finding.file}: ${problemOf(finding, comparator)} (${finding.code})`);
    if (!(await printVerified({ path, seen, lines, more: moreFindings, unchecked: uncheckedText(unchecked, anyOrder), figures }, asJson))) return;
    noteCodecs(path, findings);
    noteWriters(location);
  });
}

/** Notes that another process has the folder open, because its changes during the check look like damage. */
function noteWriters(location: DatabaseLocation): void {
  if (location.kind !== 'folder') return;
  const holders = lockHolders(location.path);
  if (holders.length === 0) return;
  note(`${location.path}: the process ${holders.join(' or ')} has it open, and its writes during the check can look like damage: verify a copy made by bloom copy`);
}

/** The folder, or, if it cannot be listed, a folder with the files that belong to the database. */
async function listed(folder: Folder, plugins: Plugins): Promise<Folder> {
  if (folder.list !== undefined) return folder;
  const database = await openDatabase(folder, plugins, { damage: 'skip' });
  const { manifest, levels, logs } = database.describe();
  await database.close();
  const names = ['CURRENT', manifest, ...[...levels.flat(), ...logs].map(({ name }) => name)];
  return { name: folder.name, isRemote: folder.isRemote, list: () => names, open: (name, signal) => folder.open(name, signal) };
}

/** Whether the command has its own text for a finding. */
function isOwnText({ code }: DatabaseFinding): boolean {
  return code === 'BLOOM_NOT_A_DATABASE' || code === 'BLOOM_UNKNOWN_COMPARATOR';
}

/** The problem, without the name of the file. @param comparator the name in the MANIFEST. */
function problemOf(finding: DatabaseFinding, comparator: string | undefined): string {
  switch (finding.code) {
    case 'BLOOM_NOT_A_DATABASE':
      return 'it is missing';
    case 'BLOOM_UNKNOWN_COMPARATOR':
      return `${unknownOrderText(comparator)}, so the order cannot be checked: pass --comparator MODULE, or skip the check with --any-order`;
    default:
      // The name of the file determines the structure, so it is omitted.
      return finding.structure === 'CURRENT' ? finding.problem : placedProblem(finding);
  }
}
