/** Stores data in a page for the tests of web-storage, and reports it. */
import { type Random, seeded } from '@bloom/bytes/internal';
import { cryptoKeyText, describeClone, type HostKinds, randomClone, randomText } from '@bloom/fixtures/random-clone';
import type { DescribedRecord, Stored } from '../described-storage.js';

/** Objects of the browser that a page may store, by their interfaces, with the properties that make them. */
const geometry: Readonly<Record<string, readonly string[]>> = {
  DOMPoint: ['x', 'y', 'z', 'w'],
  DOMPointReadOnly: ['x', 'y', 'z', 'w'],
  DOMRect: ['x', 'y', 'width', 'height'],
  DOMRectReadOnly: ['x', 'y', 'width', 'height'],
};

/** Text without unpaired surrogates, which would be replaced. */
function wellFormed(random: Random): string {
  return randomText(random).replace(/[\ud800-\udfff]/gu, '\ufffd');
}

function fileText({ name, type, size, lastModified }: File): string {
  return `File ${name} ${type} ${size} ${lastModified}`;
}

/** A buffer that can grow, or a view that grows with it; of a fixed length in older browsers. */
function resizableBuffer(random: Random): object {
  const buffer = new (ArrayBuffer as new (length: number, options: object) => ArrayBuffer)(8 * random.below(3), { maxByteLength: 32 });
  new Uint8Array(buffer).set(random.bytes(buffer.byteLength));
  return random.pick([buffer, new Uint16Array(buffer), new Uint8Array(buffer, 0, buffer.byteLength >> 1)]);
}

/** Keys of the Web Crypto API, one of each kind that Blink stores differently. */
const cryptoKeys: CryptoKey[] = [];

async function makeCryptoKeys(): Promise<void> {
  const { subtle } = crypto;
  const made = [
    await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt']),
    await subtle.generateKey({ name: 'HMAC', hash: 'SHA-512' }, false, ['sign', 'verify']),
    await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-384' }, true, ['sign', 'verify']),
    await subtle.generateKey({ name: 'RSA-OAEP', modulusLength: 1024, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' }, true, ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey']),
    await subtle.importKey('raw', Uint8Array.of(1, 2, 3), 'PBKDF2', false, ['deriveKey', 'deriveBits']),
  ];
  for (const keys of made) cryptoKeys.push(...('publicKey' in keys ? [keys.publicKey, keys.privateKey] : [keys]));
}

/** Handles of files and folders; none in browsers of before 2020. */
const handles: FileSystemHandle[] = [];

async function makeHandles(): Promise<void> {
  const storage = navigator.storage as Partial<StorageManager>;
  const root = await storage.getDirectory?.();
  if (root === undefined) return;
  handles.push(await root.getDirectoryHandle('a folder', { create: true }), await root.getFileHandle('ein Käse.txt', { create: true }));
}

const hosts: HostKinds = {
  make(random) {
    const numbers = () => [random.below(100), random.below(100) / 4, -random.below(100), random.uint32()];
    switch (random.below(15)) {
      case 0:
        return new DOMPoint(...numbers());
      case 1:
        return new DOMRect(...numbers());
      case 2:
        return new DOMPointReadOnly(...numbers());
      case 3:
        return new DOMException(wellFormed(random), 'AbortError');
      case 4:
        return new ImageData(1 + random.below(4), 1 + random.below(4));
      case 5:
        return new File([random.bytes(random.below(2000)) as Uint8Array<ArrayBuffer>], `file ${random.below(100)}.txt`, { type: 'text/plain', lastModified: random.uint32() * 100 });
      case 7:
        return new DOMMatrixReadOnly(Array.from({ length: 16 }, () => random.below(9)));
      case 8:
        return new DOMRectReadOnly(...numbers());
      case 9:
        return new DOMQuad({ x: 1, y: random.below(9) }, { x: 2, z: random.below(9) }, {}, { w: 2 });
      case 10: {
        const transfer = new DataTransfer();
        for (let i = random.below(3); i > 0; i--) transfer.items.add(new File(['text'], `file ${i}.txt`, { type: 'text/plain', lastModified: random.uint32() * 100 }));
        return transfer.files;
      }
      case 11:
        return resizableBuffer(random);
      case 12:
        return random.pick(cryptoKeys);
      case 13:
        return handles.length === 0 ? new DOMPoint(...numbers()) : random.pick(handles);
      case 6:
        return new DOMMatrix(Array.from({ length: 16 }, () => random.below(9)));
      default:
        return new Blob([random.bytes(random.below(2000)) as Uint8Array<ArrayBuffer>], { type: random.pick(['', 'application/x-test']) });
    }
  },
  describe(object) {
    const name = object.constructor.name;
    const names = geometry[name];
    if (names !== undefined) return `${name} ${names.map((field) => (object as Record<string, unknown>)[field]).join(' ')}`;
    if (object instanceof DOMException) return `DOMException ${object.name} ${JSON.stringify(object.message)}`;
    if (object instanceof ImageData) return `ImageData ${object.width} ${object.height} ${[...object.data].join(' ')}`;
    // DOMMatrix is one, too.
    if (object instanceof DOMMatrixReadOnly) return `${name} ${[...object.toFloat64Array()].join(' ')}`;
    if (object instanceof DOMQuad) return `DOMQuad ${[object.p1, object.p2, object.p3, object.p4].map(({ x, y, z, w }) => `${x} ${y} ${z} ${w}`).join(' ')}`;
    if (name === 'FileSystemFileHandle' || name === 'FileSystemDirectoryHandle') return `${name} ${(object as FileSystemHandle).name}`;
    if (object instanceof CryptoKey) return cryptoKeyText(object);
    if (object instanceof FileList) return `FileList ${Array.from(object, fileText).join(', ')}`;
    if (object instanceof File) return fileText(object);
    if (object instanceof Blob) return `Blob ${object.type} ${object.size}`;
    return undefined;
  },
};

function promised<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error!);
  });
}

function completed(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error!);
  });
}

async function openAt(name: string, version: number, upgrade: (database: IDBDatabase, transaction: IDBTransaction) => void): Promise<IDBDatabase> {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => upgrade(request.result, request.transaction!);
  return promised(request);
}

function randomKey(random: Random, depth = 0): IDBValidKey {
  switch (random.below(depth < 3 ? 7 : 5)) {
    case 0:
      return random.pick([0, -1, 1.5, 1e300, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, random.below(1000)]);
    case 1:
      return new Date(random.uint32() * 100);
    case 2:
      return random.bytes(random.below(10)) as Uint8Array<ArrayBuffer>;
    case 3:
      return random.below(1000);
    case 4:
      return randomText(random).slice(0, 20);
    default:
      return Array.from({ length: random.below(4) }, () => randomKey(random, depth + 1));
  }
}

/**
 * Stores random values under random keys, deletes and overwrites some, and changes the version of a database twice.
 *
 * @param hasLarge whether to store values that are so large that the browser compresses them, or puts them in files of their own.
 */
export async function store(seed: number, count: number, hasLarge = true): Promise<void> {
  const random = seeded(seed);
  await makeCryptoKeys();
  await makeHandles();
  (await openAt('values', 1, (database) => database.createObjectStore('clones'))).close();
  const database = await openAt('values', 7, (upgraded, transaction) => {
    const notes = upgraded.createObjectStore('notes', { keyPath: 'meta.id', autoIncrement: true });
    notes.createIndex('tags', 'tags', { multiEntry: true });
    notes.createIndex('name', 'name', { unique: true });
    notes.createIndex('pair', ['a', 'b']);
    upgraded.createObjectStore('dropped').put(1, 'gone');
    transaction.objectStore('clones').put('from version 7', 'upgraded');
  });
  for (let i = 0; i < count; i += 20) {
    const transaction = database.transaction(['clones', 'notes'], 'readwrite');
    const clones = transaction.objectStore('clones');
    const notes = transaction.objectStore('notes');
    for (let j = i; j < Math.min(i + 20, count); j++) {
      const key = randomKey(random);
      putClone(clones, random, key);
      if (random.below(10) === 0) put(clones, { overwritten: randomText(random) }, key);
      if (random.below(10) === 0) clones.delete(key);
      notes.put({ tags: Array.from({ length: random.below(4) }, () => random.below(5)), name: `note ${j}`, a: random.below(3), b: randomText(random), text: randomText(random) });
      if (random.below(5) === 0) notes.delete(1 + random.below(j + 1));
    }
    await completed(transaction);
  }
  if (hasLarge) await storeLarge(database, random);
  database.close();
  (await openAt('values', 8, (upgraded) => upgraded.deleteObjectStore('dropped'))).close();
  (await openAt('deleted', 1, (made) => made.createObjectStore('x').put(1, 1))).close();
  await promised(indexedDB.deleteDatabase('deleted'));
  for (let i = 0; i < 50; i++) {
    localStorage.setItem(randomText(random).slice(0, 30), randomText(random));
    sessionStorage.setItem(wellFormed(random).slice(0, 30), randomText(random));
    if (i % 7 === 0) localStorage.removeItem(localStorage.key(0)!);
  }
}

/** The most attempts to make a value that the browser can clone, because older browsers clone fewer types. */
const MOST_TRIES = 20;

/** The descriptions of values when they were stored, in order, with their keys. */
const given: { readonly key: IDBValidKey; readonly value: string }[] = [];

/** Stores a value, and remembers it. @throws DOMException for one that this browser does not clone. */
function put(clones: IDBObjectStore, value: unknown, key: IDBValidKey): void {
  clones.put(value, key);
  given.push({ key, value: describeClone(value, hosts) });
}

/** Stores a random value that this browser can clone. */
function putClone(clones: IDBObjectStore, random: Random, key: IDBValidKey): void {
  for (let i = 0; i < MOST_TRIES; i++) {
    const value = randomClone(random, hosts);
    try {
      put(clones, value, key);
      return;
    } catch (error) {
      if (!(error instanceof DOMException) || error.name !== 'DataCloneError') throw error;
    }
  }
  put(clones, 'nothing that this browser clones', key);
}

async function storeLarge(database: IDBDatabase, random: Random): Promise<void> {
  const transaction = database.transaction('clones', 'readwrite');
  const clones = transaction.objectStore('clones');
  put(clones, Array.from({ length: 300_000 }, (_, i) => (i * 2_654_435_761) % 251), 'compressed, and in a file of its own');
  put(clones, random.bytes(200_000), 'in a file of its own');
  put(clones, 'text '.repeat(20_000), 'compressed');
  await completed(transaction);
}

async function recordsOf(source: IDBObjectStore | IDBIndex): Promise<DescribedRecord[]> {
  const records: DescribedRecord[] = [];
  const request = source.openCursor();
  for (let cursor = await promised(request); cursor !== null; cursor = await promised(request)) {
    records.push({ key: `${describeClone(cursor.key)} of ${describeClone(cursor.primaryKey)}`, value: describeClone(cursor.value, hosts) });
    cursor.continue();
  }
  return records;
}

/** The descriptions of clones as they were stored, and how many of them the browser itself does not read back as such. */
function asGiven(records: readonly DescribedRecord[], keys: readonly IDBValidKey[]): { readonly clones: DescribedRecord[]; readonly misread: number } {
  let misread = 0;
  const clones = records.map((record, i) => {
    const last = given.filter(({ key }) => indexedDB.cmp(key, keys[i]!) === 0).pop();
    if (last === undefined || last.value === record.value) return record;
    misread++;
    return { key: record.key, value: last.value };
  });
  return { clones, misread };
}

/** The stored records by store, and by index as `store.index`. */
export async function stored(): Promise<Stored> {
  const database = await promised(indexedDB.open('values'));
  const records: Record<string, DescribedRecord[]> = {};
  for (const name of database.objectStoreNames) {
    records[name] = await recordsOf(database.transaction(name).objectStore(name));
    for (const index of database.transaction(name).objectStore(name).indexNames) records[`${name}.${index}`] = await recordsOf(database.transaction(name).objectStore(name).index(index));
  }
  const { clones, misread } = asGiven(records.clones!, await promised(database.transaction('clones').objectStore('clones').getAllKeys()));
  database.close();
  const items = (storage: Storage) => Array.from({ length: storage.length }, (_, i) => storage.key(i)!).map((key) => ({ key: JSON.stringify(key), value: JSON.stringify(storage.getItem(key)) }));
  return { records: { ...records, clones }, misread, local: items(localStorage), session: items(sessionStorage) };
}
