import { expect, test } from 'vitest';
import { droppedFiles, pickedFiles } from '../src/controls/dropped-files.js';
import { DroppedNames, identityOf } from '../src/session/dropped-names.js';

/** A folder by its entries, a file, or an entry that the browser refuses to read. */
type Given = 'file' | 'refused file' | 'refused folder' | { readonly [name: string]: Given };

function entryOf(name: string, given: Given, parent = ''): object {
  const fullPath = `${parent}/${name}`;
  const refuse = (reject: (error: Error) => void): void => reject(new DOMException('no', 'NotReadableError'));
  const isDirectory = typeof given === 'object' || given === 'refused folder';
  return {
    name,
    fullPath,
    isDirectory,
    isFile: !isDirectory,
    file: (resolve: (file: File) => void, reject: (error: Error) => void) => (given === 'file' ? resolve(new File(['x'], name)) : refuse(reject)),
    createReader: () => {
      let rest = typeof given === 'object' ? Object.entries(given).map(([each, inner]) => entryOf(each, inner, fullPath)) : [];
      return {
        readEntries: (resolve: (entries: object[]) => void, reject: (error: Error) => void) => {
          if (given === 'refused folder') { refuse(reject); return; }
          resolve(rest);
          rest = [];
        },
      };
    },
  };
}

async function found(name: string, given: Given): Promise<unknown> {
  const transfer = { items: [{ webkitGetAsEntry: () => entryOf(name, given) }], files: [] };
  const { files, unread } = await droppedFiles(transfer as unknown as DataTransfer);
  return { paths: files.map(({ path }) => path), unread };
}

const database = { CURRENT: 'file', '000003.log': 'file', 'notes.txt': 'file' } as const;

test('finds the files of databases in dropped folders', async () => {
  expect(await found('Default', { 'Local Storage': { leveldb: database }, Cache: { data_0: 'file' } })).toEqual({ paths: ['Default/Local Storage/leveldb/CURRENT', 'Default/Local Storage/leveldb/000003.log'], unread: 0 });
});

test('finds tables in dropped folders, whatever their names', async () => {
  expect(await found('tables', { 'words.ldb': 'file', 'words.sst': 'file', 'words.txt': 'file' })).toEqual({ paths: ['tables/words.ldb', 'tables/words.sst'], unread: 0 });
});

const picked = (...paths: readonly string[]): File[] => paths.map((path) => Object.defineProperty(new File(['x'], path.split('/').at(-1)!), 'webkitRelativePath', { value: path.includes('/') ? path : '' }));

test('finds the same files in picked folders as in dropped ones', async () => {
  const { name, files } = await pickedFiles(picked('Default/Cache/data_0', 'Default/Local Storage/leveldb/CURRENT', 'Default/IndexedDB/https_a_0.indexeddb.blob/1/00/2', 'Default/words.ldb'));
  expect([name, files.map(({ path }) => path)]).toEqual(['Default', ['Default/Local Storage/leveldb/CURRENT', 'Default/IndexedDB/https_a_0.indexeddb.blob/1/00/2', 'Default/words.ldb']]);
  expect(await pickedFiles(picked('pictures/a.png', 'pictures/b.png'))).toMatchObject({ name: 'pictures', files: [] });
});

test('takes a single picked file of any name', async () => {
  expect((await pickedFiles(picked('notes.txt'))).files.map(({ path }) => path)).toEqual(['notes.txt']);
  expect(await pickedFiles([])).toMatchObject({ name: '', files: [] });
});

test('counts folders and files that cannot be read, and finds the others', async () => {
  expect(await found('Default', { secret: 'refused folder', leveldb: { ...database, '000005.ldb': 'refused file' } })).toEqual({ paths: ['Default/leveldb/CURRENT', 'Default/leveldb/000003.log'], unread: 2 });
});

test('finds the files of databases that are among very many others, and counts the folders that it did not list', async () => {
  const cache = Object.fromEntries(Array.from({ length: 100_001 }, (_, i) => [`f_${i}`, 'file'] as const));
  expect(await found('Default', { Cache: { data: cache }, 'Session Storage': database, leveldb: { of: database, deeper: { of: database } } })).toEqual({
    paths: ['Default/Session Storage/CURRENT', 'Default/Session Storage/000003.log', 'Default/leveldb/of/CURRENT', 'Default/leveldb/of/000003.log'],
    unread: 1,
  });
});

test('each dropped file has a name of its own in the URL', () => {
  const names = new DroppedNames<number>();
  const [first, second, third, later, again] = [{}, {}, {}, {}, {}];
  names.add(1, 'a', first, '1');
  names.add(2, 'a', second, '2');
  names.add(3, 'a (2)', third, '3');
  names.add(4, 'a', first, '1');
  names.replace(second, 5, 'a', later, '5');
  expect([first, second, third, later].map((content) => names.nameOf(content))).toEqual(['a', 'a (2)', 'a (2) (2)', 'a (2)']);
  expect([names.get('a'), names.get('a (2)'), names.get('a (2) (2)'), names.get('b'), names.get(null)]).toEqual([4, 5, 3, undefined, undefined]);
  names.add(6, 'a', again, '5');
  expect([names.nameOf(again), names.get('a (2)'), names.get('a')]).toEqual(['a (2)', 6, 4]);
});

test('files that are dropped again have the identity that they had', () => {
  const files = (size = 1, lastModified = 5): File[] => ['a', 'b'].map((name) => new File(['x'.repeat(size)], name, { lastModified }));
  expect(identityOf(files().reverse())).toBe(identityOf(files()));
  expect(new Set([files(), files(2), files(1, 6), files().slice(1)].map(identityOf)).size).toBe(4);
});
