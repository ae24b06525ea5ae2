import type { Source } from '@bloom/sstable';
import { BlobSource } from '@bloom/sstable/blob';
import { HttpSource } from '@bloom/sstable/http';
import type { Work } from '../worker/calls.js';
import { serveCalls } from '../worker/serve-calls.js';
import { InspectedTable } from './inspected-table.js';
import type { FileOrigin } from './table-facts.js';

let opened: InspectedTable | undefined;

function table(): InspectedTable {
  if (opened === undefined) throw new TypeError('no table is open');
  return opened;
}

async function sourceOf(origin: FileOrigin, signal: AbortSignal): Promise<Source> {
  return origin.kind === 'file' ? new BlobSource(origin.file) : HttpSource.open(origin.url, { signal, retries: 1 });
}

serveCalls({
  async open({ signal }: Work, origin: FileOrigin) {
    opened = undefined;
    opened = await InspectedTable.open(await sourceOf(origin, signal), signal);
    return opened.facts;
  },
  block: ({ signal }: Work, number: number) => table().blockFacts(number, signal),
  entries: ({ signal }: Work, number: number, start: number, end: number, isWhole: boolean) => table().entries(number, start, end, isWhole, signal),
  filterBlock: ({ signal }: Work, number: number) => table().filterBlockFacts(number, signal),
  filters: ({ signal }: Work, number: number, start: number, end: number) => table().filters(number, start, end, signal),
  bytes: ({ signal }: Work, offset: number, length: number) => table().bytes(offset, length, signal),
  check: (work: Work) => table().check(work),
});
