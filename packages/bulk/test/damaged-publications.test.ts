// What readers make of a publication that somebody has changed: a typed error, and never a wrong answer.
import { createHash } from 'node:crypto';
import { assemble, MemoryStore, partName, type Publication, publish, readPublication, verifyPublished, writeParts } from '@bloom/bulk';
import { manifestName, numberOfSha256 } from '@bloom/bulk/internal';
import { DatabaseReader, decodeVersionEdit, encodeVersionEdit, type VersionEdit } from '@bloom/leveldb';
import { LogWriter, readLog } from '@bloom/log';
import { beforeAll, describe, expect, test } from 'vitest';
import { collected, deliver, entriesOf, keyAt, partsOf, range, SMALL, utf8 } from './model.js';

let files: ReadonlyMap<string, Uint8Array>;
let publication: Publication;
beforeAll(async () => {
  const store = new MemoryStore();
  await deliver(store, entriesOf(range(0, 3000)).map(([key]) => [key, utf8('sixteen bytes ...')] as const), 1n);
  await deliver(store, entriesOf(range(0, 300, 7), 'changed'), 2n);
  files = store.files();
  publication = (await readPublication(store))!;
});

/** The publication with some other files. */
async function storeWith(changes: Readonly<Record<string, Uint8Array>>): Promise<MemoryStore> {
  const store = new MemoryStore('changed');
  for (const [name, bytes] of [...files, ...Object.entries(changes)]) await store.put({ name, bytes, sha256: '' });
  return store;
}

const openLater = (store: MemoryStore): Promise<DatabaseReader> => DatabaseReader.open(store.folder(), { openTables: 'when-needed' });

type NewFiles = NonNullable<VersionEdit['newFiles']>;

/** The MANIFEST, its sums right, after a change of what it says. */
function changedManifest(change: (edit: VersionEdit, newFiles: NewFiles) => VersionEdit): Uint8Array {
  const place = { structure: 'MANIFEST', offset: 0 } as const;
  const edit = decodeVersionEdit(readLog(files.get(publication.manifest)!).records[0]!.bytes, place);
  let bytes = new Uint8Array(0);
  new LogWriter({ append: (record) => (bytes = new Uint8Array(record)) }).addRecord(encodeVersionEdit(change(edit, edit.newFiles!)));
  return bytes;
}

describe('a MANIFEST with right checksums that somebody has changed', () => {
  const changes: Record<string, (edit: VersionEdit, newFiles: NewFiles) => VersionEdit> = {
    'a part is missing': (edit, newFiles) => ({ ...edit, newFiles: newFiles.slice(1) }),
    'a part is listed twice': (edit, newFiles) => ({ ...edit, newFiles: [...newFiles, newFiles[0]!] }),
    'levels changed places': (edit, newFiles) => ({ ...edit, newFiles: newFiles.map(({ level, file }) => ({ level: 11 - level, file })) }),
    'a part has other keys': (edit, newFiles) => ({ ...edit, newFiles: newFiles.map(({ level, file }, i) => ({ level, file: i === 1 ? { ...file, largest: file.smallest } : file })) }),
    'the last sequence is lower': (edit) => ({ ...edit, lastSequence: 1n }),
  };

  test.each(Object.keys(changes))('is refused by readers and by bloom: %s', async (name) => {
    const store = await storeWith({ [publication.manifest]: changedManifest(changes[name]!) });
    await expect(openLater(store)).rejects.toMatchObject({ name: 'CorruptionError', code: 'BLOOM_BAD_VERSION', file: publication.manifest });
    await expect(verifyPublished(store)).rejects.toMatchObject({ code: 'BLOOM_NOT_PUBLISHED' });
  });

  test('is refused at a refresh, and the reader keeps its state', async () => {
    const store = await storeWith({});
    await using reader = await openLater(store);
    const other = manifestName(123_456_789_012n);
    await store.put({ name: other, bytes: changedManifest((edit, newFiles) => ({ ...edit, newFiles: newFiles.slice(1) })), sha256: '' });
    await store.put({ name: 'CURRENT', bytes: utf8(`${other}\n`), sha256: '' });
    await expect(reader.refresh()).rejects.toMatchObject({ code: 'BLOOM_BAD_VERSION' });
    expect(await collected(reader.entries())).toHaveLength(3000);
  });

  test('is read if its number is a sequential one, as LevelDB assigns them', async () => {
    const store = await storeWith({ 'MANIFEST-000007': files.get(publication.manifest)!, CURRENT: utf8('MANIFEST-000007\n') });
    await using reader = await openLater(store);
    expect(await collected(reader.entries())).toHaveLength(3000);
  });

  test('and renamed is refused where its last sequence hides parts', async () => {
    const bytes = changedManifest((edit) => ({ ...edit, lastSequence: 1n }));
    const name = manifestName(numberOfSha256(createHash('sha256').update(bytes).digest('hex')));
    const store = await storeWith({ [name]: bytes, CURRENT: utf8(`${name}\n`) });
    await expect(readPublication(store)).rejects.toMatchObject({ code: 'BLOOM_NOT_PUBLISHED' });
  });
});

test('another part of the same length under the name of a part is found when it is opened', async () => {
  const store = new MemoryStore();
  const entries = range(0, 6000).map((i) => [keyAt(i), utf8('sixteen bytes ...')] as const);
  await publish(store, await assemble(store, await collected(writeParts(store, [entries], { ...SMALL, compression: 'none', filterPolicy: null, sequence: 1n }))));
  const parts = (await readPublication(store))!.levels[6]!;
  const i = parts.findIndex(({ size }, n) => size === parts[n + 1]?.size);
  expect(i).toBeGreaterThanOrEqual(0);
  const swapped = [parts[i]!, parts[i + 1]!] as const;
  const bytes = swapped.map(({ number }) => store.files().get(partName(number))!);
  await store.put({ name: partName(swapped[0].number), bytes: bytes[1]!, sha256: '' });
  await store.put({ name: partName(swapped[1].number), bytes: bytes[0]!, sha256: '' });
  await using reader = await openLater(store);
  for (const part of swapped) {
    await expect(reader.get(part.smallest.slice(0, -8))).rejects.toMatchObject({ name: 'CorruptionError', code: 'BLOOM_BAD_VERSION', file: partName(part.number) });
  }
  await expect(collected(reader.entries())).rejects.toMatchObject({ code: 'BLOOM_BAD_VERSION' });
  expect(await reader.get(parts.at(-1)!.largest.slice(0, -8))).toBeDefined();
});

test('with the comparator null all but the order is verified', async () => {
  const store = new MemoryStore();
  await deliver(store, entriesOf(range(0, 300)), 1n);
  expect(await verifyPublished(store, { comparator: null })).toMatchObject({ findings: [], entries: 300 });
  const { number } = (await readPublication(store))!.levels.flat()[0]!;
  await store.delete(partName(number));
  expect(await verifyPublished(store, { comparator: null })).toMatchObject({ findings: [{ code: 'BLOOM_MISSING_PART' }] });
});

test('blocks may be as large as maxBlockBytes says, as for readers', async () => {
  const store = new MemoryStore();
  const [part] = await partsOf(store, [[utf8('a'), new Uint8Array(5000)]], 1n);
  await publish(store, await assemble(store, [part!]));
  expect(await verifyPublished(store, { maxBlockBytes: 6000 })).toMatchObject({ findings: [], entries: 1 });
  const { findings, entries } = await verifyPublished(store, { maxBlockBytes: 4000 });
  expect([...new Set(findings.map(({ code }) => code))]).toEqual(['BLOOM_TOO_LARGE']);
  expect(entries).toBe(0);
  for (const depth of ['names', 'entries'] as const) await expect(verifyPublished(store, { depth, maxBlockBytes: 0 })).rejects.toThrow(/^maxBlockBytes must be/);
});
