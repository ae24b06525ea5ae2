// The script of the page. It sends its findings to the server.
import { BlobSource } from '@bloom/sstable/blob';
import { HttpSource } from '@bloom/sstable/http';
import { filterFindings, type FilterFindings, policies, tableFindings, type TableFindings } from './findings.js';
import { watchWebAssembly, type WebAssemblyUse } from './watched-web-assembly.js';

/** What the page gets from `/task`. */
export interface Task {
  /** Paths of tables on the server. */
  readonly tables: readonly string[];
}

/** What the page sends to `/findings`. */
export interface PageFindings {
  readonly filters: readonly FilterFindings[];
  readonly tablesAsBlobs: readonly TableFindings[];
  readonly tablesOverHttp: readonly TableFindings[];
  readonly webAssembly: WebAssemblyUse;
}

async function find({ tables }: Task): Promise<PageFindings> {
  const webAssembly = watchWebAssembly();
  const filters = Object.keys(policies).map(filterFindings);
  const tablesAsBlobs: TableFindings[] = [];
  const tablesOverHttp: TableFindings[] = [];
  for (const path of tables) {
    const response = await fetch(path);
    tablesAsBlobs.push(await tableFindings(new BlobSource(await response.blob())));
    tablesOverHttp.push(await tableFindings(await HttpSource.open(path)));
  }
  return { filters, tablesAsBlobs, tablesOverHttp, webAssembly };
}

const send = (path: string, body: string): Promise<unknown> => fetch(path, { method: 'POST', body });
try {
  const response = await fetch('/task');
  await send('/findings', JSON.stringify(await find((await response.json()) as Task)));
} catch (error) {
  await send('/failure', error instanceof Error ? `${error.message}\n${error.stack}` : String(error));
}
