import { turns } from '@bloom/fixtures/event-loop';
import { Database, DatabaseError, type WritableFile, WritableMemoryFolder } from '@bloom/leveldb';
import type { TableThread, TableThreadSettings } from '@bloom/leveldb/internal';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { ThreadedMemoryFolder } from './threaded-memory-folder.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A folder whose calls fail once `isFailing`, with an error of the same kind as the database's own. */
class FailingFolder extends WritableMemoryFolder {
  isFailing = false;
  readonly error = new DatabaseError('BLOOM_LOCKED', 'the folder is not ours any more');

  override create(name: string): WritableFile {
    if (this.isFailing && name.endsWith('.ldb')) throw this.error;
    return super.create(name);
  }
}

test('a DatabaseError of the folder itself ends writing, and does not hold up the event loop', async () => {
  const folder = new FailingFolder();
  const database = await Database.open(folder);
  await database.put(utf8('a'), utf8('1'));
  folder.isFailing = true;
  const flushing = rejection(database.flush());
  await turns();
  expect(await flushing).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: folder.error });
  expect(await rejection(database.put(utf8('b'), utf8('2')))).toMatchObject({ code: 'BLOOM_WRITING_ENDED' });
  expect(await database.get(utf8('a'))).toEqual(utf8('1'));
  await database.close();
});

test('a folder that syncs nothing, and says so without a promise, fails opening with its own error, and all files are closed', async () => {
  const open = new Set<string>();
  class UnsyncedFolder extends WritableMemoryFolder {
    override create(name: string): ReturnType<WritableMemoryFolder['create']> {
      const file = super.create(name);
      open.add(name);
      const sync = (): void => {
        if (!open.has(name)) throw new Error(`${name} is synced and closed`);
        throw new Error('the disk is gone');
      };
      return { append: (bytes) => file.append(bytes), sync, close: () => void open.delete(name) };
    }
  }
  // A rejection that nobody handles would fail the run.
  expect(await rejection(Database.open(new UnsyncedFolder()))).toMatchObject({ message: 'the disk is gone' });
  expect([...open]).toEqual([]);
});

describe('a folder whose thread', () => {
  const rejecting: TableThread = {
    hasEnded: false,
    compact: () => Promise.reject(new Error('no')),
    flush: () => Promise.reject(new Error('no')),
    close: () => Promise.resolve(),
  };
  test.each<[string, () => TableThread | undefined]>([
    [
      'cannot be started',
      () => {
        throw Object.assign(new Error('EAGAIN: resource temporarily unavailable'), { code: 'EAGAIN' });
      },
    ],
    ['does nothing', () => rejecting],
    ['is none', () => undefined],
  ])('%s is written to on the main thread', async (_, startTableThread) => {
    let started = 0;
    const folder = Object.assign(new WritableMemoryFolder(), {
      startTableThread: () => {
        started++;
        return startTableThread();
      },
    });
    const database = await Database.open(folder);
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 1500; i++) await database.put(utf8(`key${i}`), new Uint8Array(1000).fill(round));
      await database.flush();
    }
    await database.compactRange();
    expect(started).toBeGreaterThan(0);
    expect(await database.get(utf8('key7'))).toEqual(new Uint8Array(1000).fill(2));
    await database.close();
  });
});

test.each([
  ['after its first job, another one is started for the next job', 1, 3],
  ['before its first job, none is started again', 0, 1],
])('when the thread of a folder ends %s', async (_, jobs, threads) => {
  let started = 0;
  class FailingThreads extends ThreadedMemoryFolder {
    override startTableThread(settings: TableThreadSettings): TableThread {
      started++;
      const thread = super.startTableThread(settings);
      let left = jobs;
      return {
        ...thread,
        get hasEnded() {
          return left < 0;
        },
        flush: (...given) => (left-- > 0 ? thread.flush(...given) : Promise.reject(new Error('the worker has ended'))),
      };
    }
  }
  const folder = new FailingThreads();
  const database = await Database.open(folder);
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 1500; i++) await database.put(utf8(`${round} ${i}`), new Uint8Array(1000).fill(round));
    await database.flush();
  }
  expect([started, folder.jobs]).toEqual([threads, threads * jobs]);
  for (let round = 0; round < 6; round++) expect(await database.get(utf8(`${round} 7`))).toEqual(new Uint8Array(1000).fill(round));
  await database.close();
});

test('an opening that is refused gives others their turn, so that a caller may try again until they let go', async () => {
  class LockedFolder extends WritableMemoryFolder {
    override lock(): never {
      throw new DatabaseError('BLOOM_LOCKED', 'somebody has it');
    }
  }
  let isTurned = false;
  setImmediate(() => (isTurned = true));
  for (let attempt = 0; attempt < 2; attempt++) expect(await rejection(Database.open(new LockedFolder()))).toMatchObject({ code: 'BLOOM_LOCKED' });
  expect(isTurned).toBe(true);
});
