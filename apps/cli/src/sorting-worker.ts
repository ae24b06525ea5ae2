// The program of the thread that sorts entries, and writes them to runs.
import { workerData } from 'node:worker_threads';
import { bytewiseComparator } from '@bloom/sstable';
import { internalKeyComparator } from '@bloom/sstable/database';
import { answerCalls } from './answered-calls.js';
import type { RunOrder, SortingOrder, WrittenRun } from './inputs/entry-sorter.js';
import { buffersOfEntries, SortedEntries } from './inputs/sorted-entries.js';
import { writeSortedRun } from './inputs/sorted-run.js';
import { AppendedFile } from './inputs/temporary-file.js';
import { loadPlugins } from './plugins/plugin-options.js';

const { plugins, isInternal } = workerData as SortingOrder;
const loading = loadPlugins(plugins).then(({ comparator = bytewiseComparator }) => (isInternal ? internalKeyComparator(comparator) : comparator));

answerCalls(async ({ fd, entries }: RunOrder) => {
  const comparator = await loading;
  const file = new AppendedFile(fd);
  writeSortedRun(file, new SortedEntries(comparator, entries), comparator);
  const value: WrittenRun = { byteLength: file.byteLength, spare: { ...entries, length: 0 } };
  return { value, transferred: buffersOfEntries(entries) };
});
