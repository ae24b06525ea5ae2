// Lookups over HTTP from a server on this machine: how long they take, and how many requests.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BloomFilterPolicy } from '@bloom/policy';
import { Table } from '@bloom/sstable';
import { HttpSource } from '@bloom/sstable/http';
import { writeTable } from '@bloom/sstable/node';
import { allKeys, BITS_PER_KEY, lookupKeys, separate, Values } from './workload.js';

const ENTRIES = 100_000;
const GETS = 1000;

/** The measurement of one kind of lookup. */
export interface HttpFigure {
  readonly what: string;
  /** Microseconds per lookup. */
  readonly microseconds: number;
  readonly count: number;
  readonly requests: number;
  readonly bytes: number;
}

/** Measures opening and lookups, with the table's filter and without. */
export async function measureHttp(packageFolder: string, folder: string): Promise<HttpFigure[]> {
  const path = join(folder, 'http.ldb');
  const values = new Values();
  const entries = separate(allKeys(ENTRIES)).map((key, i) => [key, values.at(i)] as const);
  await writeTable(path, entries, { filterPolicy: new BloomFilterPolicy(BITS_PER_KEY), compression: 'none' });
  const server = spawn(process.execPath, [join(packageFolder, 'dist/http-server.js'), path], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [port] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const url = `http://127.0.0.1:${port}/http.ldb`;
    // The first pass warms up the engine and the connection.
    await measureTable(url, true);
    const figures: HttpFigure[] = [];
    for (const isFiltered of [true, false]) figures.push(...(await measureTable(url, isFiltered)));
    return figures;
  } finally {
    server.kill();
  }
}

async function measureTable(url: string, isFiltered: boolean): Promise<HttpFigure[]> {
  let requests = 0;
  let bytes = 0;
  const counting: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    requests++;
    if (init?.method !== 'HEAD') bytes += Number(response.headers.get('content-length'));
    return response;
  };
  const figures: HttpFigure[] = [];
  async function measure<T>(what: string, count: number, work: () => Promise<T>): Promise<T> {
    requests = bytes = 0;
    const start = process.hrtime.bigint();
    const result = await work();
    const microseconds = Number(process.hrtime.bigint() - start) / 1000 / count;
    figures.push({ what: `${what}, ${isFiltered ? 'with' : 'without'} filter`, microseconds, count, requests, bytes });
    return result;
  }
  const table = await measure('open', 1, async () =>
    Table.open(await HttpSource.open(url, { fetch: counting }), { cache: null, ...(!isFiltered && { filterPolicies: [] }) }),
  );
  for (const isPresent of [false, true]) {
    const keys = separate(lookupKeys(ENTRIES, isPresent)).slice(0, GETS);
    const found = await measure(`get of ${isPresent ? 'present' : 'absent'} keys`, GETS, async () => {
      let count = 0;
      for (const key of keys) if ((await table.get(key)) !== undefined) count++;
      return count;
    });
    if (found !== (isPresent ? GETS : 0)) throw new Error(`${found} of ${GETS} keys were found`);
  }
  return figures;
}
