import { NodeFolder } from '@bloom/leveldb/node';
import { type DatabaseFinding, verifyDatabase } from '@bloom/leveldb/inspect';
import { counted } from '@bloom/report';
import { EXIT, Failure, placedProblem } from './failure.js';
import { databaseOptions, unknownOrderText, withFolderFailures } from './opened-folder.js';
import { Lines, note } from './output.js';
import { uncheckedText } from './unchecked-text.js';

/** Checks all files of a database, and prints what is wrong with each. */
export async function verifyFolder(path: string, anyOrder: boolean): Promise<void> {
  await withFolderFailures(path, { damage: 'skip' }, async () => {
    const options = { ...databaseOptions, ...(anyOrder && { comparators: null }) };
    const { findings, moreFindings, unchecked, comparator, tables, logs } = await verifyDatabase(new NodeFolder(path), options);
    // A folder without a database is bad input, as a missing file is.
    const [first] = findings;
    if (first?.code === 'BLOOM_NOT_A_DATABASE' && tables.length + logs.length === 0) throw new Failure(`${path}: ${first.problem}`);
    const seen = `${counted(tables.length, 'table')} and ${counted(logs.length, 'log')}`;
    if (findings.length === 0) {
      note(`${path}: nothing is wrong with ${seen}${uncheckedText(unchecked, anyOrder)}`);
      return;
    }
    process.exitCode = EXIT.no;
    const lines = new Lines();
    for (const finding of findings) {
      await lines.add(`${finding.file}: ${problemOf(finding, comparator)} (${finding.code})`);
    }
    if (moreFindings > 0) await lines.add(`and ${moreFindings} more`);
    await lines.flush();
    note(`${path}: ${counted(findings.length + moreFindings, 'finding')} in ${seen}${uncheckedText(unchecked, anyOrder)}`);
  });
}

/** What is wrong, after the name of the file. @param comparator the name that the MANIFEST has. */
function problemOf(finding: DatabaseFinding, comparator: string | undefined): string {
  switch (finding.code) {
    case 'BLOOM_NOT_A_DATABASE':
      return 'it is missing';
    case 'BLOOM_UNKNOWN_COMPARATOR':
      return `${unknownOrderText(comparator)}, so the order cannot be checked; --any-order leaves it unchecked`;
    default:
      // The name of the file says which structure it is.
      return finding.structure === 'CURRENT' ? finding.problem : placedProblem(finding);
  }
}
