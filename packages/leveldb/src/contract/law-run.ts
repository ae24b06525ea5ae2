/** One run of one law: calls the folder, and reports what it does wrong. */
import { isPromise, numberOf } from '@bloom/bytes/internal';
import { type Folder, FolderError, type FolderFile } from '../folder/folder.js';
import { LOCK, LOST } from '../format/file-name.js';
import type { WritableFile, WritableFolder } from '../folder/writable-folder.js';
import { FolderLawError } from './folder-law-error.js';

// Taken at load: test suites replace the host's functions with fake ones.
const startTimer = setTimeout;
const stopTimer = clearTimeout;

/** What a call threw. */
export interface Failure {
  readonly error: unknown;
}

export class LawRun {
  readonly #law: string;
  readonly #patienceMs: number;
  /** Files that the law has opened, to be closed when it has ended. */
  readonly #open = new Set<FolderFile | WritableFile>();

  constructor(law: string, patienceMs: number) {
    this.#law = law;
    this.#patienceMs = patienceMs;
  }

  fail(problem: string, cause?: unknown): never {
    throw new FolderLawError(this.#law, problem, { cause });
  }

  /**
   * Makes a call that must succeed.
   *
   * @param what the call, as a message names it: `delete("CURRENT")`.
   */
  async call<T>(what: string, call: () => T | Promise<T>): Promise<T> {
    const outcome = await this.outcomeOf(what, call);
    if ('error' in outcome) this.fail(`${what} fails: ${shownError(outcome.error)}`, outcome.error);
    return outcome.answer;
  }

  /** Makes a call that must succeed, and must not return a promise. */
  callSync<T>(what: string, call: () => T): T {
    let answer: T;
    try {
      answer = call();
    } catch (error) {
      this.fail(`${what} fails: ${shownError(error)}`, error);
    }
    if (isPromise(answer)) this.fail(`${what} returns a promise`);
    return answer;
  }

  /** Makes a call that may fail. The law fails if the call does not settle. */
  async outcomeOf<T>(what: string, call: () => T | Promise<T>): Promise<{ readonly answer: T } | Failure> {
    let expire = (): void => undefined;
    const late = new Promise<'late'>((resolve) => (expire = () => resolve('late')));
    const timer = startTimer(() => expire(), this.#patienceMs);
    try {
      const answer = await Promise.race([Promise.resolve(call()).then((settled) => ({ answer: settled })), late]);
      if (answer !== 'late') return answer;
    } catch (error) {
      return { error };
    } finally {
      stopTimer(timer);
    }
    this.fail(`${what} does not settle within ${this.#patienceMs} ms`);
  }

  /** Lets timers and I/O of the host go first. */
  turn(): Promise<void> {
    return new Promise((resolve) => void startTimer(resolve, 0));
  }

  // Reading

  /** The file called `name`; undefined when the folder has none. */
  async openIfThere(folder: Folder, name: string): Promise<FolderFile | undefined> {
    const file: unknown = await this.call(`open(${shownName(name)})`, () => folder.open(name));
    // Another law checks that it must be undefined for missing files.
    if (file === undefined || file === null) return undefined;
    if (typeof file !== 'object' || typeof (file as Partial<FolderFile>).read !== 'function') {
      this.fail(`open(${shownName(name)}) returns ${typeof file}, which is neither a file nor undefined`);
    }
    this.#open.add(file as FolderFile);
    return file as FolderFile;
  }

  /** The file called `name`, which must be there. */
  async open(folder: Folder, name: string): Promise<FolderFile> {
    const file = await this.openIfThere(folder, name);
    return file ?? this.fail(`open(${shownName(name)}) returns undefined although there is a file of that name`);
  }

  async mustBeAbsent(folder: Folder, name: string, when: string): Promise<void> {
    const file = await this.openIfThere(folder, name);
    if (file === undefined) return;
    await this.closeFile(file);
    this.fail(`open(${shownName(name)}) returns a file ${when}`);
  }

  /** Reads a range that is inside the file. */
  async read(file: FolderFile, name: string, offset: number, length: number): Promise<Uint8Array> {
    return this.mustBeRead(await this.call(`read(${offset}, ${length}) of ${shownName(name)}`, () => file.read(offset, length)), name, offset, length);
  }

  mustBeRead(bytes: unknown, name: string, offset: number, length: number): Uint8Array {
    if (!(bytes instanceof Uint8Array)) this.fail(`read(${offset}, ${length}) of ${shownName(name)} does not return a Uint8Array`);
    if (bytes.length !== length) this.fail(`read(${offset}, ${length}) of ${shownName(name)} returns ${numberOf(bytes.length, 'byte')}`);
    return bytes;
  }

  /** Checks that an open file holds `expected`. */
  async mustRead(file: FolderFile, name: string, expected: Uint8Array, when = ''): Promise<void> {
    if (file.byteLength !== expected.length) this.fail(`${shownName(name)} has ${numberOf(expected.length, 'byte')}, and a byteLength of ${file.byteLength}${when}`);
    if (expected.length === 0) return;
    const difference = differenceOf(await this.read(file, name, 0, expected.length), expected);
    if (difference !== undefined) this.fail(`${shownName(name)} ${difference}${when}`);
  }

  /**
   * Checks that a file that was opened before the folder changed holds the bytes that it held then, or reports that the folder has changed.
   */
  async mustReadAsBefore(file: FolderFile, name: string, before: Uint8Array, when: string): Promise<void> {
    if (file.byteLength !== before.length) this.fail(`the byteLength of ${shownName(name)} changes from ${before.length} to ${file.byteLength}${when}`);
    const what = `read(0, ${before.length}) of ${shownName(name)}`;
    const outcome = await this.outcomeOf(what, () => file.read(0, before.length));
    if ('error' in outcome) {
      if (isChange(outcome.error)) return;
      this.fail(`${what} fails with an error other than FolderError BLOOM_FOLDER_CHANGED${when}: ${shownError(outcome.error)}`, outcome.error);
    }
    const difference = differenceOf(this.mustBeRead(outcome.answer, name, 0, before.length), before);
    if (difference !== undefined) this.fail(`${shownName(name)}, which was opened before, ${difference}${when}`);
  }

  /** Checks that the folder has a file `name` that holds `expected`. */
  async mustHold(folder: Folder, name: string, expected: Uint8Array, when = ''): Promise<void> {
    const file = await this.open(folder, name);
    await this.mustRead(file, name, expected, when);
    await this.closeFile(file);
  }

  /** The contents of the file, as a copy; undefined when there is none. */
  async contentsOf(folder: Folder, name: string): Promise<Uint8Array | undefined> {
    const file = await this.openIfThere(folder, name);
    if (file === undefined) return undefined;
    const bytes = file.byteLength === 0 ? new Uint8Array(0) : (await this.read(file, name, 0, file.byteLength)).slice();
    await this.closeFile(file);
    return bytes;
  }

  async closeFile(file: FolderFile | WritableFile, what = 'close() of a file'): Promise<void> {
    this.#open.delete(file);
    await this.call(what, () => file.close?.());
  }

  /** The names of the files, sorted. LOCK and `lost` are left out: a folder may list them or not. */
  async names(folder: Folder): Promise<string[]> {
    const names: unknown = await this.call('list()', () => folder.list!());
    if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) this.fail('list() returns no array of names');
    return names.filter((name) => name !== LOCK && name !== LOST).sort();
  }

  /** Checks which files are listed. The laws about the list check that each is listed once. */
  async mustList(folder: Folder, expected: readonly string[], when: string): Promise<void> {
    this.#mustBe([...new Set(await this.names(folder))], expected, when);
  }

  async mustListOnce(folder: Folder, expected: readonly string[], when: string): Promise<void> {
    this.#mustBe(await this.names(folder), expected, when);
  }

  #mustBe(names: readonly string[], expected: readonly string[], when: string): void {
    const wanted = [...expected].sort();
    if (names.length === wanted.length && names.every((name, i) => name === wanted[i])) return;
    this.fail(`list() returns ${names.map(shownName).join(', ') || 'no names'} ${when}, and the folder has ${wanted.map(shownName).join(', ') || 'no files'}`);
  }

  // Writing

  async create(folder: WritableFolder, name: string): Promise<WritableFile> {
    return this.#written(`create(${shownName(name)})`, await this.call(`create(${shownName(name)})`, () => folder.create(name)));
  }

  /** Opens an existing file for appending; undefined where the folder no longer allows that. */
  async openForAppend(folder: WritableFolder, name: string): Promise<WritableFile | undefined> {
    const file = await this.call(`openForAppend(${shownName(name)})`, () => folder.openForAppend(name));
    return file === undefined ? undefined : this.#written(`openForAppend(${shownName(name)})`, file);
  }

  #written(what: string, file: WritableFile): WritableFile {
    const { append, sync, close } = Object(file) as Partial<WritableFile>;
    if (typeof append !== 'function' || typeof sync !== 'function' || typeof close !== 'function') this.fail(`${what} returns no file with append(), sync() and close()`);
    this.#open.add(file);
    return file;
  }

  /** Appends a copy of the bytes: another law checks bytes that are lent. */
  append(file: WritableFile, bytes: Uint8Array): Promise<void> {
    return this.call(`append() of ${numberOf(bytes.length, 'byte')}`, () => file.append(bytes.slice()));
  }

  sync(file: WritableFile): Promise<void> {
    return this.call('sync() of a file', () => file.sync());
  }

  /** Creates a file, or replaces it, with one call of `append`. */
  async put(folder: WritableFolder, name: string, bytes: Uint8Array): Promise<void> {
    const file = await this.create(folder, name);
    if (bytes.length > 0) {
      await this.append(file, bytes);
      await this.sync(file);
    }
    await this.closeFile(file);
  }

  delete(folder: WritableFolder, name: string): Promise<void> {
    return this.call(`delete(${shownName(name)})`, () => folder.delete(name));
  }

  rename(folder: WritableFolder, from: string, to: string): Promise<void> {
    return this.call(`rename(${shownName(from)}, ${shownName(to)})`, () => folder.rename(from, to));
  }

  syncFolder(folder: WritableFolder): Promise<void> {
    return this.call('syncFolder()', () => folder.syncFolder());
  }

  /** Closes the files that the law has left open. A failure is ignored, because the law has already had its result. */
  async end(): Promise<void> {
    // Together, so that several which never settle are waited for once. The folder may have closed a file itself.
    await Promise.allSettled([...this.#open].map((file) => this.outcomeOf('close() of a file', () => file.close?.())));
  }
}

/** Whether `error` says that a file or its folder is no longer what it was. */
export function isChange(error: unknown): boolean {
  return error instanceof FolderError && error.code === 'BLOOM_FOLDER_CHANGED';
}

export function shownError(error: unknown): string {
  try {
    return String(error);
  } catch {
    return 'a value that cannot be shown';
  }
}

export function shownName(name: string): string {
  return JSON.stringify(name);
}

/** How `found` differs from the expected bytes, as the end of a sentence; undefined when it does not. */
export function differenceOf(found: Uint8Array, held: Uint8Array): string | undefined {
  const length = Math.min(found.length, held.length);
  let i = 0;
  while (i < length && found[i] === held[i]) i++;
  if (i < length) return `has byte 0x${found[i]!.toString(16)} at offset ${i}, and 0x${held[i]!.toString(16)} was written there`;
  return found.length === held.length ? undefined : `has ${numberOf(found.length, 'byte')}, and ${held.length} were written`;
}
