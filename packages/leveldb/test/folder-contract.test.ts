import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeded } from '@bloom/bytes/internal';
import { type Folder, type FolderFile, MemoryFolder, type WritableFolder, WritableMemoryFolder } from '@bloom/leveldb';
import { DirectoryFolder, FileListFolder } from '@bloom/leveldb/browser';
import { type FolderLaw, folderLaws, type FolderLawsOptions, readFolderLaws } from '@bloom/leveldb/contract';
import { HttpFolder } from '@bloom/leveldb/http';
import { NodeFolder, SyncNodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PowerCutFolder } from './power-cut-folder.js';
import { RightFolder } from './right-folder.js';

let root = '';
let made = 0;
let server: Server;
/** What the server has, by the path of each file. */
const served = new Map<string, Uint8Array>();
beforeAll(async () => {
  server = createServer((request, response) => {
    const bytes = served.get(decodeURIComponent(request.url ?? ''));
    if (bytes === undefined) return response.writeHead(404).end();
    const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
    if (first === '' && last === '') return response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    const start = first === '' ? Math.max(0, bytes.length - Number(last)) : Number(first);
    const end = first === '' || last === '' ? bytes.length : Math.min(bytes.length, Number(last) + 1);
    if (start >= end) return response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    const headers = { 'content-length': end - start, 'content-range': `bytes ${start}-${end - 1}/${bytes.length}` };
    return response.writeHead(206, headers).end(bytes.subarray(start, end));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  root = mkdtempSync(join(tmpdir(), 'bloom-contract-'));
});
afterAll(() => {
  rmSync(root, { recursive: true });
  server.close();
});
const newPath = (): string => join(root, `${made++}`);

const random = seeded(1);
const writable: Record<string, FolderLaw[]> = {
  'a folder that has all that a folder may have': folderLaws(() => new RightFolder(), RightFolder.options),
  WritableMemoryFolder: folderLaws(() => new WritableMemoryFolder(), { again: (folder) => folder }),
  WritableNodeFolder: folderLaws(() => new WritableNodeFolder(newPath()), { again: ({ path }) => new WritableNodeFolder(path) }),
  'a pinned WritableNodeFolder': folderLaws(async () => {
    const folder = new WritableNodeFolder(newPath());
    await folder.createFolder();
    return folder.pin();
  }),
  "the tests' model of power cuts": folderLaws(() => new PowerCutFolder(), {
    again: (folder) => folder,
    cutPower: (folder) => folder.remains().folder(random),
  }),
};

describe.each(Object.entries(writable))('%s keeps the law', (_, laws) => {
  for (const law of laws) test(law.name, law.run);
});

/** Writes the files into a new folder. */
function written(files: ReadonlyMap<string, Uint8Array>): string {
  const path = newPath();
  mkdirSync(path);
  for (const [name, bytes] of files) writeFileSync(join(path, name), bytes);
  return path;
}

/** A `FileSystemDirectoryHandle` over files in memory. */
function directoryHandle(files: ReadonlyMap<string, Uint8Array>) {
  return {
    name: 'database',
    async *keys() {
      yield* files.keys();
    },
    async getFileHandle(name: string) {
      const bytes = files.get(name);
      if (bytes === undefined) throw new DOMException('no such file', 'NotFoundError');
      return { getFile: async () => new File([bytes.slice()], name, { lastModified: 1e12 }) };
    },
  };
}

const readable: Record<string, (files: ReadonlyMap<string, Uint8Array>) => Folder> = {
  MemoryFolder: (files) => new MemoryFolder(files),
  NodeFolder: (files) => new NodeFolder(written(files)),
  SyncNodeFolder: (files) => new SyncNodeFolder(written(files)),
  DirectoryFolder: (files) => new DirectoryFolder(directoryHandle(files)),
  FileListFolder: (files) => new FileListFolder([...files].map(([name, bytes]) => new File([bytes.slice()], name))),
  HttpFolder: (files) => {
    const base = `/${made++}/`;
    for (const [name, bytes] of files) served.set(base + name, bytes);
    return new HttpFolder(`http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`, { files: [...files.keys()] });
  },
};

describe.each(Object.entries(readable))('%s keeps the law', (_, make) => {
  for (const law of readFolderLaws(make)) test(law.name, law.run);
});

test('a call that never settles breaks the law that makes it', async () => {
  class Stuck extends RightFolder {
    override list(): Promise<readonly string[]> {
      return new Promise(() => undefined);
    }
  }
  const law = folderLaws(() => new Stuck(), { patienceMs: 20 }).find(({ name }) => name.startsWith('4.'))!;
  await expect(law.run()).rejects.toThrow(/list\(\) does not settle within 20 ms/);
});

test('a close that never settles does not keep a broken law from ending', async () => {
  class Stuck extends RightFolder {
    override async open(name: string): Promise<FolderFile | undefined> {
      const file = await super.open(name);
      if (file === undefined) return undefined;
      return { byteLength: file.byteLength + 1, read: (offset, length) => file.read(offset, length), close: () => new Promise(() => undefined) };
    }
  }
  const [law] = folderLaws(() => new Stuck(), { patienceMs: 20 });
  await expect(law!.run()).rejects.toThrow(/and a byteLength of/);
});

test('all folders are disposed of although one of them fails, which does not hide a broken law', async () => {
  const disposed: WritableFolder[] = [];
  const dispose = (folder: RightFolder): void => {
    disposed.push(folder);
    throw new Error(`disposal ${disposed.length}`);
  };
  const laws = folderLaws(() => Object.assign(new RightFolder(), { open: () => Promise.reject(new Error('broken')) }), { dispose });
  await expect(laws[0]!.run()).rejects.toThrow('open("CURRENT") fails: Error: broken');
  const counts: number[] = [];
  for (const law of folderLaws(() => new RightFolder(), { ...RightFolder.options, dispose })) {
    disposed.length = 0;
    await expect(law.run()).rejects.toThrow('disposal 1');
    counts.push(disposed.length);
  }
  expect(Math.max(...counts)).toBeGreaterThan(1);
});

test('folders are disposed of when their law has ended, even if it is broken', async () => {
  const disposed: WritableFolder[] = [];
  const [law] = folderLaws(() => Object.assign(new RightFolder(), { open: () => Promise.reject(new Error('broken')) }), { dispose: (folder) => void disposed.push(folder) });
  await expect(law!.run()).rejects.toThrow('open("CURRENT") fails: Error: broken');
  expect(disposed).toHaveLength(1);
});

test('a folder that is only read is held to the laws of reading', async () => {
  class Broken extends MemoryFolder {
    override list(): string[] {
      return super.list().slice(1);
    }
  }
  const failed: string[] = [];
  for (const law of readFolderLaws((files) => new Broken(files))) {
    await law.run().catch(() => failed.push(law.name));
  }
  expect(failed).toEqual(['4. the list has the name of each file once']);
});

test('laws that need something of the caller are left out without it', () => {
  const numbers = (options: FolderLawsOptions<RightFolder>): number[] => folderLaws(() => new RightFolder(), options).map(({ name }) => parseInt(name, 10));
  const all = Array.from({ length: 30 }, (_, i) => i + 1);
  expect(numbers({})).toEqual(all.slice(0, 26));
  expect(numbers({ again: (folder) => folder })).toEqual(all.slice(0, 27));
  expect(numbers({ cutPower: (folder) => folder })).toEqual([...all.slice(0, 26), 28, 29, 30]);
});

test('wrong arguments are refused by name', () => {
  expect(() => folderLaws(new RightFolder() as never)).toThrow(/makeFolder must be a function/);
  expect(() => folderLaws(() => new RightFolder(), { agian: () => new RightFolder() } as never)).toThrow(/folderLaws has no option "agian": did you mean again\?/);
  expect(() => folderLaws(() => new RightFolder(), { patienceMs: 0 })).toThrow(/patienceMs must be a whole number, at least 1/);
  expect(() => folderLaws(() => new RightFolder(), { again: 1 as never })).toThrow(/again must be a function/);
  expect(() => readFolderLaws(() => new MemoryFolder({}), { again: () => 1 } as never)).toThrow(/readFolderLaws has no option "again"/);
});

test('what makeFolder gives must be a folder', async () => {
  const [law] = folderLaws(() => ({}) as never);
  await expect(law!.run()).rejects.toThrow(/folder must be a folder that can be written to/);
});
