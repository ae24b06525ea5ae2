import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import type { TableThread, TableThreadSettings } from '@bloom/leveldb/internal';
import { Database, WriteBatch } from '@bloom/leveldb';
import { afterAll, beforeAll, expect, test } from 'vitest';

let path: string;

beforeAll(async () => {
  path = await mkdtemp(join(tmpdir(), 'late-thread-'));
});

afterAll(() => rm(path, { recursive: true }));

class ObservedFolder extends WritableNodeFolder {
  /** The bytes of the work for which a thread was asked, and whether one was started. */
  readonly asked: [byteLength: number, isStarted: boolean][] = [];

  override startTableThread(settings: TableThreadSettings, byteLength?: number): TableThread | undefined {
    const thread = super.startTableThread(settings, byteLength);
    this.asked.push([byteLength!, thread !== undefined]);
    return thread;
  }
}

test('compactRange of a database of 2 MB starts no thread', async () => {
  const folder = new ObservedFolder(join(path, 'small'));
  const database = await Database.open(folder);
  for (let i = 0; i < 20; i++) {
    const batch = new WriteBatch();
    for (let j = 0; j < 1000; j++) batch.put(`key${i * 1000 + j}`, 'x'.repeat(100));
    await database.write(batch);
  }
  await database.compactRange();
  await database.close();
  expect(folder.asked).toHaveLength(1);
  for (const [byteLength, isStarted] of folder.asked) {
    expect(byteLength).toBeGreaterThan(2 ** 20);
    expect(isStarted).toBe(false);
  }
});
