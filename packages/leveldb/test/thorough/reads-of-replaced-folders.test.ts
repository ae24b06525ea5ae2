import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { turns } from '@bloom/fixtures/event-loop';
import { DatabaseReader, type Folder, MemoryFolder, SyncDatabaseReader, type SyncFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { DirectoryFolder } from '@bloom/leveldb/browser';
import { HttpFolder } from '@bloom/leveldb/http';
import { NodeFolder, SyncNodeFolder } from '@bloom/leveldb/node';
import { MemorySource } from '@bloom/sstable';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assembleDatabase } from '../assemble-database.js';
import { caught, rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array | undefined): string | undefined => bytes && new TextDecoder().decode(bytes);
const KEYS = ['a', 'b', 'c', 'd'].map(utf8);

let path: string;
let server: Server;
let origin = '';
const served = new Map<string, { readonly bytes: Uint8Array; readonly etag: string }>();

beforeAll(async () => {
  path = mkdtempSync(join(tmpdir(), 'bloom-replaced-'));
  server = createServer((request, response) => {
    const file = served.get(request.url!.slice(1));
    const [, first, last] = /^bytes=([0-9]*)-([0-9]+)$/.exec(request.headers.range ?? '') ?? [];
    if (file === undefined) response.writeHead(404).end();
    else if (last === undefined) response.writeHead(200, { 'content-length': file.bytes.length, etag: file.etag }).end(file.bytes);
    else {
      const { length } = file.bytes;
      const [start, end] = first === '' ? [Math.max(0, length - Number(last)), length] : [Number(first), Math.min(Number(last) + 1, length)];
      const headers = { 'content-range': `bytes ${start}-${end - 1}/${length}`, etag: file.etag };
      response.writeHead(206, headers).end(file.bytes.subarray(start, end));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  rmSync(path, { recursive: true, force: true });
});

/** Three tables and a log, in which all values are `value`. Databases of values with as many bytes have the same shape, and the same MANIFEST. */
function databaseOf(value: string, lastSequence = 20): Map<string, Uint8Array> {
  const put = (i: number) => ({ key: KEYS[i]!, sequence: i + 1, value: utf8(value) });
  return assembleDatabase({
    tables: [0, 1, 2].map((i) => ({ level: 1, number: 2 + i, versions: [put(i)] })),
    logs: [{ number: 6, batches: [{ sequence: 4, operations: [[KEYS[3]!, utf8(value)]] }] }],
    lastSequence,
  });
}

/** Waits until the file system's clock has moved on so far that the next change of any file is told from the last one. */
async function settled(folder: Folder): Promise<void> {
  for (const name of databaseOf('').keys()) while ((await folder.identityOf!(name))?.isSettled !== true) await turns();
}

/** A folder, and how it is replaced. */
interface Replaceable {
  readonly folder: Folder;
  replace(files: ReadonlyMap<string, Uint8Array>): void;
}

function writeAll(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
}

let folders = 0;
function onDisk(make: (folder: string) => Folder, replace: (folder: string, other: string) => void): (files: ReadonlyMap<string, Uint8Array>) => Replaceable {
  return (files) => {
    const folder = join(path, `${++folders}`);
    mkdirSync(folder);
    writeAll(folder, files);
    return {
      folder: make(folder),
      replace(others) {
        const other = join(path, `${++folders}`);
        mkdirSync(other);
        writeAll(other, others);
        replace(folder, other);
      },
    };
  };
}

const renames = (folder: string, other: string): void => {
  renameSync(folder, `${other}-away`);
  renameSync(other, folder);
};
const copies = (folder: string, other: string): void => cpSync(other, folder, { recursive: true });
/** As a backup that is restored with the times of its files: those of the files before. */
const restores = (folder: string, other: string): void => {
  const times = [...databaseOf('').keys()].map((name) => [join(folder, name), statSync(join(folder, name))] as const);
  copies(folder, other);
  for (const [file, { atime, mtime }] of times) utimesSync(file, atime, mtime);
};

function inMap(make: (files: Map<string, Uint8Array>) => Folder): (files: ReadonlyMap<string, Uint8Array>) => Replaceable {
  return (files) => {
    const map = new Map(files);
    return {
      folder: make(map),
      replace(others) {
        map.clear();
        for (const [name, bytes] of others) map.set(name, bytes);
      },
    };
  };
}

function onServer(files: ReadonlyMap<string, Uint8Array>): Replaceable {
  let version = 0;
  const replace = (others: ReadonlyMap<string, Uint8Array>): void => {
    served.clear();
    version++;
    for (const [name, bytes] of others) served.set(name, { bytes, etag: `"${version}"` });
  };
  replace(files);
  return { folder: new HttpFolder(origin, { files: [...files.keys()], retries: 0 }), replace };
}

/** A `FileSystemDirectoryHandle`: each file has the time of its replacement. */
function directory(files: Map<string, Uint8Array>): Folder {
  const times = new Map<Uint8Array, number>();
  let time = 1_600_000_000_000;
  return new DirectoryFolder({
    name: 'database',
    async *keys() {
      yield* files.keys();
    },
    async getFileHandle(name: string) {
      const bytes = files.get(name);
      if (bytes === undefined) throw new DOMException('no such file', 'NotFoundError');
      if (!times.has(bytes)) times.set(bytes, (time += 1000));
      const read = (start: number, end: number): Promise<ArrayBuffer> =>
        files.get(name) === bytes
          ? Promise.resolve(bytes.slice(start, end).buffer)
          : Promise.reject(new DOMException('the file changed', 'NotReadableError'));
      return { getFile: () => Promise.resolve({ size: bytes.length, lastModified: times.get(bytes)!, slice: (start: number, end: number) => ({ arrayBuffer: () => read(start, end) }) }) };
    },
  });
}

const kinds: Record<string, (files: ReadonlyMap<string, Uint8Array>) => Replaceable> = {
  'a NodeFolder that is renamed away': onDisk((folder) => new NodeFolder(folder), renames),
  'a NodeFolder that is copied over in place': onDisk((folder) => new NodeFolder(folder), copies),
  'a NodeFolder that is copied over in place and keeps its times': onDisk((folder) => new NodeFolder(folder), restores),
  'a SyncNodeFolder that is renamed away': onDisk((folder) => new SyncNodeFolder(folder), renames),
  'a SyncNodeFolder that is copied over in place and keeps its times': onDisk((folder) => new SyncNodeFolder(folder), restores),
  'a MemoryFolder': inMap((files) => new MemoryFolder(files)),
  'a DirectoryFolder': inMap(directory),
  'an HttpFolder': onServer,
};

describe('a database that another of the same shape replaced', () => {
  for (const [kind, make] of Object.entries(kinds)) {
    // A server says which version a file has only when it is asked for it.
    for (const maxOpenFiles of kind === 'an HttpFolder' ? [1000] : [11, 1000]) {
      for (const isSettled of kind.includes('NodeFolder') ? [true, false] : [false]) {
        const when = isSettled ? '' : ', at once,';
        test(`in ${kind}${when} with at most ${maxOpenFiles} open files, gives values of one at a time, and refresh reports the replacement`, async () => {
          const { folder, replace } = make(databaseOf('old'));
          // The host can tell one change from the next once the clock has moved on.
          if (isSettled) await settled(folder);
          // Tables of a remote folder are otherwise opened later, and then believed.
          const reader = await DatabaseReader.open(folder, { maxOpenFiles, cache: null, openTables: 'at-opening' });
          expect(text(await reader.get(KEYS[0]!))).toBe('old');
          let shown = 'old';
          for (const next of ['new', 'NEW']) {
            replace(databaseOf(next));
            for (const key of [...KEYS, ...KEYS]) {
              const error = await rejection(reader.get(key).then((value) => expect(text(value)).toBe(shown)));
              if (error !== undefined) expect(error).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
            }
            const many = await reader.getMany(KEYS).catch((error: unknown) => error);
            if (Array.isArray(many)) expect(many.map((value) => text(value as Uint8Array))).toEqual(KEYS.map(() => shown));
            else expect(many).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
            expect(await reader.refresh()).toBe(true);
            shown = next;
            expect((await reader.getMany(KEYS)).map(text)).toEqual(KEYS.map(() => shown));
            expect(await reader.refresh()).toBe(false);
            if (isSettled) await settled(folder);
            expect(await reader.refresh()).toBe(false);
            expect((await reader.getMany(KEYS)).map(text)).toEqual(KEYS.map(() => shown));
          }
          await reader.close();
        });
      }
    }
  }

  test('is reported without promises too', () => {
    const { folder, replace } = kinds['a SyncNodeFolder that is renamed away']!(databaseOf('old'));
    const reader = SyncDatabaseReader.open(folder as SyncFolder, { maxOpenFiles: 12, cache: null });
    expect(reader.getMany(KEYS).map(text)).toEqual(['old', 'old', 'old', 'old']);
    replace(databaseOf('new'));
    expect(caught(() => reader.getMany(KEYS))).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED' });
    expect(reader.refresh()).toBe(true);
    expect(reader.getMany(KEYS).map(text)).toEqual(['new', 'new', 'new', 'new']);
    reader.close();
  });

  test('is recognized by a log that starts differently, if the host gives no identities', async () => {
    const files = new Map(databaseOf('old'));
    const unknown: Folder = {
      list: () => [...files.keys()],
      open(name) {
        const bytes = files.get(name);
        const source = bytes && new MemorySource(bytes);
        return source && { name, byteLength: source.byteLength, read: (offset, length) => source.read(offset, length) };
      },
    };
    const reader = await DatabaseReader.open(unknown);
    for (const [name, bytes] of databaseOf('new')) files.set(name, bytes);
    expect((await reader.getMany(KEYS)).map(text)).toEqual(['old', 'old', 'old', 'old']);
    expect(await reader.refresh()).toBe(true);
    expect((await reader.getMany(KEYS)).map(text)).toEqual(['new', 'new', 'new', 'new']);
    expect(await reader.refresh()).toBe(false);
    await reader.close();
  });

  for (const moment of ['list', 'CURRENT', 'MANIFEST-000001', '000006.log', '000002.ldb', '000004.ldb'] as const) {
    test(`while it is opened and refreshed, when ${moment} was requested, is one or the other`, async () => {
      for (let skipped = 0; skipped < 4; skipped++) {
        const { folder, replace } = kinds['a NodeFolder that is renamed away']!(databaseOf('old'));
        let left = skipped;
        let next: string | undefined;
        const hooked = <Name extends string>(call: (name: Name) => unknown) => (name: Name, ...rest: []): never => {
          const answer = call.call(folder, name, ...rest);
          const change = (): void => {
            if (next === undefined || (typeof name === 'string' ? name : 'list') !== moment || left-- > 0) return;
            replace(databaseOf(next));
            next = undefined;
          };
          return Promise.resolve(answer).then((value) => (change(), value)) as never;
        };
        const watched: Folder = { name: folder.name, list: hooked(folder.list! as never) as never, open: hooked(folder.open as never), identityOf: hooked(folder.identityOf! as never) };
        next = 'new';
        const reader = await DatabaseReader.open(watched, { cache: null });
        const [first] = await reader.getMany(KEYS);
        expect((await reader.getMany(KEYS)).map(text)).toEqual(KEYS.map(() => text(first)));
        next = 'NEW';
        left = skipped;
        await reader.refresh();
        const [second] = await reader.getMany(KEYS);
        expect((await reader.getMany(KEYS)).map(text)).toEqual(KEYS.map(() => text(second)));
        next = undefined;
        await reader.refresh();
        const [last] = await reader.getMany(KEYS);
        expect((await reader.getMany(KEYS)).map(text)).toEqual(KEYS.map(() => text(last)));
        await reader.close();
      }
    });
  }
});

describe('refresh', () => {
  test('gives true for another database with the same last sequence', () => {
    for (const name of ['MANIFEST-000001', 'MANIFEST-000009']) {
      const files = new Map(databaseOf('old'));
      const reader = SyncDatabaseReader.open(new MemoryFolder(files));
      const others = databaseOf('a longer value');
      others.set(name, others.get('MANIFEST-000001')!).set('CURRENT', utf8(`${name}\n`));
      for (const [file, bytes] of others) files.set(file, bytes);
      expect(reader.refresh()).toBe(true);
      expect(text(reader.get(KEYS[0]!))).toBe('a longer value');
      expect(reader.refresh()).toBe(false);
    }
  });

  test('reads a table that was cut and is whole again', async () => {
    for (const maxOpenFiles of [11, 1000]) {
      const folder = join(path, `cut-${maxOpenFiles}`);
      mkdirSync(folder);
      const files = databaseOf('old');
      writeAll(folder, files);
      truncateSync(join(folder, '000003.ldb'), 20);
      const reader = await DatabaseReader.open(new NodeFolder(folder), { maxOpenFiles, damage: 'skip' });
      expect(await rejection(reader.get(KEYS[1]!))).toMatchObject({ code: 'BLOOM_TRUNCATED' });
      writeFileSync(join(folder, '000003.ldb'), files.get('000003.ldb')!);
      await reader.refresh();
      expect(text(await reader.get(KEYS[1]!))).toBe('old');
      expect(reader.describe().dropped).toEqual([]);
      await reader.close();
    }
  });

  test('continues reading, without reading everything again, after a newer database took the place', () => {
    const batches = (count: number) => Array.from({ length: count }, (_, i) => ({ sequence: i + 1, operations: [[utf8(`k${i + 1}`), utf8('v')]] as const }));
    const files = assembleDatabase({ logs: [{ number: 3, batches: batches(900) }] });
    const read: number[] = [];
    const map = new Map(files);
    const folder: SyncFolder = {
      list: () => [...map.keys()],
      open(name) {
        const bytes = map.get(name);
        const source = bytes && new MemorySource(bytes);
        return (
          source && {
            byteLength: source.byteLength,
            identity: source.identity,
            read(offset, length) {
              if (name === '000003.log') read.push(offset);
              return source.read(offset, length);
            },
          }
        );
      },
    };
    const reader = SyncDatabaseReader.open(folder);
    expect(reader.lastSequence).toBe(900n);
    for (let count = 10; count < 20; count++) {
      const grown = assembleDatabase({ logs: [{ number: 3, batches: batches(count) }] });
      map.set('CURRENT', grown.get('CURRENT')!).set('000003.log', grown.get('000003.log')!);
      const [log] = [reader.describe().logs[0]!];
      read.length = 0;
      expect(reader.refresh()).toBe(true);
      expect(reader.lastSequence).toBe(BigInt(count));
      expect(reader.describe().logs[0]!.entries).toBe(count);
      // The start is compared, and only what is new is replayed.
      if (count > 10) expect(read).toEqual([0, log.byteLength]);
    }
  });

  test('believes a folder in memory that only grows, and reads only what is new', async () => {
    const folder = new WritableMemoryFolder(databaseOf('old'));
    const file = folder.openForAppend('000006.log');
    const reads: [string, number][] = [];
    const { open } = folder;
    folder.open = (name) => {
      const source = open.call(folder, name);
      return source && { ...source, read: (offset, length) => (reads.push([name, offset]), source.read(offset, length)) };
    };
    const reader = await DatabaseReader.open(folder);
    reads.length = 0;
    await reader.refresh();
    expect(reads).toEqual([['CURRENT', 0]]);
    await file.append(new Uint8Array(3));
    expect(await reader.refresh()).toBe(false);
    await reader.close();
  });
});
