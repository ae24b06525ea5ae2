// The libraries' messages advise programs; the command shows them without what its users cannot do.
import { BulkError } from '@bloom/bulk';
import { Database, DatabaseError, WritableMemoryFolder } from '@bloom/leveldb';
import { MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { Failure, failureOf } from '../src/failure.js';
import { storeFailure } from '../src/inputs/store-argument.js';
import { databaseFailure } from '../src/inputs/written-database.js';
import { withoutAdvice } from '../src/library-advice.js';

const OPTIONS = /maxBlockBytes|lock: |byteLength|codecs\b/;

async function errorOf(call: () => unknown): Promise<Error> {
  try {
    await call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('no error');
}

function table(): Uint8Array<ArrayBuffer> {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { compression: 'none', filterPolicy: null });
  builder.add(new Uint8Array(10), new Uint8Array(5000));
  builder.finish();
  return sink.toBytes();
}

class WithoutLocks extends WritableMemoryFolder {
  override lock = undefined as never;
}

test.each<[string, () => unknown]>([
  ['a block of a table that is too large', () => [...SyncTable.open(new MemorySource(table()), { maxBlockBytes: 4000 }).entries()]],
  ['an entry that is too large for a table', async () => (await Database.open(new WritableMemoryFolder(), { maxBlockBytes: 4000 })).put(new Uint8Array(1), new Uint8Array(5000))],
])('the message about %s names an option in the library, and none in the command', async (_, call) => {
  const error = await errorOf(call);
  expect(error.message).toMatch(OPTIONS);
  for (const failure of [failureOf('it', error), databaseFailure('it', error)]) {
    if (failure instanceof Failure) expect(failure.message).not.toMatch(OPTIONS);
  }
  expect(databaseFailure('it', error)).toBeInstanceOf(Failure);
  expect((databaseFailure('it', error) as Failure).message).toMatch(/\d/);
});

test('a folder without locks is reported without the option that leaves out the lock', async () => {
  const error = await errorOf(() => Database.open(new WithoutLocks()));
  expect(error.message).toContain("lock: 'none'");
  expect((databaseFailure('it', error) as Failure).message).not.toMatch(OPTIONS);
});

test('a database that cannot be written any more is reported with the reason in the words of the command', () => {
  const cause = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  const ended = databaseFailure('it', new DatabaseError('BLOOM_WRITING_ENDED', 'the database ended', { cause }));
  expect(ended).toEqual(new Failure('it: no space left on the device: earlier writes can be read'));
});

test('a store that cannot be written is reported with the reason in the words of the command', () => {
  const cause = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC', syscall: 'write' });
  const failed = storeFailure(new BulkError('BLOOM_STORE_FAILED', `store: could not write 1.ldb: ${cause.message}`, { cause }));
  expect(failed).toEqual(new Failure('store: could not write 1.ldb: no space left on the device (BLOOM_STORE_FAILED)'));
  expect(storeFailure(Object.assign(cause, { path: 'store/1.ldb' }))).toEqual(new Failure('store/1.ldb: no space left on the device'));
});

test.each([
  ["Deno cannot lock folders: use Deno 2.8 or later, or make sure that nobody else writes and pass lock: 'none'", 'Deno cannot lock folders: use Deno 2.8 or later'],
  ['an entry needs a block of up to 9 bytes, maxBlockBytes is 5: pass a larger maxBlockBytes', 'an entry needs a block of up to 9 bytes, the limit is 5'],
  ['the keys need an index of up to 9 bytes, half of maxBlockBytes is 5: open the database with a larger maxBlockBytes, of up to 1 GiB', 'the keys need an index of up to 9 bytes, the limit is 5'],
  ['make it expose Content-Range, or pass the option byteLength', 'make it expose Content-Range'],
  ['the block has a codec of type 7: pass one in codecs', 'the block has a codec of type 7'],
  ['the new MANIFEST would have 9 bytes, the limit is 5: pass a larger maxFileSize, so that there are fewer tables', 'the new MANIFEST would have 9 bytes, the limit is 5'],
  ['the keys take 9 bytes: copy the entries to a new database with a larger maxFileSize', 'the keys take 9 bytes'],
  ['its number leaves no numbers for new files: move it away if it is not a log of this database, or use Database.repair', 'its number leaves no numbers for new files: move it away if it is not a log of this database'],
  ['it leaves no numbers for new files; make a new MANIFEST with Database.repair', 'it leaves no numbers for new files'],
  ['it has 9 bytes, but a MANIFEST can be at most 5 bytes: make a new one with Database.repair', 'it has 9 bytes, but a MANIFEST can be at most 5 bytes'],
  ['the key is too long', 'the key is too long'],
])('%s', (given, shown) => {
  expect(withoutAdvice(given)).toBe(shown);
});
