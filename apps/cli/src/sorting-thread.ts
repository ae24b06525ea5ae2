// The program of a SortingThread.
import { parentPort, workerData } from 'node:worker_threads';
import { bytewiseComparator, type Comparator } from '@bloom/sstable';
import { internalKeyComparator } from '@bloom/sstable/database';
import { buffersOfEntries, SortedEntries } from './inputs/sorted-entries.js';
import { writeSortedRun } from './inputs/sorted-run.js';
import type { RunOrder, RunProblem, SortingOrder, WrittenRun } from './inputs/sorting-thread.js';
import { AppendedFile } from './inputs/temporary-file.js';
import { loadPlugins } from './plugins/plugin-options.js';

const port = parentPort!;
const { plugins, isInternal } = workerData as SortingOrder;
const loading = loadPlugins(plugins).then(({ comparator = bytewiseComparator }) => (isInternal ? internalKeyComparator(comparator) : comparator));

port.on('message', (order: RunOrder) => {
  loading.then((comparator) => write(order, comparator)).catch((error: unknown) => fail(error));
});

function write({ fd, entries }: RunOrder, comparator: Comparator): void {
  const file = new AppendedFile(fd);
  writeSortedRun(file, new SortedEntries(comparator, entries), comparator);
  const run: WrittenRun = { byteLength: file.byteLength, spare: { ...entries, length: 0 } };
  port.postMessage(run, buffersOfEntries(entries));
}

function fail(error: unknown): void {
  const { name, message, code, syscall, errno } = (error instanceof Error ? error : new Error(String(error))) as NodeJS.ErrnoException;
  const problem: RunProblem = { name, message, system: { code, syscall, errno } };
  port.postMessage(problem);
}
