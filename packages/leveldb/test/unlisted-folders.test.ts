import { Database, DatabaseReader, type Folder, type FolderFile, WritableMemoryFolder } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { assembleDatabase } from './assemble-database.js';
import { collect } from './collect.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Opens a reader, and returns the keys that it shows. It must show all writes up to its last sequence, of which each has the next letter as its key. */
async function keysOf(folder: Folder): Promise<string> {
  const reader = await DatabaseReader.open(folder);
  const keys = (await collect(reader.keys())).map(text).join('');
  expect(keys).toBe('abcdefgh'.slice(0, Number(reader.lastSequence)));
  await reader.close();
  return keys;
}

describe.each([
  ['neither lists nor identifies files', false],
  ['does not list files, but identifies them', true],
])('in a folder that %s', (_, identifies) => {
  const reading = (memory: WritableMemoryFolder, open: Folder['open']): Folder =>
    identifies ? { open, identityOf: (name) => memory.identityOf(name) } : { open };

  test('a reader shows the writes before a flush that happens while it looks for logs', async () => {
    const memory = new WritableMemoryFolder();
    const database = await Database.open(memory);
    await database.put('a', '1');
    let writing: Promise<void> | undefined;
    const write = async (): Promise<void> => {
      await database.flush();
      await database.put('b', '2');
    };
    const folder = reading(memory, async (name) => {
      if (name.endsWith('.log')) await (writing ??= write());
      return memory.open(name);
    });
    expect(await keysOf(folder)).toBe('ab');
    await database.close();
  });

  test('a reader shows the writes that an older log gets after it was opened, if it shows those of a newer log', async () => {
    let release: (() => void) | undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    const memory = new WritableMemoryFolder();
    const create = memory.create.bind(memory);
    // A flush takes so long that both logs are needed.
    Object.assign(memory, {
      async create(name: string) {
        if (name.endsWith('.ldb')) await released;
        return create(name);
      },
    });
    const database = await Database.open(memory, { writeBufferSize: 65_536 });
    await database.put('a', '1');
    let writing: Promise<void> | undefined;
    const write = async (): Promise<void> => {
      await database.put('b', new Uint8Array(70_000));
      await database.put('c', '3');
    };
    const folder = reading(memory, async (name): Promise<FolderFile | undefined> => {
      const file = memory.open(name);
      if (name === '000003.log') writing ??= write();
      if (!name.endsWith('.log') || file !== undefined) return file;
      await writing;
      return memory.open(name);
    });
    expect(await keysOf(folder)).toBe('abc');
    release!();
    await database.close();
  });

  test('a reader shows the writes of a log that is flushed and deleted before it is looked for, if the MANIFEST counts them', async () => {
    const versions = ['a', 'b', 'c'].map((key, i) => ({ key: utf8(key), sequence: i + 1, value: utf8(key) }));
    const logs = versions.slice(0, 2).map(({ key, sequence, value }, i) => ({ number: 3 + i, batches: [{ sequence, operations: [[key, value]] as const }] }));
    // A compaction has recorded the last sequence while log 3 was still needed.
    const memory = new WritableMemoryFolder(assembleDatabase({ logs, lastSequence: 2 }));
    const flushed = new WritableMemoryFolder(
      assembleDatabase({ tables: [{ level: 0, number: 6, versions: versions.slice(0, 2) }], logs: [{ number: 40, batches: [{ sequence: 3, operations: [[utf8('c'), utf8('c')]] }] }] }),
    );
    let isFlushed = false;
    const now = (): WritableMemoryFolder => (isFlushed ? flushed : memory);
    const open = (name: string): FolderFile | undefined => {
      const file = now().open(name);
      if (name === '000003.log') isFlushed = true;
      return file;
    };
    expect(await keysOf({ open, ...(identifies ? { identityOf: (name: string) => now().identityOf(name) } : {}) })).toBe('abc');
  });
});
