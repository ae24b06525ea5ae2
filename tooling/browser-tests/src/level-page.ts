/** Functions that tests call in a page: `import('/level-page.js')`. */
import { runAbstractSuite, type SuiteResult } from '@bloom/fixtures/abstract-suite';
import { BloomLevel, copyLevel } from '@bloom/level';
import { BrowserLevel } from 'browser-level';

export { BloomLevel, BrowserLevel, copyLevel };
export { measureLevel } from './level-measure.js';

let made = 0;

/** Runs abstract-level's suite on levels that are open in workers. */
export function runSuite(): Promise<SuiteResult> {
  return runAbstractSuite((options) => new BloomLevel(`suite/${made++}`, options));
}

/** The codes of an error and its causes. */
export function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { readonly code?: unknown };
    codes.push(typeof code === 'string' ? code : one.name);
  }
  return codes;
}

/** The messages of an error and its causes. */
function causesOf(error: unknown): string {
  return error instanceof Error ? `${error.message}${error.cause === undefined ? '' : `: ${causesOf(error.cause)}`}` : String(error);
}

declare const navigator: { readonly storage: { getDirectory(): Promise<DirectoryHandle> } };

interface DirectoryHandle {
  getDirectoryHandle(name: string): Promise<DirectoryHandle>;
  getFileHandle(name: string): Promise<{ getFile(): Promise<Blob> }>;
  keys(): AsyncIterable<string>;
}

const keyOf = (writer: string, i: number): string => `${writer} ${String(i).padStart(8, '0')}`;
/** Of some hundred bytes, so that tables are written and merged. */
const valueOf = (writer: string, i: number): string => `${writer}${i} `.repeat(20 + (i % 50));

/**
 * Writes entries with growing numbers, some with `sync`, some in batches, until the page ends.
 *
 * @param acknowledged called with numbers below which all entries were acknowledged.
 */
export async function writeOn(path: string, writer: string, from: number, acknowledged: (writer: string, end: number) => void): Promise<never> {
  const level = new BloomLevel(path, { writeBufferSize: 2 ** 16 });
  // Reporting each entry would take all of the test's time.
  const interval = 20;
  let last = 0;
  for (let i = from; ; ) {
    const end = i + 1 + (i % 5);
    const keys = Array.from({ length: end - i }, (_, j) => i + j);
    if (i % 3 === 0) await level.batch(keys.map((n) => ({ type: 'put', key: keyOf(writer, n), value: valueOf(writer, n) })));
    else await Promise.all(keys.map((n) => level.put(keyOf(writer, n), valueOf(writer, n), { sync: n % 2 === 0 })));
    i = end;
    if (performance.now() < last + interval) continue;
    last = performance.now();
    acknowledged(writer, i);
  }
}

/** The number of entries of a writer, from 0 without gaps and with the right values, and the number of other entries. */
export async function countOf(path: string, writer: string): Promise<{ readonly count: number; readonly others: number }> {
  const level = new BloomLevel(path);
  await level.open().catch(async (error: unknown) => {
    throw new Error(`${causesOf(error)}, of a folder with ${await namesOf(path)}`, { cause: error });
  });
  let count = 0;
  let others = 0;
  for await (const [key, value] of level.iterator({ gte: writer, lt: `${writer}~` })) {
    if (key === keyOf(writer, count) && value === valueOf(writer, count)) count++;
    else others++;
  }
  await level.close();
  return { count, others };
}

/** The names of the files of a folder, with their lengths, and the contents of CURRENT. */
async function namesOf(path: string): Promise<string> {
  const files = Object.entries(await filesOf(path)).map(([name, base64]) => [name, atob(base64)] as const);
  return files.map(([name, bytes]) => `${name} (${name === 'CURRENT' ? bytes.trim() : bytes.length})`).join(', ');
}

/** The files of a folder, by their names, in base64. */
export async function filesOf(path: string): Promise<Record<string, string>> {
  let folder = await navigator.storage.getDirectory();
  for (const name of path.split('/')) folder = await folder.getDirectoryHandle(name);
  const files: Record<string, string> = {};
  for await (const name of folder.keys()) {
    const bytes = new Uint8Array(await (await (await folder.getFileHandle(name)).getFile()).arrayBuffer());
    files[name] = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  }
  return files;
}
