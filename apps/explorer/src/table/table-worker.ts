import type { Source } from '@bloom/sstable';
import { BlobSource } from '@bloom/sstable/blob';
import { HttpSource } from '@bloom/sstable/http';
import type { Work } from '../worker/calls.js';
import { serveCalls } from '../worker/serve-calls.js';
import { InspectedLog, isLog } from '../log/inspected-log.js';
import type { AbsentKind, FilterChoice } from '../trial/trial-facts.js';
import { InspectedTable } from './inspected-table.js';
import type { FileFacts } from './file-facts.js';
import type { FileOrigin } from './file-origin.js';

let opened: InspectedTable | undefined;
let log: InspectedLog | undefined;

function table(): InspectedTable {
  if (opened === undefined) throw new TypeError('no table is open');
  return opened;
}

async function sourceOf(origin: FileOrigin, signal: AbortSignal): Promise<Source> {
  return origin.kind === 'file' ? new BlobSource(origin.file) : HttpSource.open(origin.url, { signal, retries: 1 });
}

/** Whether a file lies in a folder that has a database, as far as that is known. */
async function isOfDatabase(origin: FileOrigin, signal: AbortSignal): Promise<boolean> {
  if (origin.kind === 'file') return origin.folder?.kind === 'files' && origin.folder.files.some(({ name }) => name === 'CURRENT');
  if (!/^\d{6,}\.(?:ldb|sst)$/u.test(origin.name)) return false;
  try {
    const response = await fetch(new URL('CURRENT', origin.url), { signal });
    return response.ok && (await response.text()).startsWith('MANIFEST-');
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

const methods = {
  async open({ signal }: Work, origin: FileOrigin): Promise<FileFacts> {
    const source = await sourceOf(origin, signal);
    if (await isLog(source)) {
      log = await InspectedLog.open(source, signal);
      return { kind: 'log', facts: log.facts };
    }
    opened = await InspectedTable.open(source, { signal, isOfDatabase: await isOfDatabase(origin, signal) });
    return { kind: 'table', facts: opened.facts };
  },
  records: (_: Work, start: number, end: number) => log!.rows(start, end),
  layout: (_: Work, number: number) => log!.layout(number),
  block: ({ signal }: Work, number: number) => table().blockFacts(number, signal),
  entries: ({ signal }: Work, number: number, start: number, end: number, isWhole: boolean) => table().entries(number, start, end, isWhole, signal),
  filterBlock: ({ signal }: Work, number: number) => table().filterBlockFacts(number, signal),
  filters: ({ signal }: Work, number: number, start: number, end: number) => table().filters(number, start, end, signal),
  bytes: ({ signal }: Work, offset: number, length: number) => table().bytes(offset, length, signal),
  check: (work: Work) => table().check(work),
  measureFilters: (work: Work, entries: number) => table().measureFilters(work, entries),
  storedFilter: ({ signal }: Work, number: number) => table().storedFilter(number, signal),
  startTrial: (work: Work, asked: readonly Uint8Array[] | AbsentKind, seed: number) => table().trials.start(work, asked, seed),
  tryFilters: (work: Work, choice: FilterChoice) => table().trials.try(work, choice),
};

/** The methods that the page can call on an open file. */
export type TableMethods = typeof methods;

serveCalls(methods);
