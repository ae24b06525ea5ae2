import { DatabaseReader, type Folder, MemoryFolder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import { describe, expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';
import { rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const files = assembleDatabase({
  tables: [{ level: 1, number: 5, versions: [{ key: utf8('a'), sequence: 1, value: utf8('1') }] }],
  logs: [{ number: 10, batches: [{ sequence: 2, operations: [[utf8('b'), utf8('2')]] }] }],
});

/** A folder that stops answering, and ignores signals. */
class SilentFolder implements Folder {
  readonly #memory = new MemoryFolder(files);
  /** The calls that get no answer. */
  silent: string | undefined;
  /** Answers the calls that wait. */
  answer!: () => void;
  readonly #answered = new Promise<void>((resolve) => (this.answer = resolve));
  openFiles = 0;
  /** Resolves at the first call without an answer. */
  reached!: Promise<void>;
  #reach!: () => void;

  constructor(silent?: string) {
    this.beSilent(silent);
  }

  beSilent(silent: string | undefined): void {
    this.silent = silent;
    this.reached = new Promise((resolve) => (this.#reach = resolve));
  }

  async list(): Promise<readonly string[]> {
    await this.#wait('list');
    return this.#memory.list();
  }

  async identityOf(name: string) {
    await this.#wait('identityOf');
    return this.#memory.identityOf(name);
  }

  async open(name: string) {
    await this.#wait(name);
    const file = this.#memory.open(name);
    if (file === undefined) return undefined;
    this.openFiles++;
    const read = async (offset: number, length: number): Promise<Uint8Array> => {
      await this.#wait(`read of ${name}`);
      return file.read(offset, length);
    };
    return { name, byteLength: file.byteLength, identity: undefined, read, close: () => this.#close() };
  }

  #close(): void {
    this.openFiles--;
  }

  async #wait(call: string): Promise<void> {
    if (this.silent !== call) return;
    this.#reach();
    await this.#answered;
  }
}

const calls = ['list', 'identityOf', 'CURRENT', 'MANIFEST-000001', '000010.log', '000005.ldb', 'read of CURRENT', 'read of MANIFEST-000001', 'read of 000010.log', 'read of 000005.ldb'];
const turns = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe.each(calls)('while a folder does not answer a call (%s)', (call) => {
  test('an opening ends as soon as its signal is aborted, and a file that arrives later is closed', async () => {
    const folder = new SilentFolder(call);
    const controller = new AbortController();
    const opening = rejection(DatabaseReader.open(folder, { signal: controller.signal }));
    await folder.reached;
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await opening).toBe(reason);
    folder.answer();
    await turns();
    expect(folder.openFiles).toBe(0);
  });

  // A table is not opened again.
  test.skipIf(call.includes('ldb'))('a refresh ends as soon as its signal is aborted or the reader is closed', async () => {
    for (const ends of ['abort', 'close']) {
      const folder = new SilentFolder();
      const reader = await DatabaseReader.open(folder);
      folder.beSilent(call);
      const controller = new AbortController();
      const refreshing = rejection(reader.refresh({ signal: controller.signal }));
      await folder.reached;
      const reason = new Error('enough');
      if (ends === 'abort') controller.abort(reason);
      else await reader.close();
      expect(await refreshing).toEqual(ends === 'abort' ? reason : expect.objectContaining({ code: 'BLOOM_CLOSED' }));
      await reader.close();
      folder.answer();
      await turns();
      expect(folder.openFiles).toBe(0);
    }
  });
});

describe('an HttpFolder', () => {
  const page = '<!doctype html><title>A page</title>';
  const served = (bytes: Uint8Array | undefined): Response =>
    bytes === undefined
      ? new Response(page, { headers: { 'content-type': 'text/html', 'content-length': String(page.length) } })
      : new Response(new Uint8Array(bytes), { headers: { 'content-length': String(bytes.length) } });

  test.each([
    ['CURRENT again after a page', (name: string, asked: readonly string[]) => name === 'CURRENT' && asked.length > 2],
    ['a file that cannot exist', (name: string) => name.length > 20],
  ])('ends its request for %s as soon as no call waits for it', async (_, isSilent) => {
    const asked: string[] = [];
    let pending = 0;
    let reach: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const fetch = (url: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<Response> => {
      const name = url.split('/').at(-1)!;
      asked.push(name);
      if (!isSilent(name, asked)) return Promise.resolve(served(files.get(name)));
      pending++;
      reach!();
      return new Promise((_resolve, reject) => {
        signal?.addEventListener('abort', () => {
          pending--;
          reject(signal.reason as Error);
        });
      });
    };
    const controller = new AbortController();
    const opening = rejection(DatabaseReader.open(new HttpFolder('http://host.test/db/', { fetch }), { signal: controller.signal }));
    await reached;
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await opening).toBe(reason);
    await turns();
    expect(pending).toBe(0);
  });

  test('takes a function that makes only the URLs of files', async () => {
    const urlOf = (name: string): string => {
      if (!/^[A-Z0-9]/.test(name)) throw new Error(`no file is called ${name}`);
      return `http://host.test/db/${name}`;
    };
    const fetch = ((url: string) => Promise.resolve(files.has(url.split('/').at(-1)!) ? served(files.get(url.split('/').at(-1)!)) : new Response('', { status: 404 }))) as typeof globalThis.fetch;
    const folder = new HttpFolder(urlOf, { fetch });
    expect(folder.name).toBe('http://host.test/db/CURRENT');
    const reader = await DatabaseReader.open(folder);
    expect(await reader.get('b')).toEqual(utf8('2'));
    await reader.close();
  });
});
