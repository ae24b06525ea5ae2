// The script of a page where the user picks folders. It sends the server what it read from each folder, and from the copy of
// that folder on the server.
import { FileListFolder, type FileLike } from '@bloom/leveldb/browser';
import { HttpFolder } from '@bloom/leveldb/http';
import { type DatabaseFindings, databaseFindings } from './database-findings.js';

/** What the page gets from `/task`: the databases. Each is picked in the input whose id is its name. */
export type DatabaseTask = readonly { readonly name: string; readonly url: string; readonly isIndexedDb: boolean }[];

/** What the page sends to `/findings`. */
export type DatabasePageFindings = readonly {
  readonly name: string;
  readonly picked: DatabaseFindings;
  readonly overHttp: DatabaseFindings;
}[];

/** The parts of an `<input>` that are used here. */
interface FileInput {
  id: string;
  type: string;
  webkitdirectory: boolean;
  readonly files: ArrayLike<FileLike>;
  addEventListener(type: 'change', listener: () => void): void;
}

interface Page {
  readonly document: {
    createElement(name: 'input'): FileInput;
    readonly body: { append(element: FileInput): void };
  };
}

/** Adds an input with that id. @returns the files of the folder that is picked in it. */
function pick(id: string): Promise<ArrayLike<FileLike>> {
  const { document } = globalThis as unknown as Page;
  const input = document.createElement('input');
  Object.assign(input, { id, type: 'file', webkitdirectory: true });
  document.body.append(input);
  return new Promise((resolve) => input.addEventListener('change', () => resolve(input.files)));
}

async function find(task: DatabaseTask): Promise<DatabasePageFindings> {
  const picks = task.map(({ name }) => pick(name));
  const findings = [];
  for (const [i, { name, url, isIndexedDb }] of task.entries()) {
    const picked = await databaseFindings(new FileListFolder(await picks[i]!), isIndexedDb);
    const overHttp = await databaseFindings(new HttpFolder(url), isIndexedDb);
    findings.push({ name, picked, overHttp });
  }
  return findings;
}

const send = (path: string, body: string): Promise<unknown> => fetch(path, { method: 'POST', body });
try {
  const response = await fetch('/task');
  await send('/findings', JSON.stringify(await find((await response.json()) as DatabaseTask)));
} catch (error) {
  await send('/failure', error instanceof Error ? `${error.message}\n${error.stack}` : String(error));
}
