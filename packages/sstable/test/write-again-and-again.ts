// Run by faults.test.ts in a process of its own, which is killed: says that it is ready, waits for a line, and then
// writes one table after another to the path in its first argument, and says so. Each has the entries of `versionEntries`.
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
