import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, open, readlink, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { TableBuilder, type TableInfo } from '../write/table-builder.js';
import type { TableBuilderOptions } from '../write/options.js';
import type { TableSink } from '../write/sink.js';

/** Bytes that are gathered before they are written: large writes cost the system less. */
const WRITE_BYTES = 1 << 20;

/** How to write a table. */
export interface WriteTableOptions extends TableBuilderOptions {
  /** Ends the writing early: nothing is left behind, and the old file, if any, stays. */
  readonly signal?: AbortSignal | undefined;
  /** Told from time to time how many entries were added. */
  readonly onProgress?: ((entries: number) => void) | undefined;
}

/** Keys and values, ascending by key. */
export type EntryInput =
  | Iterable<readonly [key: Uint8Array, value: Uint8Array]>
  | AsyncIterable<readonly [key: Uint8Array, value: Uint8Array]>;

/**
 * Writes a table to `path`, whole or not at all.
 *
 * The table grows in a temporary file in the same folder, which takes the name `path` only once all of it is on disk.
 * On any failure the temporary file is removed, and whatever had that name before stays as it was. Memory: the index,
 * the filters, one block and a write buffer of 1 MiB.
 *
 * @param path where a link leads, if it is one.
 * @throws RangeError for an option that is wrong, or keys that are not ascending; whatever `entries` throws; the
 *   system's error when the file cannot be written.
 * @example
 * ```ts
 * await writeTable('words.ldb', [[utf8('hello'), utf8('world')]]);
 * ```
 */
export async function writeTable(path: string, entries: EntryInput, options: WriteTableOptions = {}): Promise<TableInfo> {
  const { signal } = options;
  signal?.throwIfAborted();
  const target = await followLinks(path);
  await mustBeReplaceable(target);
  const folder = dirname(target);
  const temporary = join(folder, `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  // 'wx': never a file that is somebody else's.
  const handle = await open(temporary, 'wx');
  try {
    let info: TableInfo;
    try {
      info = await writeEntries(handle, entries, options);
      await handle.sync();
    } finally {
      await handle.close();
    }
    signal?.throwIfAborted();
    await rename(temporary, target);
    await syncFolder(folder);
    return info;
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Only a file is replaced by a file: to rename over a device or a pipe would do away with it. */
async function mustBeReplaceable(target: string): Promise<void> {
  const stat = await lstat(target).catch(() => undefined);
  if (stat === undefined || stat.isFile()) return;
  const code = stat.isDirectory() ? 'EISDIR' : 'EINVAL';
  const problem = stat.isDirectory() ? 'is a directory' : 'is not a regular file';
  throw Object.assign(new Error(`${code}: ${problem}, open '${target}'`), { code, path: target, syscall: 'open' });
}

/** More links than this one behind the other are a circle. */
const MAX_LINKS = 40;

/** Where `path` leads, also when nothing is there yet. */
async function followLinks(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    const next = await readlink(target).catch(() => undefined);
    if (next === undefined) return target;
    target = resolve(dirname(target), next);
  }
  throw Object.assign(new Error(`ELOOP: too many symbolic links, open '${path}'`), { code: 'ELOOP', path });
}

async function writeEntries(handle: FileHandle, entries: EntryInput, options: WriteTableOptions): Promise<TableInfo> {
  const { signal, onProgress } = options;
  const buffer = new WriteBuffer();
  const builder = new TableBuilder(buffer, options);

  async function drain(): Promise<void> {
    await buffer.writeTo(handle);
    signal?.throwIfAborted();
    onProgress?.(builder.entries);
  }

  // Only what is asynchronous is awaited: awaiting each entry of a plain list would cost more than building the table.
  if (Symbol.iterator in entries) {
    for (const [key, value] of entries) {
      builder.add(key, value);
      if (buffer.byteLength >= WRITE_BYTES) await drain();
    }
  } else {
    for await (const [key, value] of untilAborted(entries, signal)) {
      builder.add(key, value);
      if (buffer.byteLength >= WRITE_BYTES) await drain();
    }
  }
  const info = builder.finish();
  await drain();
  return info;
}

/** `entries`, until the signal: a source that keeps one waiting does not keep the abort waiting. */
async function* untilAborted<T>(entries: AsyncIterable<T>, signal: AbortSignal | undefined): AsyncGenerator<T, void, undefined> {
  if (signal === undefined) {
    yield* entries;
    return;
  }
  const iterator = entries[Symbol.asyncIterator]();
  let endWait: ((reason: unknown) => void) | undefined;
  const abort = (): void => endWait?.(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    for (;;) {
      signal.throwIfAborted();
      // Not Promise.race: each race would leave a reaction behind on the one promise that lasts.
      const step = await new Promise<IteratorResult<T>>((resolve, reject) => {
        endWait = reject;
        iterator.next().then(resolve, reject);
      });
      if (step.done === true) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener('abort', abort);
    // Not awaited: it would wait for the entry that nobody wants.
    iterator.return?.().catch(() => undefined);
  }
}

/** Finished bytes that are not written yet. */
class WriteBuffer implements TableSink {
  #parts: Uint8Array[] = [];
  byteLength = 0;

  append(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.byteLength += bytes.length;
  }

  async writeTo(handle: FileHandle): Promise<void> {
    const parts = this.#parts;
    this.#parts = [];
    this.byteLength = 0;
    if (parts.length === 0) return;
    let { bytesWritten } = await handle.writev(parts);
    // Hardly ever are some left: when a signal came between, or the disk is full, which the next call says.
    for (const bytes of parts) {
      let written = Math.min(bytesWritten, bytes.length);
      bytesWritten -= written;
      while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
    }
  }
}

/** Makes the new name last through a loss of power. */
async function syncFolder(folder: string): Promise<void> {
  // Windows has no handles of folders to sync, and needs none.
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
