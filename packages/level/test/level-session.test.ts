import { bytewiseComparator, type WritableFile, WritableMemoryFolder } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { webFormats } from '../src/web-formats.js';
import { repeatedRequests } from '../src/worker/held-states.js';
import type { Answer, Request } from '../src/worker/level-messages.js';
import { LevelSession } from '../src/worker/level-session.js';
import { opfsPlace } from '../src/worker/opfs-place.js';
import { SharedDatabase } from '../src/worker/shared-database.js';

/** A folder whose files take a turn of the event loop to be synced. */
class SlowFolder extends WritableMemoryFolder {
  override create(name: string): WritableFile {
    const file = super.create(name);
    const sync = file.sync.bind(file);
    file.sync = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      await sync();
    };
    return file;
  }
}

const sharedIn = (folder: WritableMemoryFolder): SharedDatabase =>
  new SharedDatabase({ path: 'words', folder: () => folder, canReopen: () => Promise.resolve(false) }, webFormats, {});

type Call = readonly [call: Request[1], ...values: unknown[]];

/** The use of a database by one page or thread. */
class Client {
  readonly session: LevelSession;
  /** The ids of the answered requests, in the order of the answers. */
  readonly order: number[] = [];
  readonly #answers = new Map<number, Answer>();
  #lastId = 0;

  /** @param onAnswers called before answers are sent. */
  constructor(database: SharedDatabase, onAnswers: (answers: readonly Answer[]) => void = () => undefined) {
    const send = (answers: readonly Answer[]): void => {
      onAnswers(answers);
      for (const answer of answers) {
        this.#answers.set(answer[0], answer);
        this.order.push(answer[0]);
      }
    };
    this.session = new LevelSession(database, send, true);
  }

  /** Sends requests in one message, and returns the results, or the codes of errors. */
  async ask(...calls: readonly Call[]): Promise<unknown[]> {
    const requests = calls.map(([call, ...values]): Request => [++this.#lastId, call, ...values]);
    this.session.handle(requests);
    await expect.poll(() => requests.every(([id]) => this.#answers.has(id)), { interval: 1 }).toBe(true);
    return requests.map(([id]) => {
      const [, failed, result] = this.#answers.get(id)!;
      return failed === 1 ? result.code : result;
    });
  }
}

const ALL = { gt: undefined, gte: undefined, lt: undefined, lte: undefined, reverse: false };
const KEYS = { kind: 'keys', keyFormat: 'utf8', valueFormat: 'utf8', withKeys: true, withValues: true };
const walk = (id: number, sequence?: bigint): Call => ['walk', id, ALL, KEYS, true, undefined, sequence];
const read = (id: number): Call => ['read', id, 100, 1000];
const put = (key: string, sync = false): Call => ['put', key, '1', sync];

test('a worker that could not open the database gives the reason in its later answers', async () => {
  const all: Answer[] = [];
  // There is no origin private file system here.
  const session = new LevelSession(new SharedDatabase(opfsPlace('words'), webFormats, {}), (answers) => void all.push(...answers));
  const requests: Request[] = [
    [1, 'open', {}],
    [2, 'get', 'a', 'utf8', undefined],
  ];
  session.handle(requests);
  await expect.poll(() => all.length).toBe(2);
  session.handle([[3, 'put', 'a', 'b', false]]);
  await expect.poll(() => all.length).toBe(3);
  const [opening, ...later] = all.sort(([a], [b]) => a - b);
  expect(opening).toMatchObject([1, 1, { message: expect.any(String) as unknown }]);
  const cause = opening![2];
  for (const answer of later) expect(answer[2]).toMatchObject({ name: 'LevelError', code: 'LEVEL_DATABASE_NOT_OPEN', cause });
});

test('the sequence of a walk counts the writes that were queued before it, which it shows', async () => {
  const database = sharedIn(new SlowFolder());
  const client = new Client(database);
  await client.ask(['open', {}]);
  const [, sequence, items, , after] = await client.ask(put('a', true), walk(1), read(1), put('b', true), walk(2));
  expect(items).toEqual([['a'], undefined]);
  expect([sequence, after]).toEqual([1n, 2n]);
  await client.ask(['close']);
});

test('what was done with a walk or a snapshot is answered after it, also while writes are queued', async () => {
  const client = new Client(sharedIn(new SlowFolder()));
  await client.ask(['open', {}]);
  await client.ask(put('a', true), walk(1), ['seek', 1, new Uint8Array([98])], ['endWalk', 1], ['snapshot', 1], ['release', 1]);
  expect(client.order.filter((id) => id >= 3 && id <= 5)).toEqual([3, 4, 5]);
  expect(client.order.indexOf(6)).toBeLessThan(client.order.indexOf(7));
  await client.ask(['close']);
});

test('a read at a snapshot is answered after it, also while writes are queued', async () => {
  const client = new Client(sharedIn(new SlowFolder()));
  await client.ask(['open', {}], put('a'));
  const read: Call[] = [['get', 'a', 'utf8', 1], ['getMany', ['a'], 'utf8', 1], ['has', 'a', 1], ['hasMany', ['a'], 1]];
  const [, snapshot, ...results] = await client.ask(put('b', true), ['snapshot', 1], ...read);
  expect([snapshot, ...results]).toEqual([2n, '1', ['1'], true, [true]]);
  // The page may have to make the snapshot again in another worker: by then it knows its sequence.
  expect(client.order.indexOf(4)).toBeLessThan(Math.min(...[5, 6, 7, 8].map((id) => client.order.indexOf(id))));
  await client.ask(['close']);
});

test('a walk that continues in another worker does not show a write that was queued there before', async () => {
  const folder = new SlowFolder();
  const before = new Client(sharedIn(folder));
  const [, , sequence] = await before.ask(['open', {}], put('a'), walk(1));
  await before.ask(['close']);
  const database = sharedIn(folder);
  const [one, other] = [new Client(database), new Client(database)];
  await one.ask(['open', {}]);
  await other.ask(['open', {}]);
  const writing = other.ask(put('b', true));
  const [again, snapshot, items, value] = await one.ask(walk(1, sequence as bigint), ['snapshot', 2, sequence], read(1), ['get', 'b', 'utf8', 2]);
  expect([again, snapshot, items, value]).toEqual([sequence, sequence, [['a'], undefined], undefined]);
  await writing;
  await one.ask(['close']);
  await other.ask(['close']);
});

test('a walk does not continue in another worker after all entries were deleted', async () => {
  const folder = new WritableMemoryFolder();
  const before = new Client(sharedIn(folder));
  await before.ask(['open', { writeBufferSize: 65_536 }]);
  // Enough for a table, so that clear removes all at once.
  await before.ask(...Array.from({ length: 40 }, (_, i): Call => ['put', `k${i}`, 'x'.repeat(5000), false]));
  const [sequence] = await before.ask(walk(1));
  await before.ask(['clear', ALL, undefined, Infinity]);
  await before.ask(['close']);
  const after = new Client(sharedIn(folder));
  expect(await after.ask(['open', {}], walk(1, sequence as bigint))).toEqual([undefined, 'LEVEL_SNAPSHOT_LOST']);
  await after.ask(['close']);
});

test('a page that ends while the database is being opened does not keep it open', async () => {
  const folder = new WritableMemoryFolder();
  const client = new Client(sharedIn(folder));
  client.session.handle([[1, 'open', {}], [2, ...walk(1)]]);
  await client.session.end();
  const again = new Client(sharedIn(folder));
  expect(await again.ask(['open', { comparator: bytewiseComparator }])).toEqual([undefined]);
  await again.ask(['close']);
});

test('a walk and a snapshot that are not answered do not show a later write of their thread, which was made before another worker got both', async () => {
  const folder = new WritableMemoryFolder();
  const before = new Client(sharedIn(folder));
  const requests = [['get', 'a', 'utf8', undefined], walk(1), ['snapshot', 2], put('b'), walk(3)] as const;
  await before.ask(['open', {}], ...requests);
  await before.ask(['close']);
  const after = new Client(sharedIn(folder));
  await after.ask(['open', {}]);
  const repeated = repeatedRequests(requests.map((request, i): Request => [i, ...request]));
  const answers = await after.ask(...repeated.map(([, ...request]): Call => request), read(1), ['get', 'a', 'utf8', 2], read(3));
  expect(answers).toEqual([undefined, 'LEVEL_SNAPSHOT_LOST', 'LEVEL_SNAPSHOT_LOST', undefined, 2n, 'LEVEL_SNAPSHOT_LOST', 'LEVEL_SNAPSHOT_LOST', [['b'], undefined]]);
  await after.ask(['close']);
});

test('writes are answered in their order, so that a write that is repeated elsewhere does not undo a later one', async () => {
  const client = new Client(sharedIn(new SlowFolder()));
  await client.ask(['open', {}]);
  const put = (value: string, sync = false): Call => ['put', 'a', value, sync];
  await client.ask(['clear', ALL, undefined, Infinity], put('1'), ['clear', { ...ALL, gte: new Uint8Array([0x61]) }, undefined, 1], put('2', true), ['write', ['a', undefined], false], ['delete', 'b', false]);
  expect(client.order).toEqual([1, 2, 3, 4, 5, 6, 7]);
  await client.ask(...Array.from({ length: 3000 }, () => put('3')));
  expect(client.order).toEqual(Array.from({ length: 3007 }, (_, i) => i + 1));
  await client.ask(['close']);
});

test.each<[string, Call[], Call]>([
  ['get', [['get', 'a', 'utf8', undefined]], ['put', 'a', 'new', false]],
  ['has', [['has', new Uint8Array([0x61]), undefined]], ['delete', 'a', false]],
  ['getMany', [['getMany', ['b', 'a'], 'utf8', undefined]], ['write', ['b', 'new', 'a', 'new'], false]],
  ['hasMany', [['hasMany', ['a'], undefined]], ['clear', ALL, undefined, Infinity]],
  ['two reads', [['get', 'a', 'utf8', undefined], ['has', 'a', undefined]], ['put', new Uint8Array([0x61]), 'new', false]],
])('a write begins when %s of its key is answered, so that a read that is repeated elsewhere does not show it', async (_, reads, write) => {
  const database = sharedIn(new WritableMemoryFolder());
  const states: unknown[] = [];
  let isRecorded = false;
  const client = new Client(database, (answers) => {
    if (isRecorded) states.push([answers.map(([id]) => id), database.store.getSync('a', 'utf8', undefined)]);
  });
  await client.ask(['open', {}], ['put', 'a', 'old', false]);
  isRecorded = true;
  const other: Call = ['put', 'c', 'other', false];
  await client.ask(other, ...reads, ['get', 'c', 'utf8', undefined], write, ['get', 'a', 'utf8', undefined]);
  const readIds = reads.map((_read, i) => i + 4);
  const before = states.filter((state) => (state as [number[]])[0].some((id) => readIds.includes(id)));
  expect(before.length).toBeGreaterThan(0);
  for (const [, value] of before as [unknown, unknown][]) expect(value).toBe('old');
  isRecorded = false;
  expect(await client.ask(['get', 'a', 'utf8', undefined])).not.toEqual(['old']);
  await client.ask(['close']);
});

test('a key that is neither text nor bytes is refused, and harms no other request', async () => {
  const client = new Client(sharedIn(new WritableMemoryFolder()));
  await client.ask(['open', {}]);
  const [got, has, many, , put, written] = await client.ask(['get', 5, 'utf8', undefined], ['has', undefined, undefined], ['getMany', [{}], 'utf8', undefined], ['get', 'a', 'utf8', undefined], ['put', null, 'x', false], ['put', 'a', 'x', false]);
  expect([got, has, many, put, written]).toEqual([undefined, undefined, undefined, undefined, undefined]);
  expect(client.order).toHaveLength(7);
  expect(await client.ask(['get', 'a', 'utf8', undefined])).toEqual(['x']);
  await client.ask(['close']);
});

test('a write that waits for the answer of a read is made for a synchronous read, and is not made once the session has ended', async () => {
  const database = sharedIn(new WritableMemoryFolder());
  const client = new Client(database);
  await client.ask(['open', {}], ['put', 'a', '1', false]);
  client.session.handle([[100, 'get', 'a', 'utf8', undefined], [101, 'put', 'a', '2', false]]);
  expect(client.session.getNow('a', 'utf8', undefined)).toBe('2');
  const other = new Client(database);
  await other.ask(['open', {}]);
  client.session.handle([[102, 'get', 'a', 'utf8', undefined], [103, 'put', 'a', '3', false]]);
  await client.session.end();
  expect(await other.ask(['get', 'a', 'utf8', undefined])).toEqual(['2']);
  await other.ask(['close']);
});

test('calls wait while the database is opened again after a failed write, and fail with the reason if it cannot be opened until it can', async () => {
  let isFailing = false;
  let isFull = false;
  let onLock = (): void => undefined;
  class FailingFolder extends SlowFolder {
    override create(name: string): WritableFile {
      if (isFailing) throw new Error('full');
      return super.create(name);
    }

    override lock(): ReturnType<WritableMemoryFolder['lock']> {
      onLock();
      return super.lock();
    }

    override open(name: string): ReturnType<WritableMemoryFolder['open']> {
      if (isFull) throw new Error('cannot be read');
      return super.open(name);
    }
  }
  const folder = new FailingFolder();
  const database = new SharedDatabase({ path: 'words', folder: () => folder, canReopen: () => Promise.resolve(true) }, webFormats, {});
  const [client, other] = [new Client(database), new Client(database)];
  await client.ask(['open', {}], ['put', 'a', '1', false]);
  isFailing = true;
  await client.ask(['compactRange', new Uint8Array(), new Uint8Array([255])]);
  isFailing = false;
  const get: Call = ['get', 'a', 'utf8', undefined];
  const put: Call = ['put', 'a', '2', false];
  await client.ask(put, ['snapshot', 1]);
  const meanwhile: Promise<unknown[]>[] = [];
  onLock = () => meanwhile.push(client.ask(get, put, get, ['get', 'a', 'utf8', 1]));
  await other.ask(['open', {}]);
  expect(await Promise.all(meanwhile)).toEqual([['1', undefined, '2', 'LEVEL_SNAPSHOT_LOST']]);
  onLock = () => undefined;
  isFailing = true;
  await client.ask(['compactRange', new Uint8Array(), new Uint8Array([255])], put);
  isFailing = false;
  isFull = true;
  await other.ask(['close']);
  await other.ask(['open', {}]);
  expect(await client.ask(get)).toEqual(['LEVEL_DATABASE_NOT_OPEN']);
  isFull = false;
  await other.ask(['open', {}]);
  expect(await client.ask(get, put, get)).toEqual(['2', undefined, '2']);
  await client.ask(['close']);
  await other.ask(['close']);
});
