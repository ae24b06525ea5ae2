// A lock that does not keep out all programs is reported by each call that takes it.
import { Database, type DatabaseEvent, type FolderLock, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

class PartlyLockedFolder extends WritableMemoryFolder {
  override lock(): FolderLock {
    const lock = super.lock();
    return { limits: 'others are not kept out', release: () => lock.release() };
  }
}

type Call = (folder: WritableMemoryFolder, options: { onEvent?: (event: DatabaseEvent) => void; lock?: 'folder' | 'none' | undefined }) => Promise<unknown>;

const calls: [string, Call][] = [
  ['open', async (folder, options) => (await Database.open(folder, options)).close()],
  ['repair', (folder, options) => Database.repair(folder, options)],
  ['destroy', (folder, options) => Database.destroy(folder, options)],
];

test.each(calls)('%s reports the limits of the lock in an event, and nothing where the lock has none or is not taken', async (_, call) => {
  const eventsOf = async (folder: WritableMemoryFolder, lock?: 'none'): Promise<DatabaseEvent[]> => {
    await (await Database.open(folder)).close();
    const events: DatabaseEvent[] = [];
    await call(folder, { lock, onEvent: (event) => void events.push(event) });
    return events.filter(({ kind }) => kind === 'lock-limited');
  };
  expect(await eventsOf(new PartlyLockedFolder())).toEqual([{ kind: 'lock-limited', message: 'others are not kept out' }]);
  expect(await eventsOf(new PartlyLockedFolder(), 'none')).toEqual([]);
  expect(await eventsOf(new WritableMemoryFolder())).toEqual([]);
});

test.each(calls)('%s refuses an onEvent that is not a function', async (_, call) => {
  expect(await rejection(call(new WritableMemoryFolder(), { onEvent: 5 as never }))).toBeInstanceOf(TypeError);
});
