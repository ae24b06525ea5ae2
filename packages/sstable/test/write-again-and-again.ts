// faults.test.ts runs this in a separate process and kills it. It prints that it is ready, waits for a line, and then writes
// tables to the path in its first argument, over and over, and prints each version. Their entries are those of `versionEntries`.
import process from 'node:process';
import { once } from 'node:events';
import { writeTable } from '@bloom/sstable/node';
import { versionEntries } from './version-entries.js';

process.stdout.write('ready\n');
await once(process.stdin, 'data');
for (let version = 1; ; version++) {
  await writeTable(process.argv[2]!, versionEntries(version), { compression: 'none' });
  process.stdout.write(`${version}\n`);
}
