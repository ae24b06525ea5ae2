/** A worker that runs the laws of folders and abstract-level's suite on the origin private file system. */
import { runAbstractSuite } from '@bloom/fixtures/abstract-suite';
import { BloomLevel } from '@bloom/level';
import { type FolderLaw, folderLaws, readFolderLaws } from '@bloom/leveldb/contract';
import { OpfsFolder, WritableOpfsFolder } from '@bloom/leveldb/opfs';
import { BrowserLevel } from 'browser-level';
import { measureLevel } from './level-measure.js';
import { answerCalls } from './worker-call.js';

let made = 0;
const newFolder = (): WritableOpfsFolder => new WritableOpfsFolder(`folders/${Math.random().toString(36).slice(2)}-${made++}`);

interface FileHandlePrototype {
  move?: unknown;
}
declare const FileSystemFileHandle: { readonly prototype: FileHandlePrototype };

/** A law, and the problem of a folder that breaks it. */
type Checked = readonly [law: string, failure: string | undefined];

async function checked(laws: readonly FolderLaw[]): Promise<Checked[]> {
  const results: Checked[] = [];
  for (const law of laws) {
    const failure = await law.run().then(
      () => undefined,
      (error: unknown) => String(error),
    );
    results.push([law.name, failure]);
  }
  return results;
}

async function checkLaws(withMove: boolean): Promise<Checked[]> {
  const { prototype } = FileSystemFileHandle;
  const { move } = prototype;
  if (!withMove) delete prototype.move;
  try {
    return await checked(folderLaws(newFolder, { again: (folder) => folder }));
  } finally {
    prototype.move = move;
  }
}

/** Checks the laws of reading with a folder whose files another one writes. */
function checkReadLaws(): Promise<Checked[]> {
  const filled = async (files: ReadonlyMap<string, Uint8Array>): Promise<OpfsFolder> => {
    const folder = newFolder();
    await folder.createFolder();
    for (const [name, bytes] of files) {
      const file = await folder.create(name);
      await file.append(bytes);
      await file.close();
    }
    return new OpfsFolder(folder.name);
  };
  return checked(readFolderLaws(filled));
}

interface Failing {
  /** A call whose quota is used up. */
  truncate?: () => never;
  write?: () => Promise<never>;
}
declare const FileSystemSyncAccessHandle: { readonly prototype: Failing };
declare const FileSystemWritableFileStream: { readonly prototype: Failing };

/** Creates and renames a file while the quota is used up, each once, and then again. @returns how it ends, and what the file holds then. */
async function failFirst(): Promise<readonly unknown[]> {
  const full = (): DOMException => new DOMException('no room', 'QuotaExceededError');
  const folder = newFolder();
  await folder.createFolder();
  const failed: unknown[] = [];
  const twice = async <T>(prototype: Failing, method: keyof Failing, failing: () => never, call: () => Promise<T>): Promise<T> => {
    const before = prototype[method];
    Object.assign(prototype, { [method]: failing });
    try {
      await call();
    } catch (error) {
      failed.push(...codesOf(error));
    } finally {
      Object.assign(prototype, { [method]: before });
    }
    return call();
  };
  const throwFull = (): never => {
    throw full();
  };
  const file = await twice(FileSystemSyncAccessHandle.prototype, 'truncate', throwFull, () => folder.create('000001.dbtmp'));
  await file.append(new TextEncoder().encode('bytes'));
  await file.close();
  const { prototype } = FileSystemFileHandle;
  const { move } = prototype;
  delete prototype.move;
  try {
    await twice(FileSystemWritableFileStream.prototype, 'write', throwFull, () => folder.rename('000001.dbtmp', 'CURRENT'));
  } finally {
    prototype.move = move;
  }
  const renamed = (await folder.open('CURRENT'))!;
  return [...failed, new TextDecoder().decode(await renamed.read(0, renamed.byteLength))];
}

/** What this worker has open. */
let level: BloomLevel | undefined;

/** Puts values that cannot be compressed until a write fails. @returns the number of acknowledged puts, and the error of the next one. */
async function putUntilFull(byteLength: number): Promise<{ readonly count: number; readonly codes: unknown[] }> {
  for (let count = 0; ; count++) {
    try {
      await level!.put(keyOf(count), randomText(byteLength));
    } catch (error) {
      return { count, codes: codesOf(error) };
    }
  }
}

const keyOf = (i: number): string => `key ${String(i).padStart(8, '0')}`;

function randomText(byteLength: number): string {
  return String.fromCharCode(...crypto.getRandomValues(new Uint8Array(byteLength)).map((byte) => byte & 127));
}

/** The codes of an error and its causes. */
function codesOf(error: unknown): unknown[] {
  const codes: unknown[] = [];
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code } = one as { readonly code?: unknown };
    // Those of the browser have a name, and a number for old programs.
    codes.push(typeof code === 'string' ? code : one.name);
  }
  return codes;
}

/** How many of the keys of `putUntilFull` there are, from the first, without a hole. */
async function countPut(opened: BloomLevel): Promise<number> {
  let count = 0;
  for await (const key of opened.keys()) if (key === keyOf(count)) count++;
  return count;
}

answerCalls({
  open: async (path: string, writeBufferSize?: number, reuseLogs?: boolean) => {
    level = new BloomLevel(new WritableOpfsFolder(path), { ...(writeBufferSize !== undefined && { writeBufferSize }), reuseLogs });
    await level.open().catch((error: unknown) => {
      throw Object.assign(new Error(String((error as Error).cause)), { code: codesOf(error).join(' ') });
    });
  },
  close: () => level!.close(),
  measure: (name: string) => measureLevel(new BloomLevel(new WritableOpfsFolder(name))),
  measureBrowserLevel: (name: string) => measureLevel(new BrowserLevel(name) as unknown as BloomLevel),
  put: (key: string, value: string) => level!.put(key, value),
  putUntilFull,
  count: () => countPut(level!),
  countReadOnly: async (path: string) => {
    const reader = new BloomLevel(new OpfsFolder(path), { readOnly: true });
    const count = await countPut(reader);
    await reader.close();
    return count;
  },
  checkLaws,
  checkReadLaws,
  failFirst,
  runSuite: (withSublevels: boolean) => runAbstractSuite((options) => new BloomLevel(newFolder(), options), withSublevels),
  read: async (path: string, name: string) => {
    const file = await new OpfsFolder(path).open(name);
    return file && new TextDecoder().decode(await file.read(0, file.byteLength));
  },
});
