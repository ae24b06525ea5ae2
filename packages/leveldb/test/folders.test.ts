import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { entriesSha256, folderFiles, goldenDatabases } from '@bloom/fixtures';
import { CorruptionError, DatabaseReader, type Folder, FolderError, MemoryFolder, SyncDatabaseReader, type SyncFolder } from '@bloom/leveldb';
import { DirectoryFolder, FileListFolder } from '@bloom/leveldb/browser';
import { HttpFolder } from '@bloom/leveldb/http';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { MemorySource } from '@bloom/sstable';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleDatabase, type DatabaseParts } from './assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';
import { reverseComparator } from './reverse-comparator.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);

/** A `FileSystemDirectoryHandle` over files in memory. `getFile` returns a snapshot, which cannot be read once the file changes. */
function directoryHandle(files: Map<string, Uint8Array>) {
  return {
    name: 'database',
    async *keys() {
      yield* [...files.keys()].reverse();
    },
    async getFileHandle(name: string) {
      const bytes = files.get(name);
      if (bytes === undefined) throw new DOMException('no such file', 'NotFoundError');
      return {
        async getFile() {
          const blob = new Blob([bytes.slice()]);
          return {
            name,
            size: blob.size,
            slice: (start: number, end: number) => ({
              async arrayBuffer() {
                if (files.get(name) !== bytes) throw new DOMException('the file changed', 'NotReadableError');
                return blob.slice(start, end).arrayBuffer();
              },
            }),
          };
        },
      };
    },
  };
}

function fileList(files: Map<string, Uint8Array>, folder: string): File[] {
  return [...files].map(([name, bytes]) => Object.assign(new File([bytes.slice()], name), { webkitRelativePath: `${folder}/${name}` }));
}

/** Serves folders in memory under their names, with ranges and ETags. */
const served = new Map<string, Map<string, Uint8Array>>();
const requests: string[] = [];
let server: Server;
let origin = '';

beforeAll(async () => {
  server = createServer((request, response) => {
    const [, folder = '', name = ''] = (request.url ?? '').split('/').map(decodeURIComponent);
    const bytes = served.get(folder)?.get(name);
    requests.push(`${request.method ?? ''} ${name}`);
    if (bytes === undefined) return response.writeHead(404).end();
    const headers = { etag: `"${bytes.length}-${bytes.reduce((sum, byte) => (sum * 31 + byte) >>> 0, 0)}"`, 'accept-ranges': 'bytes' };
    if (request.method === 'HEAD') return response.writeHead(200, { ...headers, 'content-length': bytes.length }).end();
    const [, start, end] = /^bytes=(\d*)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const [first, last] = start === '' ? [Math.max(0, bytes.length - Number(end)), bytes.length - 1] : [start, end];
    if (first === undefined) return response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
    if (Number(first) >= bytes.length) return response.writeHead(416, { ...headers, 'content-range': `bytes */${bytes.length}` }).end();
    const part = bytes.subarray(Number(first), Number(last) + 1);
    const range = `bytes ${first}-${Number(first) + part.length - 1}/${bytes.length}`;
    return response.writeHead(206, { ...headers, 'content-length': part.length, 'content-range': range }).end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
});

const kinds: Record<string, (path: string) => Folder> = {
  memory: (path) => new MemoryFolder(folderFiles(path)),
  'Node.js': (path) => new NodeFolder(path),
  'Node.js without promises': (path) => new SyncNodeFolder(path),
  'a directory handle': (path) => new DirectoryFolder(directoryHandle(folderFiles(path))),
  'a list of files': (path) => new FileListFolder(fileList(folderFiles(path), 'picked/database')),
  HTTP: (path) => {
    served.set('database', folderFiles(path));
    return new HttpFolder(`${origin}/database`);
  },
  'HTTP with known files': (path) => {
    served.set('database', folderFiles(path));
    return new HttpFolder((name) => `${origin}/database/${name}`, { files: [...folderFiles(path).keys()] });
  },
};

test.each([
  ['no picked files', null, 'files must be an iterable of Files, got null'],
  ['one file', new File([], 'CURRENT'), 'files must be an iterable of Files, got a File'],
  ['a list of names', ['CURRENT'], 'each of files must be a File, got string'],
])('a list of files refuses %s', (_, files, message) => {
  expect(() => new FileListFolder(files as never)).toThrow(new TypeError(message));
});

test.each([
  ['nothing', undefined, 'undefined'],
  ['a file handle', { name: 'a', getFile: () => Promise.resolve(new File([], 'a')) }, 'object without keys() and getFileHandle()'],
])('a directory handle cannot be %s', (_, handle, kind) => {
  expect(() => new DirectoryFolder(handle as never)).toThrow(new TypeError(`handle must be a FileSystemDirectoryHandle, got ${kind}`));
});

describe.each(Object.entries(kinds))('a folder in %s', (kind, make) => {
  test.each(goldenDatabases().filter(({ open }) => open === 'OK'))('reads the entries of $name', async ({ path, verified, entriesSha256: sha256, logs, levels }) => {
    const options = { comparators: [reverseComparator], damage: 'skip' } as const;
    const database = await DatabaseReader.open(make(path), options);
    expect(entriesSha256(await collect(database.entries()))).toBe(verified?.entriesSha256 ?? sha256);
    expect(entriesSha256((await collect(database.entries({ reverse: true }))).reverse())).toBe(verified?.entriesSha256 ?? sha256);
    const description = database.describe();
    expect([description.logs.map(({ number }) => Number(number)), description.levels.map((files) => files.length)]).toEqual([logs, levels]);
    expect(await database.refresh()).toBe(false);
    await database.close();
  });

  test.each(goldenDatabases().filter(({ open }) => open !== 'OK'))('refuses $name', async ({ path, open }) => {
    const code = open.includes('missing') ? 'BLOOM_MISSING_FILE' : 'BLOOM_BAD_CURRENT';
    if (kind === 'HTTP' && open.includes('missing')) {
      // Without a list of the files it is found out when the table is first needed.
      const database = await DatabaseReader.open(make(path));
      expect(await rejection(collect(database.entries()))).toMatchObject({ name: 'FolderError', code: 'BLOOM_FOLDER_CHANGED' });
      expect(await rejection(DatabaseReader.open(make(path), { openTables: 'at-opening' }))).toMatchObject({ code });
      return;
    }
    expect(await rejection(DatabaseReader.open(make(path)))).toMatchObject({ code });
  });

  test('finds no file under a name that points outside the folder', async () => {
    const folder = make(goldenDatabases()[0]!.path);
    for (const name of ['../golden-db/CURRENT', '..', '.', '', '/etc/hostname', 'a\0b', 'missing']) expect(await folder.open(name)).toBeUndefined();
    expect(kind).toBeDefined();
  });
});

test('if the picked files have several databases, the caller must choose one', async () => {
  const files = goldenDatabases().slice(0, 2).flatMap(({ name, path }) => fileList(folderFiles(path), `all/${name}`));
  expect(caught(() => new FileListFolder(files))).toBeInstanceOf(RangeError);
  const { name, entriesSha256: sha256 } = goldenDatabases()[1]!;
  const database = await DatabaseReader.open(new FileListFolder(files, `all/${name}`));
  expect(entriesSha256(await collect(database.entries()))).toBe(sha256);
});

describe('HTTP', () => {
  const parts: DatabaseParts = {
    tables: [{ level: 0, number: 5, versions: [{ key: utf8('a'), sequence: 1, value: utf8('1') }] }],
    logs: [{ number: 9, batches: [{ sequence: 2, operations: [[utf8('b'), utf8('2')]] }] }],
  };

  test('tries log numbers from the one in the MANIFEST on, and requests only the tables that the MANIFEST lists', async () => {
    served.set('database', assembleDatabase(parts));
    requests.length = 0;
    const database = await DatabaseReader.open(new HttpFolder(`${origin}/database/`));
    expect(text(await database.get(utf8('b')))).toBe('2');
    const tried = requests.filter((request) => request.endsWith('.log')).map((request) => request.slice('GET '.length));
    // They are requested at the same time, and may arrive in any order.
    expect(tried.sort()[0]).toBe('000009.log');
    expect(tried).not.toContain('000005.log');
    // The log, and 16 numbers from the MANIFEST's next one on. One request each.
    expect(new Set(tried).size).toBe(tried.length);
    expect(tried.length).toBeLessThan(20);
    expect(requests.filter((request) => request.endsWith('.ldb'))).toEqual([]);
    expect(text(await database.get(utf8('a')))).toBe('1');
    expect(requests.filter((request) => request.endsWith('.ldb'))).toEqual(['GET 000005.ldb', 'GET 000005.ldb']);
  });

  test('refuses a MANIFEST with too many possible log numbers, unless the caller lists the files', async () => {
    const files = assembleDatabase({ ...parts, logs: [...parts.logs!, { number: 5000, batches: [] }] });
    served.set('database', files);
    expect(await rejection(DatabaseReader.open(new HttpFolder(`${origin}/database/`)))).toMatchObject({ code: 'BLOOM_TOO_LARGE' });
    const database = await DatabaseReader.open(new HttpFolder(`${origin}/database/`, { files: [...files.keys()] }));
    expect((await collect(database.keys())).map(text)).toEqual(['a', 'b']);
  });

  test('detects that the folder was replaced while it is read', async () => {
    served.set('database', assembleDatabase(parts));
    const database = await DatabaseReader.open(new HttpFolder(`${origin}/database/`, { retries: 0 }), { cache: null, tailBytes: 48, openTables: 'at-opening' });
    served.set('database', assembleDatabase({ ...parts, tables: [{ ...parts.tables![0]!, versions: [{ key: utf8('a'), sequence: 1, value: utf8('x') }] }] }));
    expect(await rejection(database.get(utf8('a')))).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
    expect(await rejection(database.get(utf8('a')))).toBeInstanceOf(FolderError);
  });

  test('detects a table that was replaced by a longer one before it was opened', async () => {
    served.set('database', assembleDatabase(parts));
    const database = await DatabaseReader.open(new HttpFolder(`${origin}/database/`, { retries: 0 }));
    served.set('database', assembleDatabase({ ...parts, tables: [{ ...parts.tables![0]!, versions: [{ key: utf8('a'), sequence: 1, value: utf8('longer') }] }] }));
    expect(await rejection(database.get(utf8('a')))).toMatchObject({ name: 'FolderError', code: 'BLOOM_FOLDER_CHANGED' });
    expect(await database.refresh()).toBe(true);
    expect(text(await database.get(utf8('a')))).toBe('longer');
  });
});

/** A folder in memory that counts open files, and has hooks for its calls. */
class WatchedFolder implements SyncFolder {
  readonly files: Map<string, Uint8Array>;
  openFiles = 0;
  opened: string[] = [];
  onList: () => void = () => {};
  onOpen: (name: string) => void = () => {};

  constructor(files: Map<string, Uint8Array>) {
    this.files = files;
  }

  list(): string[] {
    const names = [...this.files.keys()];
    this.onList();
    return names;
  }

  open(name: string) {
    this.onOpen(name);
    const bytes = this.files.get(name);
    if (bytes === undefined) return undefined;
    this.openFiles++;
    this.opened.push(name);
    const source = new MemorySource(bytes, name);
    let isOpen = true;
    return {
      name,
      byteLength: bytes.length,
      read: (offset: number, length: number) => {
        if (!isOpen) throw new Error(`${name} is closed`);
        return source.read(offset, length);
      },
      close: () => {
        if (isOpen) this.openFiles--;
        isOpen = false;
      },
    };
  }
}

/** The files of a database with two tables and a log. Each generation has different files and values. */
function generation(n: number): Map<string, Uint8Array> {
  const value = utf8(`value ${n}`);
  const files = assembleDatabase({
    tables: [
      { level: 1, number: 10 * n + 2, versions: [{ key: utf8('a'), sequence: 10 * n + 1, value }] },
      { level: 1, number: 10 * n + 3, versions: [{ key: utf8('b'), sequence: 10 * n + 2, value }] },
    ],
    logs: [{ number: 10 * n + 4, batches: [{ sequence: 10 * n + 3, operations: [[utf8('c'), value]] }] }],
  });
  files.set(`MANIFEST-${n}`, files.get('MANIFEST-000001')!);
  files.delete('MANIFEST-000001');
  return files.set('CURRENT', utf8(`MANIFEST-${n}\n`));
}

function replace(files: Map<string, Uint8Array>, other: Map<string, Uint8Array>): void {
  files.clear();
  for (const [name, bytes] of other) files.set(name, bytes);
}

describe('a folder', () => {
  test('is read again if files vanish during the reading, and shows one consistent state', () => {
    for (let call = 0; call < 12; call++) {
      const folder = new WatchedFolder(generation(1));
      let calls = 0;
      folder.onOpen = () => {
        if (calls++ === call) replace(folder.files, generation(2));
      };
      const database = SyncDatabaseReader.open(folder);
      const values = new Set([...database.values()].map(text));
      expect(values.size).toBe(1);
      // The last write is in a log and may come too late to be seen.
      expect([...database.keys()].map(text).slice(0, 2)).toEqual(['a', 'b']);
      database.close();
      expect(folder.openFiles).toBe(0);
    }
  });

  test('is BLOOM_FOLDER_BUSY if it changes during every attempt, and no file is left open', async () => {
    const folder = new WatchedFolder(generation(1));
    let n = 1;
    folder.onOpen = (name) => {
      if (name.endsWith('.ldb')) replace(folder.files, generation(++n));
    };
    const error = caught(() => SyncDatabaseReader.open(folder, { maxRestarts: 7 }));
    expect(error).toBeInstanceOf(FolderError);
    expect(error).not.toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'BLOOM_FOLDER_BUSY', message: expect.stringContaining('during each of 8 attempts') as string });
    expect(n).toBe(9);
    expect(folder.openFiles).toBe(0);
    expect(await rejection(DatabaseReader.open(folder, { maxRestarts: 3 }))).toMatchObject({ code: 'BLOOM_FOLDER_BUSY' });
    expect(folder.openFiles).toBe(0);
  });

  test('is read again if a listing missed a log that is older than a listed one', () => {
    const files = generation(1);
    const folder = new WatchedFolder(files);
    const newer = assembleDatabase({ logs: [15, 16].map((number) => ({ number, batches: [{ sequence: 10 + number, operations: [[utf8(`k${number}`), utf8('v')]] as const }] })) });
    files.set('000016.log', newer.get('000016.log')!);
    let listed = 0;
    folder.onList = () => {
      if (listed++ === 0) files.set('000015.log', newer.get('000015.log')!);
    };
    const database = SyncDatabaseReader.open(folder);
    expect([...database.keys()].map(text)).toEqual(['a', 'b', 'c', 'k15', 'k16']);
    expect(database.stats.restarts).toBe(1);
  });

  test('is read twice before a missing file counts as damage', () => {
    const files = generation(1);
    files.delete('000013.ldb');
    const folder = new WatchedFolder(files);
    expect(caught(() => SyncDatabaseReader.open(folder))).toMatchObject({ code: 'BLOOM_MISSING_FILE' });
    expect(folder.opened.filter((name) => name === 'CURRENT')).toHaveLength(2);
    expect(folder.openFiles).toBe(0);
  });

  test('can be replaced without affecting the open tables of a view, or those of cursors after a refresh', () => {
    const folder = new WatchedFolder(generation(1));
    const database = SyncDatabaseReader.open(folder, { cache: null });
    const cursor = database.cursor();
    const walk = database.entries();
    const [, first] = walk.next().value as [Uint8Array, Uint8Array];
    expect(text(first)).toBe('value 1');
    replace(folder.files, generation(2));
    expect(text(database.get(utf8('a')))).toBe('value 1');
    expect(database.refresh()).toBe(true);
    expect(text(database.get(utf8('a')))).toBe('value 2');
    expect(cursor.seekToFirst()).toBe(true);
    expect(text(cursor.value)).toBe('value 1');
    expect([...walk].map(([, value]) => text(value))).toEqual(['value 1', 'value 1']);
    expect(folder.openFiles).toBe(4);
    cursor.close();
    expect(folder.openFiles).toBe(2);
    database.close();
    expect(folder.openFiles).toBe(0);
  });

  test('gives BLOOM_FOLDER_CHANGED if a table vanished that was not open, until a refresh', async () => {
    const folder = new WatchedFolder(generation(1));
    const database = SyncDatabaseReader.open(folder, { maxOpenFiles: 11 });
    const promised = await DatabaseReader.open(folder, { maxOpenFiles: 11 });
    expect(folder.openFiles).toBe(0);
    expect(text(database.get(utf8('a')))).toBe('value 1');
    expect(folder.openFiles).toBe(1);
    replace(folder.files, generation(2));
    expect(caught(() => database.get(utf8('b')))).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED', file: '000013.ldb' });
    expect(caught(() => [...database.entries()])).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
    expect(await rejection(promised.get(utf8('b')))).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
    database.refresh();
    await promised.refresh();
    expect([text(database.get(utf8('b'))), text(await promised.get(utf8('b')))]).toEqual(['value 2', 'value 2']);
    database.close();
    await promised.close();
    expect(folder.openFiles).toBe(0);
  });

  test('is refreshed by reading only the new part of a log', () => {
    const files = assembleDatabase({ logs: [{ number: 3, batches: [{ sequence: 1, operations: [[utf8('k1'), utf8('v')]] }] }] });
    const folder = new WatchedFolder(files);
    const database = SyncDatabaseReader.open(folder);
    for (let count = 2; count < 50; count++) {
      const batches = Array.from({ length: count }, (_, i) => ({ sequence: i + 1, operations: [[utf8(`k${i + 1}`), utf8('v')]] as const }));
      const grown = assembleDatabase({ logs: [{ number: 3, batches }] }).get('000003.log')!;
      const walk = database.entries();
      // An incomplete last record does not count yet.
      files.set('000003.log', grown.subarray(0, grown.length - 1 - (count % 20)));
      expect(database.refresh()).toBe(false);
      files.set('000003.log', grown);
      expect(database.refresh()).toBe(true);
      expect([...database.keys()]).toHaveLength(count);
      expect([...walk]).toHaveLength(count - 1);
      expect(database.describe().logs[0]!.entries).toBe(count);
    }
  });

  test('is read from scratch if another database with the same file names replaced it', () => {
    const make = (value: string): Map<string, Uint8Array> =>
      assembleDatabase({
        tables: [{ level: 0, number: 2, versions: [{ key: utf8('a'), sequence: 1, value: utf8(value) }] }],
        logs: [{ number: 3, batches: [{ sequence: 2, operations: [[utf8('b'), utf8(value)]] }] }],
        lastSequence: value.length,
      });
    const folder = new WatchedFolder(make('one'));
    const database = SyncDatabaseReader.open(folder);
    replace(folder.files, make('another'));
    database.refresh();
    expect([...database.values()].map(text)).toEqual(['another', 'another']);
    database.close();
    expect(folder.openFiles).toBe(0);
  });

  test('cannot change what an older view shows, even by sequences that do not ascend', () => {
    const batch = (sequence: number, key: string) => ({ sequence, operations: [[utf8(key), utf8('v')]] as const });
    const files = assembleDatabase({ logs: [{ number: 3, batches: [batch(100, 'a')] }] });
    const database = SyncDatabaseReader.open(new MemoryFolder(files));
    const cursor = database.cursor();
    files.set('000003.log', assembleDatabase({ logs: [{ number: 3, batches: [batch(100, 'a'), batch(50, 'b')] }] }).get('000003.log')!);
    database.refresh();
    expect([...database.keys()].map(text)).toEqual(['a', 'b']);
    const seen: (string | undefined)[] = [];
    for (let more = cursor.seekToFirst(); more; more = cursor.next()) seen.push(text(cursor.key));
    expect(seen).toEqual(['a']);
  });

  test('is read again if it is a directory handle whose files change during the reading', async () => {
    const files = generation(1);
    const handle = directoryHandle(files);
    let calls = 0;
    const folder = new DirectoryFolder({
      ...handle,
      getFileHandle: async (name) => {
        const file = await handle.getFileHandle(name);
        return {
          getFile: async () => {
            const snapshot = await file.getFile();
            if (++calls === 3) files.set(name, Uint8Array.from(files.get(name)!));
            return snapshot;
          },
        };
      },
    });
    const database = await DatabaseReader.open(folder);
    expect((await collect(database.keys())).map(text)).toEqual(['a', 'b', 'c']);
    expect(database.stats.restarts).toBe(1);
  });

  test('may throw errors of its own, which are passed on unchanged and leave no file open', async () => {
    const folder = new WatchedFolder(generation(1));
    for (const failing of [...folder.files.keys()]) {
      folder.onOpen = (name) => {
        if (name === failing) throw new Error(`cannot open ${name}`);
      };
      expect((caught(() => SyncDatabaseReader.open(folder)) as Error).message).toBe(`cannot open ${failing}`);
      expect(((await rejection(DatabaseReader.open(folder))) as Error).message).toBe(`cannot open ${failing}`);
      expect(folder.openFiles).toBe(0);
    }
  });

  test('is left without open files when an abort ends an opening or a walk', async () => {
    const folder = new WatchedFolder(generation(1));
    const aborted = AbortSignal.abort(new Error('enough'));
    expect(((await rejection(DatabaseReader.open(folder, { signal: aborted }))) as Error).message).toBe('enough');
    expect(folder.openFiles).toBe(0);
    const database = await DatabaseReader.open(folder);
    const controller = new AbortController();
    const walk = database.entries({ signal: controller.signal });
    expect((await walk.next()).done).toBe(false);
    controller.abort(new Error('that will do'));
    expect(((await rejection(walk.next())) as Error).message).toBe('that will do');
    expect(await walk.next()).toEqual({ done: true, value: undefined });
    await database.close();
    expect(folder.openFiles).toBe(0);
  });

  test('is refused by SyncDatabaseReader if it returns promises', () => {
    const folder = { list: () => ['CURRENT'], open: () => Promise.resolve(undefined) } as unknown as SyncFolder;
    expect(() => SyncDatabaseReader.open(folder)).toThrow('DatabaseReader');
  });
});
