import { Database, type FolderLock, type PinnedFolder, type WritableFile, WritableMemoryFolder } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const failureOf = (text: string): (() => never) => () => {
  throw new Error(text);
};

/** A folder whose lock cannot be released, and that cannot be unpinned. */
class StuckFolder extends WritableMemoryFolder {
  /** Whether its tables and MANIFESTs cannot be read or deleted either. */
  isFailing = false;
  canPin = true;

  override lock(): FolderLock {
    const lock = super.lock();
    return {
      release() {
        void lock.release();
        throw new Error('release failed');
      },
    };
  }

  pin(): PinnedFolder {
    if (!this.canPin) throw new Error('pin failed');
    const use = (name: string): void => {
      if (this.isFailing && /^(MANIFEST|.*\.ldb)/.test(name)) throw new Error('the work failed');
    };
    return new Proxy(this as unknown as PinnedFolder, {
      get: (_, member) => {
        if (member === 'unpin') return failureOf('unpin failed');
        const value: unknown = Reflect.get(this, member, this);
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          if (member === 'open' || member === 'delete') use(args[0] as string);
          return Reflect.apply(value as () => unknown, this, args);
        };
      },
    });
  }
}

async function stuckFolder(): Promise<StuckFolder> {
  const plain = new WritableMemoryFolder();
  const database = await Database.open(plain);
  await database.put(utf8('a'), utf8('1'));
  await database.flush();
  await database.close();
  return new StuckFolder(plain.files());
}

describe.each<[string, (folder: StuckFolder) => Promise<unknown>]>([
  ['opening', async (folder) => (await Database.open(folder)).close()],
  ['repair', (folder) => Database.repair(folder)],
  ['refilter', (folder) => Database.refilter(folder)],
  ['destroy', (folder) => Database.destroy(folder)],
])('%s', (_, call) => {
  test('fails with its own error even if the folder cannot be released afterwards', async () => {
    const folder = await stuckFolder();
    folder.isFailing = true;
    expect(await rejection(call(folder))).toMatchObject({ message: 'the work failed' });
  });

  test('fails with the error of pinning even if the lock cannot be released', async () => {
    const folder = await stuckFolder();
    folder.canPin = false;
    expect(await rejection(call(folder))).toMatchObject({ message: 'pin failed' });
  });

  test('fails if only the release fails', async () => {
    expect(await rejection(call(await stuckFolder()))).toMatchObject({ message: 'unpin failed' });
  });
});

test('closing fails with the error of a log that cannot be closed, not with that of the release', async () => {
  class UnclosedFolder extends StuckFolder {
    override create(name: string): WritableFile {
      const file = super.create(name);
      return { append: (bytes) => file.append(bytes), sync: () => file.sync(), close: name.endsWith('.log') ? failureOf('close failed') : () => file.close() };
    }
  }
  const database = await Database.open(new UnclosedFolder());
  await database.put(utf8('b'), utf8('2'));
  expect(await rejection(database.close())).toMatchObject({ message: 'close failed' });
});

test('a clear whose edit cannot be written ends writing with that error, even if the new log cannot be closed', async () => {
  class FullFolder extends WritableMemoryFolder {
    isFull = false;

    override create(name: string): WritableFile {
      const file = super.create(name);
      return { append: (bytes) => (this.isFull && name.startsWith('MANIFEST') ? failureOf('append failed')() : file.append(bytes)), sync: () => file.sync(), close: this.isFull ? failureOf('close failed') : () => file.close() };
    }
  }
  const folder = new FullFolder();
  const database = await Database.open(folder);
  await database.put(utf8('a'), utf8('1'));
  folder.isFull = true;
  expect(await rejection(database.clear())).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { message: 'append failed' } });
  await database.close();
});

test('opening fails with the damage of a log and leaves no tables, even if the log to continue cannot be closed', async () => {
  const written = new WritableMemoryFolder();
  const database = await Database.open(written, { reuseLogs: true });
  await database.put(utf8('a'), utf8('1'));
  await database.put(utf8('b'), utf8('2'));
  await database.close();
  const files = written.files();
  const [first] = [...files.keys()].filter((name) => name.endsWith('.log'));
  // The first log lacks the end of its last record, and another follows.
  const log = files.get(first!)!;
  files.set(first!, log.slice(0, -3));
  files.set('000099.log', log);
  class UnclosedFolder extends WritableMemoryFolder {
    override openForAppend(name: string): WritableFile {
      const file = super.openForAppend(name);
      return { append: (bytes) => file.append(bytes), sync: () => file.sync(), close: failureOf('close failed') };
    }
  }
  const folder = new UnclosedFolder(files);
  expect(await rejection(Database.open(folder, { reuseLogs: true }))).toMatchObject({ code: 'BLOOM_BAD_LOG' });
  expect(folder.list().sort()).toEqual([...files.keys()].sort());
});
