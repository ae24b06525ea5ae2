import type { FileOrigin } from './table-facts.js';
import { TableClient } from './table-client.js';

/** The table that is open, kept while other views are looked at. */
let current: TableClient | undefined;

export function openedTable(): TableClient | undefined {
  return current;
}

export async function openTable(origin: FileOrigin, signal?: AbortSignal): Promise<TableClient> {
  const client = await TableClient.open(origin, { signal });
  current?.close();
  current = client;
  return client;
}

export function closeTable(): void {
  current?.close();
  current = undefined;
}

export const SAMPLE_TABLE = 'weather.ldb';

export function sampleUrl(path: string): string {
  return new URL(`samples/${path}`, document.baseURI).href;
}
