import { DatabaseReader, type Folder, MemoryFolder, type ReaderOptions, SyncDatabaseReader, WritableMemoryFolder } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from './collect.js';

// Files that are missing or truncated are read again, because a writer may be the cause. In these folders nobody writes.

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Three tables, with one key each, and a log. */
const sound = (): Map<string, Uint8Array> =>
  assembleDatabase({
    tables: ['a', 'b', 'c'].map((key, i) => ({ level: 1, number: 5 + i, versions: [{ key: utf8(key), sequence: i + 1, value: utf8(key) }] })),
    logs: [{ number: 10, batches: [{ sequence: 4, operations: [[utf8('d'), utf8('d')]] }] }],
  });

function cut(files: Map<string, Uint8Array>, ...names: string[]): Map<string, Uint8Array> {
  for (const name of names) files.set(name, files.get(name)!.subarray(0, -4));
  return files;
}

/** The same folder with promises. */
const slow = (folder: MemoryFolder): Folder => ({ list: () => Promise.resolve(folder.list()), open: (name) => Promise.resolve(folder.open(name)) });

interface Outcome {
  readonly keys?: string;
  readonly dropped?: readonly string[];
  readonly code?: unknown;
}

/** What readers of a folder show; fails if an asynchronous one differs from a synchronous one. */
async function outcomeOf(folder: MemoryFolder, options: ReaderOptions): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  for (const open of [() => DatabaseReader.open(folder, options), () => DatabaseReader.open(slow(folder), options), async () => SyncDatabaseReader.open(folder, options)]) {
    try {
      const reader = await open();
      const keys = reader instanceof DatabaseReader ? await collect(reader.keys()) : [...reader.keys()];
      outcomes.push({ keys: keys.map(text).join(''), dropped: reader.describe().dropped.map(({ file, code }) => `${file} ${code}`) });
      await reader.close();
    } catch (error) {
      outcomes.push({ code: (error as { readonly code?: unknown }).code });
    }
  }
  expect(outcomes).toEqual([outcomes[0], outcomes[0], outcomes[0]]);
  return outcomes[0]!;
}

describe.each([undefined, 1, 0])('with maxRestarts: %j', (maxRestarts) => {
  test.each([1, 2, 3])('%i truncated tables are damage', async (count) => {
    const names = ['000005.ldb', '000006.ldb', '000007.ldb'].slice(0, count);
    const folder = new MemoryFolder(cut(sound(), ...names));
    expect(await outcomeOf(folder, { maxRestarts })).toEqual({ code: 'BLOOM_TRUNCATED' });
    expect(await outcomeOf(folder, { maxRestarts, damage: 'skip' })).toEqual({ keys: 'abcd'.slice(count), dropped: names.map((name) => `${name} BLOOM_TRUNCATED`) });
  });

  test('a missing MANIFEST, a missing table, and a missing table beside a truncated one are damage', async () => {
    for (const [missing, code] of [['MANIFEST-000001', 'BLOOM_BAD_CURRENT'], ['000005.ldb', 'BLOOM_MISSING_FILE']] as const) {
      for (const damage of ['strict', 'skip'] as const) {
        const files = cut(sound(), '000006.ldb');
        files.delete(missing);
        expect(await outcomeOf(new MemoryFolder(files), { maxRestarts, damage })).toEqual({ code });
        expect(await outcomeOf(new UnopenedFolder(sound(), missing), { maxRestarts, damage })).toEqual({ code });
        const unlisted = { open: (name: string) => new MemoryFolder(files).open(name) };
        expect(await rejection(DatabaseReader.open(unlisted, { maxRestarts, damage }))).toMatchObject({ code });
      }
    }
  });

  test('the only log, and the newest one, are damage if they are listed and cannot be opened', async () => {
    for (const files of [sound(), new Map([...sound(), ['000009.log', new Uint8Array(0)]])]) {
      const folder = new UnopenedFolder(files, '000010.log');
      expect(await outcomeOf(folder, { maxRestarts })).toEqual({ code: 'BLOOM_MISSING_FILE' });
      expect(await outcomeOf(folder, { maxRestarts, damage: 'skip' })).toEqual({ keys: 'abc', dropped: ['000010.log BLOOM_MISSING_FILE'] });
    }
    const damaged = new UnopenedFolder(cut(sound(), '000005.ldb', '000006.ldb'), '000010.log');
    const dropped = ['000010.log BLOOM_MISSING_FILE', '000005.ldb BLOOM_TRUNCATED', '000006.ldb BLOOM_TRUNCATED'];
    expect(await outcomeOf(damaged, { maxRestarts, damage: 'skip' })).toEqual({ keys: 'c', dropped });
  });
});

/** A folder that lists a file, and does not open it. */
class UnopenedFolder extends MemoryFolder {
  readonly #unopened: string;

  constructor(files: ReadonlyMap<string, Uint8Array>, unopened: string) {
    super(files);
    this.#unopened = unopened;
  }

  override open(name: string) {
    return name === this.#unopened ? undefined : super.open(name);
  }
}

test('a remote table that is longer than the MANIFEST says is found by two attempts', async () => {
  const files = sound();
  files.set('000005.ldb', Uint8Array.of(...files.get('000005.ldb')!, 0));
  const memory = new WritableMemoryFolder(files);
  let opened = 0;
  const folder: Folder = {
    isRemote: true,
    open(name) {
      if (name === 'CURRENT') opened++;
      const file = memory.open(name);
      return file && { name, byteLength: file.byteLength, isRemote: true, read: (offset, length) => Promise.resolve(file.read(offset, length)) };
    },
  };
  for (const damage of ['strict', 'skip'] as const) {
    opened = 0;
    const error = await rejection(DatabaseReader.open(folder, { openTables: 'at-opening', damage }));
    expect(error).toMatchObject({ code: 'BLOOM_FOLDER_CHANGED', file: '000005.ldb' });
    expect(opened).toBe(2);
  }
});
