import { NodeFolder } from '@bloom/leveldb/node';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { EXIT, Failure, placedProblem } from './failure.js';
import { databaseOptions, withFolderFailures } from './opened-folder.js';
import { counted, Lines, note } from './output.js';
import { uncheckedText } from './unchecked-text.js';

/** Checks all files of a database, and prints what is wrong with each. */
export async function verifyFolder(path: string, anyOrder: boolean): Promise<void> {
  await withFolderFailures(path, { damage: 'skip' }, async () => {
    const { findings, moreFindings, unchecked, tables, logs } = await verifyDatabase(new NodeFolder(path), { ...databaseOptions, anyOrder });
    // A folder without a database is bad input, as a missing file is.
    const [first] = findings;
    if (first?.code === 'BLOOM_NOT_A_DATABASE' && tables.length + logs.length === 0) throw new Failure(`${path}: ${first.problem}`);
    const seen = `${counted(tables.length, 'table')} and ${counted(logs.length, 'log')}`;
    if (findings.length === 0) {
      note(`${path}: nothing is wrong with ${seen}${uncheckedText(unchecked)}`);
      return;
    }
    process.exitCode = EXIT.no;
    const lines = new Lines();
    for (const finding of findings) {
      // The name of the file says which structure it is.
      const problem = finding.structure === 'CURRENT' ? finding.problem : placedProblem(finding);
      await lines.add(`${finding.file}: ${problem} (${finding.code})`);
    }
    if (moreFindings > 0) await lines.add(`and ${moreFindings} more`);
    await lines.flush();
    note(`${path}: ${counted(findings.length + moreFindings, 'finding')} in ${seen}${uncheckedText(unchecked)}`);
  });
}
