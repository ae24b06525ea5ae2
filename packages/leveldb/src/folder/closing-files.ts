import type { Signal } from '@bloom/bytes';
import { isPromise } from '@bloom/bytes/internal';
import type { Folder, FolderFile } from './folder.js';
import { type FolderReading, openFile, runAsync } from './folder-reading.js';

/** Closes files that were only read, without waiting. A failure is ignored, because it loses nothing. */
export class ClosingFiles {
  readonly #closing = new Set<Promise<void>>();

  close(file: Pick<FolderFile, 'close'> | undefined): void {
    let closing: void | Promise<void>;
    try {
      closing = file?.close?.();
    } catch {
      return;
    }
    // A promise that refers to the file would keep it in memory until the event loop turns, and synchronous lookups close many.
    if (!isPromise(closing)) return;
    const closed = attempt(() => closing).then(() => void this.#closing.delete(closed));
    this.#closing.add(closed);
  }

  /** Resolves when every file is closed. */
  async settled(): Promise<void> {
    while (this.#closing.size > 0) await Promise.all(this.#closing);
  }
}

/** Closes a file that was only read. A failure is ignored, as in {@link ClosingFiles}. */
export function closeRead(file: Pick<FolderFile, 'close'> | undefined): Promise<void> {
  return attempt(() => file?.close?.());
}

/** The result of `use` for the file called `name`, which is then closed; `use` gets undefined when there is no such file. */
export async function withFile<T>(folder: Folder, name: string, use: (file: FolderFile | undefined) => Promise<T>, signal?: Signal): Promise<T> {
  const file = await folder.open(name, signal);
  try {
    return await use(file);
  } finally {
    await closeRead(file);
  }
}

/** Runs `work` and then `end`, even if the work fails. A failure of `end` does not replace that of the work. */
export async function runEnding<T>(work: () => Promise<T>, end: () => void | Promise<void>): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    await attempt(end);
    throw error;
  }
  const ending = end();
  if (ending !== undefined) await ending;
  return result;
}

/** Starts all steps, and waits for all, even if one fails. @throws the failure of the first one that failed. */
export async function allDone(steps: readonly (() => void | Promise<void>)[]): Promise<void> {
  for (const outcome of await Promise.allSettled(steps.map(started))) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Not async, because that would make another promise. */
function started(step: () => void | Promise<void>): Promise<void> {
  try {
    const ending = step();
    return isPromise(ending) ? ending : Promise.resolve();
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Runs `end`, and ignores its failure: it loses nothing, or must not replace an earlier one. */
export async function attempt(end: () => void | Promise<void>): Promise<void> {
  try {
    await end();
  } catch {
    // The caller has chosen to ignore it.
  }
}

/** Runs a reading, and waits until the files that it passed to `closing` are closed. */
export async function runClosing<T>(folder: Folder, read: (closing: ClosingFiles) => FolderReading<T>, signal?: Signal): Promise<T> {
  const closing = new ClosingFiles();
  try {
    return await runAsync(folder, read(closing), signal);
  } finally {
    await closing.settled();
  }
}

/** The result of `use` for the file called `name`, which is then closed; undefined when there is no such file. */
export function* useFile<T>(name: string, closing: ClosingFiles, use: (file: FolderFile) => FolderReading<T>): FolderReading<T | undefined> {
  const file = yield* openFile(name);
  if (file === undefined) return undefined;
  try {
    return yield* use(file);
  } finally {
    closing.close(file);
  }
}
