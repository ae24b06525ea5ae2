// The findings of a server in Node: whatever bundles it, they are those of Node without a bundler, but for the thread.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database, DatabaseError, DatabaseReader, WriteBatch } from '@bloom/leveldb';
import type { TableThread, TableThreadSettings } from '@bloom/leveldb/internal';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { openTable, writeTable } from '@bloom/sstable/node';

const ENTRIES = 5_000;

export interface ServerFindings {
  readonly entries: number;
  readonly isAbsent: boolean;
  readonly databaseEntries: number;
  /** Whether the folder was locked, or why it could not be. */
  readonly lock: string;
  /** What a worker thread did: memtables flushed and tables merged. A bundle without the worker's file has no thread. */
  readonly threadJobs: { readonly done: number; readonly failed: number };
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const keyOf = (i: number): Uint8Array => utf8(`key ${String(i).padStart(8, '0')}`);

export async function serverFindings(): Promise<ServerFindings> {
  const folder = await mkdtemp(join(tmpdir(), 'bloom-bundled-'));
  try {
    return { ...(await tableFindings(join(folder, 'table.ldb'))), ...(await databaseFindings(join(folder, 'database'))) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function tableFindings(path: string): Promise<Pick<ServerFindings, 'entries' | 'isAbsent'>> {
  await writeTable(path, Array.from({ length: ENTRIES }, (_, i) => [keyOf(i), utf8(`value ${i}`)] as const));
  const table = await openTable(path);
  let entries = 0;
  for await (const _ of table.entries()) entries++;
  const isAbsent = (await table.get(utf8('absent'))) === undefined;
  await table.close();
  return { entries, isAbsent };
}

async function databaseFindings(path: string): Promise<Pick<ServerFindings, 'databaseEntries' | 'lock' | 'threadJobs'>> {
  const threadJobs = { done: 0, failed: 0 };

  class CountingFolder extends WritableNodeFolder {
    override startTableThread(settings: TableThreadSettings): TableThread | undefined {
      const thread = super.startTableThread(settings);
      if (thread === undefined) return undefined;
      return {
        get hasEnded() {
          return thread.hasEnded;
        },
        compact: (request) => counted(thread.compact(request)),
        flush: (entries, number, bitsPerKey) => counted(thread.flush(entries, number, bitsPerKey)),
        close: () => thread.close(),
      };
    }
  }

  async function counted<T>(job: Promise<T>): Promise<T> {
    try {
      const result = await job;
      threadJobs.done++;
      return result;
    } catch (error) {
      threadJobs.failed++;
      throw error;
    }
  }

  const folder = new CountingFolder(path);
  const options = { writeBufferSize: 2 ** 18, compression: 'none' } as const;
  let lock = 'held';
  const database = await Database.open(folder, options).catch((error: unknown) => {
    lock = error instanceof DatabaseError ? error.code : String(error);
    return Database.open(folder, { ...options, lock: 'none' });
  });
  const value = new Uint8Array(1000);
  for (let i = 0; i < ENTRIES; i += 100) {
    const batch = new WriteBatch();
    for (let j = i; j < i + 100; j++) batch.put(keyOf((j * 7_919) % ENTRIES), value);
    await database.write(batch);
  }
  await database.compactRange();
  await database.close();

  const reader = await DatabaseReader.open(new NodeFolder(path));
  let databaseEntries = 0;
  for await (const _ of reader.entries()) databaseEntries++;
  await reader.close();
  return { databaseEntries, lock, threadJobs };
}
