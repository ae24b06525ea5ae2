// The script of a page on which folders are picked: sends the server what it found in each, and in its copy on the server.
import { FileListFolder, type FileLike } from '@bloom/leveldb/browser';
import { HttpFolder } from '@bloom/leveldb/http';
import { type DatabaseFindings, databaseFindings } from './database-findings.js';

/** The page's question, answered at `/task`: the databases, each to be picked in the input with its name as id. */
export type DatabaseTask = readonly { readonly name: string; readonly url: string; readonly isIndexedDb: boolean }[];

/** The page's answer, sent to `/findings`. */
export type DatabasePageFindings = readonly {
  readonly name: string;
  readonly picked: DatabaseFindings;
  readonly overHttp: DatabaseFindings;
}[];

/** What is needed of an `<input>`. */
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

/** The files of the folder that is picked in an input of that id. */
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
