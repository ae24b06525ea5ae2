// A program that uses the built package: table-thread-program.mjs TASK FOLDER. Prints its findings as JSON.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { codec, comparator, filterPolicy } from './thread-plugins.mjs';

const [task = '', path = ''] = process.argv.slice(2);
/** @type {typeof import('@bloom/leveldb')} */
const { Database, WriteBatch, bytewiseComparator } = task === 'require' ? createRequire(import.meta.url)('@bloom/leveldb') : await import('@bloom/leveldb');
/** @type {typeof import('@bloom/leveldb/node')} */
const { BackgroundThread, WritableNodeFolder } = task === 'require' ? createRequire(import.meta.url)('@bloom/leveldb/node') : await import('@bloom/leveldb/node');

const ENTRIES = 30_000;
const ROUND = 10_000;

/** @param {number} i */
function keyOf(i) {
  return new TextEncoder().encode(String((i * 7_919) % ENTRIES).padStart(8, '0'));
}

/** @param {number} i @param {number} round */
function valueOf(i, round) {
  return new Uint8Array(100).fill((i * 31 + round) % 251);
}

/** @type {import('node:worker_threads').Worker[]} */
const workers = [];
process.on('worker', (worker) => workers.push(worker));

/** The requests to the thread, and whether they succeeded. */
const jobs = { done: 0, failed: 0, givenBack: 0 };

class CountingFolder extends WritableNodeFolder {
  /** @override @param {import('@bloom/leveldb/internal').TableThreadSettings} settings */
  startTableThread(settings) {
    const thread = super.startTableThread(settings);
    if (thread === undefined) return undefined;
    /** @template T @param {Promise<T>} job @returns {Promise<T>} */
    const counted = async (job) => {
      try {
        const result = await job;
        jobs.done++;
        return result;
      } catch (error) {
        jobs.failed++;
        throw error;
      }
    };
    return {
      get hasEnded() {
        return thread.hasEnded;
      },
      /** @param {import('@bloom/leveldb/internal').CompactionRequest} request */
      compact: (request) => {
        const compacting = counted(thread.compact(request));
        if (task === 'dies') setTimeout(() => void workers[0]?.terminate(), 2);
        return compacting;
      },
      /** @param {import('@bloom/leveldb/internal').MemtableArrays} memtable @param {bigint} number @param {number | undefined} bitsPerKey */
      flush: (memtable, number, bitsPerKey) => counted(thread.flush(memtable, number, bitsPerKey)),
      takeSpare: () => {
        const spare = thread.takeSpare?.();
        if (spare !== undefined && spare.arena.length > 0) jobs.givenBack++;
        return spare;
      },
      close: () => thread.close(),
    };
  }
}

/** @param {import('@bloom/leveldb').DatabaseOptions} [options] @param {boolean | import('@bloom/leveldb/node').BackgroundThread} [thread] */
function open(options, thread = true, name = path) {
  return Database.open(new CountingFolder(name, { thread }), { lock: 'none', compression: 'none', ...options });
}

/** @param {Awaited<ReturnType<typeof open>>} database @param {number} round */
async function writeRound(database, round) {
  for (let i = 0; i < ROUND; i += 1000) {
    const batch = new WriteBatch();
    for (let j = i; j < i + 1000; j++) batch.put(keyOf(round * (ROUND / 2) + j), valueOf(j, round));
    await database.write(batch);
  }
}

/** @param {Awaited<ReturnType<typeof open>>} database */
async function write(database) {
  for (let round = 0; round < 5; round++) {
    await writeRound(database, round);
    await database.flush();
    await database.idle();
  }
  await database.compactRange();
}

function digest(folder = path) {
  const names = readdirSync(folder).filter((name) => name !== 'LOCK').sort();
  return names.map((name) => `${name} ${createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')}`);
}

/** @param {Awaited<ReturnType<typeof open>>} database */
async function entries(database) {
  const hash = createHash('sha256');
  for await (const [key, value] of database.entries()) hash.update(key).update(value);
  return hash.digest('hex');
}

/** @param {string[]} missing */
function pluginThread(...missing) {
  return new BackgroundThread({ plugins: { module: new URL('./thread-plugins.mjs', import.meta.url).href, data: missing } });
}

/** @param {import('@bloom/leveldb').DatabaseOptions} options @param {import('@bloom/leveldb/node').BackgroundThread | false} thread */
async function withPlugins(options, thread) {
  const database = await open(options, thread);
  await write(database);
  await database.close();
  if (thread !== false) await thread.close();
  return { files: digest() };
}

/** @type {Record<string, () => Promise<unknown>>} */
const tasks = {
  async thread() {
    const database = await open();
    await write(database);
    await database.close();
    return { files: digest() };
  },
  noThread: () => tasks['thread']?.() ?? Promise.resolve(),
  async slices() {
    const database = await open({}, false);
    await write(database);
    await database.close();
    return { files: digest() };
  },
  async levelsOnThread() {
    const database = await open({ bitsPerKey: 'auto' });
    await write(database);
    await database.close();
    return { files: digest() };
  },
  async levelsInSlices() {
    const database = await open({ bitsPerKey: 'auto' }, false);
    await write(database);
    await database.close();
    return { files: digest() };
  },
  // Does not close the database, because an idle thread must not keep the process alive.
  async open() {
    const database = await open();
    await write(database);
    return { entries: await entries(database) };
  },
  async dies() {
    const database = await open();
    await write(database);
    const found = await entries(database);
    await writeRound(database, 5);
    await database.close();
    return { entries: found };
  },
  async closes() {
    const database = await open();
    for (let round = 0; round < 5; round++) await writeRound(database, round);
    await database.flush();
    const compacting = database.compactRange().then(
      () => 'done',
      (/** @type {Error} */ error) => error.message,
    );
    while (workers.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    await database.close();
    const again = await open({}, false);
    const found = await entries(again);
    await again.close();
    return { entries: found, compacting: await compacting };
  },
  // Three concurrent databases, and another one after them.
  async shared() {
    const thread = new BackgroundThread();
    const folders = [1, 2, 3].map((i) => `${path}-${i}`);
    const writeAll = async (/** @type {string} */ folder) => {
      const database = await open({}, thread, folder);
      await write(database);
      await database.close();
    };
    await Promise.all(folders.map(writeAll));
    await writeAll(path);
    await thread.close();
    return { files: digest(), others: folders.map((folder) => digest(folder)) };
  },
  // A thread dies, and its successor is closed, while a database is in use.
  async sharedEnds() {
    const thread = new BackgroundThread();
    const database = await open({}, thread);
    await writeRound(database, 0);
    await database.flush();
    if (workers.length !== 1) throw new Error('the thread was not used');
    await workers[0]?.terminate();
    const other = await open({}, thread, `${path}-other`);
    await writeRound(other, 0);
    await other.flush();
    await other.close();
    await thread.close();
    for (let round = 1; round < 5; round++) {
      await writeRound(database, round);
      await database.flush();
      await database.idle();
    }
    await database.compactRange();
    const found = await entries(database);
    await database.close();
    return { entries: found };
  },
  // Of two databases, one is closed while the entries of its memtable are packed for the thread.
  async sharedCloses() {
    const thread = new BackgroundThread();
    const options = { writeBufferSize: 2 ** 26 };
    const other = await open(options, thread, `${path}-other`);
    await writeRound(other, 0);
    await other.flush();
    const database = await open(options, thread);
    for (let round = 0; round < 20; round++) await writeRound(database, round);
    const flushing = database.flush().catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 5));
    await database.close();
    await flushing;
    await writeRound(other, 1);
    const { done } = jobs;
    await other.flush();
    await other.close();
    const ended = workers.filter((worker) => worker.threadId < 0).length;
    await thread.close();
    const again = await open({}, false);
    const found = await entries(again);
    await again.close();
    const expected = await open({}, false, `${path}-expected`);
    for (let round = 0; round < 20; round++) await writeRound(expected, round);
    const compacting = `${ended} ended, ${jobs.done - done} more done, ${found === (await entries(expected)) ? 'nothing' : 'something'} lost`;
    await expected.close();
    return { compacting };
  },
  async comparator() {
    const database = await open({ comparator: { ...bytewiseComparator, compare: (a, b) => bytewiseComparator.compare(a, b) } });
    await write(database);
    await database.close();
    return {};
  },
  async plugins() {
    return withPlugins({ comparator, filterPolicy, compression: codec, codecs: [codec] }, pluginThread());
  },
  async pluginsInSlices() {
    return withPlugins({ comparator, filterPolicy, compression: codec, codecs: [codec] }, false);
  },
  async pluginsWithoutModule() {
    return withPlugins({ comparator, filterPolicy, compression: codec, codecs: [codec] }, new BackgroundThread());
  },
  async pluginMissing() {
    return withPlugins({ comparator, filterPolicy, compression: codec, codecs: [codec] }, pluginThread('filterPolicy'));
  },
  async require() {
    return tasks['thread']?.();
  },
};

const found = await tasks[task]?.();
process.stdout.write(JSON.stringify({ ...Object(found), workers: workers.length, jobs }));
