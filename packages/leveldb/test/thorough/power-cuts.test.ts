import process from 'node:process';
import { seeded } from '@bloom/fixtures';
import { rejection } from '@bloom/fixtures/caught';
import { Database, type DatabaseOptions, WriteBatch } from '@bloom/leveldb';
import { afterAll, describe, expect, test } from 'vitest';
import { collect } from '../collect.js';
import { PowerCutFolder, type Remains } from '../power-cut-folder.js';

// tooling/long-tests has a run of more than 50,000 cuts.
const scripts = Number(process.env.BLOOM_POWER_CUT_SCRIPTS ?? 1);
const seeds = Array.from({ length: scripts }, (_, i) => i + 1);
/** The number of writes per script, and the number of failing operations. */
const [steps, failures] = scripts === 1 ? [30, 12] : [120, 40 * scripts];
const options: DatabaseOptions = { writeBufferSize: 65_536, maxFileSize: 2 ** 20, filterPolicy: null, compression: 'none', cache: null, lock: 'none' };

let cutCount = 0;
afterAll(() => {
  if (scripts > 1) process.stderr.write(`${cutCount} cuts, and as many in recoveries\n`);
});

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');
type State = ReadonlyMap<string, string>;

/** Writes batches that each store their number, so that a state tells how many batches it has. */
class CountingWriter {
  /** The state after each number of batches. */
  states: State[] = [new Map()];
  /** The numbers of batches that were begun, acknowledged, and acknowledged with sync. */
  begun = 0;
  acknowledged = 0;
  synced = 0;
  clears = 0;
  readonly #random: ReturnType<typeof seeded>;

  constructor(seed: number) {
    this.#random = seeded(seed);
  }

  /** Writes the next batch. */
  async write(database: Database): Promise<void> {
    const random = this.#random;
    const number = ++this.begun;
    const batch = new WriteBatch().put(utf8('count'), utf8(String(number)));
    const state = new Map(this.states.at(-1)).set('count', String(number));
    for (let i = random.below(6); i >= 0; i--) {
      const key = `key${random.below(60)}`;
      if (random.below(4) === 0) {
        batch.delete(utf8(key));
        state.delete(key);
      } else {
        const value = random.bytes(random.below(10) === 0 ? random.below(20_000) : random.below(1500));
        batch.put(utf8(key), value);
        state.set(key, text(value));
      }
    }
    this.states.push(state);
    const sync = random.below(6) === 0;
    await database.write(batch, { sync });
    this.acknowledged = number;
    if (sync) this.synced = number;
  }

  /** Clears the database, which counts as a batch: by turns as one with sync and as one without. */
  async clear(database: Database): Promise<void> {
    const number = ++this.begun;
    this.states.push(new Map());
    const isSynced = ++this.clears % 2 === 0;
    await database.clear(isSynced ? {} : { sync: false });
    this.acknowledged = number;
    if (isSynced) this.synced = number;
  }

  /** Continues after the process was killed, with what the next one found. Batches that were not acknowledged may be lost. */
  resume(count: number): void {
    expect(count).toBeGreaterThanOrEqual(this.acknowledged);
    this.states = this.states.slice(0, count + 1);
    this.begun = this.acknowledged = count;
  }
}

function reuse(random: ReturnType<typeof seeded>): DatabaseOptions['reuseLogs'] {
  return ([false, true, 'empty'] as const)[random.below(3)];
}

/** Any options that the same database can be opened with. */
function someOptions(random: ReturnType<typeof seeded>): DatabaseOptions {
  const flip = (): boolean => random.below(2) === 0;
  return {
    ...options,
    writeBufferSize: flip() ? 65_536 : 200_000,
    reuseLogs: reuse(random),
    damage: flip() ? 'strict' : 'skip',
    compression: flip() ? 'none' : 'snappy',
    filterPolicy: flip() ? null : undefined,
    filterRange: flip() ? 2048 : 2 ** 20,
    blockSize: flip() ? 4096 : 1024,
    createIfMissing: random.below(4) > 0,
    maxOpenFiles: flip() ? 74 : 1000,
  };
}

async function stateOf(database: Database): Promise<State> {
  return new Map((await collect(database.entries())).map(([key, value]) => [text(key), text(value)]));
}

/** The number of batches in the state, the highest that can be. Fails unless it is exactly the state after that many batches. */
function countOf(state: State, { states, begun }: Pick<CountingWriter, 'states' | 'begun'>): number {
  const stored = state.get('count');
  const count = stored === undefined ? states.slice(0, begun + 1).map(({ size }) => size).lastIndexOf(0) : Number(stored);
  expect(count).toBeLessThan(states.length);
  // `expect` compares long maps slowly, so it is only used on a difference.
  const expected = states[count]!;
  const isSame = state.size === expected.size && [...state].every(([key, value]) => expected.get(key) === value);
  if (!isSame) expect([...state.keys()].sort()).toEqual([...expected.keys()].sort());
  expect(isSame, `the state is not that of the first ${count} batches`).toBe(true);
  return count;
}

interface Cut {
  readonly remains: Remains;
  readonly synced: number;
  readonly begun: number;
  readonly operation: string;
}

describe.each(seeds)('the script of seed %i', (seed) => {
  test('recovers a prefix with all synced writes when the power is cut before any operation, even during a recovery', async () => {
    const random = seeded(seed);
    const folder = new PowerCutFolder();
    const writer = new CountingWriter(seed);
    const cuts: Cut[] = [];
    folder.onOperation = (_, operation) => cuts.push({ remains: folder.remains(), synced: writer.synced, begun: writer.begun, operation });
    let database = await Database.open(folder, { ...options, reuseLogs: reuse(random) });
    for (let i = 0; i < steps; i++) {
      if (random.below(4) > 0) await writer.write(database);
      else await Promise.all([writer.write(database), writer.write(database), writer.write(database)]);
      if (random.below(40) === 0) await database.compactRange();
      if (random.below(25) === 0) await Promise.all([writer.write(database), writer.clear(database), writer.write(database)]);
      if (random.below(40) === 0) {
        await database.close();
        database = await Database.open(folder, { ...options, reuseLogs: reuse(random) });
      }
    }
    await database.close();
    expect(cuts.length).toBeGreaterThan(steps);
    cutCount += cuts.length;

    for (const { remains, synced, begun, operation } of cuts) {
      const left = remains.folder(random);
      const again = new PowerCutFolder(left.files());
      const further: Remains[] = [];
      again.onOperation = () => further.push(again.remains());
      const reopened = await Database.open(again, { ...options, reuseLogs: reuse(random) }).catch((error: unknown) => {
        throw new Error(`cut before ${operation}, with ${left.list().join(' ')}`, { cause: error });
      });
      const count = countOf(await stateOf(reopened), { states: writer.states, begun });
      expect(count, operation).toBeGreaterThanOrEqual(synced);
      expect(count, operation).toBeLessThanOrEqual(begun);
      await reopened.put(utf8('after'), utf8('the cut'), { sync: true });
      await reopened.close();

      const whole = await Database.open(new PowerCutFolder(again.files()), options);
      expect(text((await whole.get(utf8('after')))!)).toBe('the cut');
      await whole.close();

      // The power is cut again, somewhere in the recovery.
      const second = further[random.below(further.length)]!.folder(random);
      const last = await Database.open(second, { ...options, reuseLogs: reuse(random) });
      const state = new Map(await stateOf(last));
      state.delete('after');
      const recovered = countOf(state, { states: writer.states, begun: count });
      expect(recovered, operation).toBeGreaterThanOrEqual(synced);
      expect(recovered, operation).toBeLessThanOrEqual(count);
      await last.close();
    }
    // About 360 cuts with two recoveries each can take longer than the usual minute on a busy machine.
  });
});

describe.each(seeds)('the script of seed %i, with processes that are killed,', (seed) => {
  test('recovers a prefix with all synced writes when the power is cut before any operation, whatever options each process opened with', async () => {
    const random = seeded(10_000 + seed);
    let folder = new PowerCutFolder();
    const writer = new CountingWriter(seed);
    const cuts: (Cut & Pick<CountingWriter, 'states'>)[] = [];
    let successor: PowerCutFolder | undefined;
    const watch = (): void => {
      folder.onOperation = (_, operation) => {
        cuts.push({ remains: folder.remains(), synced: writer.synced, begun: writer.begun, states: writer.states, operation });
        if (random.below(12) === 0) folder.writeBack(random);
        // Kills come close together at times: in the middle of an opening, say.
        if (random.below(successor === undefined ? 60 : 25) > 0) return;
        successor = folder.kill();
        throw new Error('the process was killed');
      };
    };
    watch();
    let database: Database | undefined;
    for (let i = 0; i < steps * 2; i++) {
      try {
        if (database === undefined) {
          database = await Database.open(folder, { ...someOptions(random), createIfMissing: true });
          writer.resume(countOf(await stateOf(database), writer));
        }
        if (random.below(4) > 0) await writer.write(database);
        else await Promise.all([writer.write(database), writer.write(database), writer.write(database)]);
        if (random.below(20) === 0) await database.compactRange();
        if (random.below(25) === 0) await Promise.all([writer.write(database), writer.clear(database), writer.write(database)]);
        if (random.below(20) === 0) {
          await database.close();
          database = undefined;
        }
      } catch (error) {
        if (successor === undefined) throw error;
      }
      if (successor === undefined) continue;
      await database?.close().catch(() => undefined);
      database = undefined;
      folder = successor;
      successor = undefined;
      watch();
    }
    folder.onOperation = () => undefined;
    await database?.close();
    expect(cuts.length).toBeGreaterThan(steps);
    cutCount += cuts.length;

    for (const cut of cuts) {
      const left = cut.remains.folder(random);
      let reopened: Database;
      try {
        reopened = await Database.open(left, { ...someOptions(random), createIfMissing: cut.synced === 0 });
      } catch (error) {
        throw new Error(`cut before ${cut.operation}, with ${left.list().join(' ')}`, { cause: error });
      }
      const count = countOf(await stateOf(reopened), cut);
      expect(count, cut.operation).toBeGreaterThanOrEqual(cut.synced);
      await reopened.close();
    }
  });
});

test.each([true, 'empty', false] as const)('the logs of a new database keep their order when the power is cut, with reuseLogs: %j', async (reuseLogs) => {
  const random = seeded(1);
  const folder = new PowerCutFolder();
  const cuts: { readonly remains: Remains; readonly operation: string }[] = [];
  const database = await Database.open(folder, { ...options, reuseLogs });
  folder.onOperation = (_, operation) => cuts.push({ remains: folder.remains(), operation });
  // The third write goes to another log.
  for (const key of ['a', 'b', 'c', 'd']) await database.put(key, new Uint8Array(40_000));
  await database.close();
  expect(cuts.filter(({ operation }) => /^append .*log$/.test(operation))).toHaveLength(4);
  for (const { remains, operation } of cuts) {
    for (let i = 0; i < 20; i++) {
      const left = await Database.open(remains.folder(random), options);
      expect(['', 'a', 'ab', 'abc', 'abcd'], operation).toContain((await collect(left.keys())).map(text).join(''));
      await left.close();
    }
  }
});

test('a new database whose process was killed before it synced CURRENT opens after a power cut in the next opening', async () => {
  const random = seeded(1);
  const folder = new PowerCutFolder();
  let successor: PowerCutFolder | undefined;
  folder.onOperation = (_, operation) => {
    if (operation !== 'syncFolder' || !folder.list().includes('CURRENT')) return;
    successor ??= folder.kill();
    throw new Error('the process was killed');
  };
  await rejection(Database.open(folder, options));
  const cuts: Remains[] = [];
  successor!.onOperation = () => cuts.push(successor!.remains());
  const database = await Database.open(successor!, options);
  await database.put('a', '1');
  await database.close();
  for (const remains of cuts) {
    for (let i = 0; i < 20; i++) await (await Database.open(remains.folder(random), options)).close();
  }
});

test('a failed operation ends writing, loses no acknowledged write, and does not affect reads', async () => {
  const random = seeded(7);
  // The number of operations if none fails.
  const total = await run(-1);
  for (let i = 0; i < failures; i++) await run(4 + random.below(total - 4));

  async function run(failing: number): Promise<number> {
    const folder = new PowerCutFolder();
    const writer = new CountingWriter(3);
    let failed: string | undefined;
    folder.onOperation = (number, operation) => {
      if (number !== failing) return;
      failed = operation;
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    };
    let database: Database;
    try {
      database = await Database.open(folder, options);
    } catch (error) {
      expect(failed).toBeDefined();
      expect(error).toMatchObject({ code: 'ENOSPC' });
      database = await Database.open(folder, options);
    }
    let isEnded = false;
    for (let i = 0; i < 60; i++) {
      const { begun } = writer;
      try {
        if (i % 15 === 12) await writer.clear(database);
        else await writer.write(database);
        expect(isEnded, `a write succeeded after ${failed}`).toBe(false);
      } catch (error) {
        expect(error).toMatchObject({ code: 'BLOOM_WRITING_ENDED', cause: { code: 'ENOSPC' } });
        isEnded = true;
      }
      expect(writer.begun).toBe(begun + 1);
      if (i % 20 === 10) await database.compactRange().catch((error: unknown) => expect(error).toMatchObject({ code: 'BLOOM_WRITING_ENDED' }));
    }
    if (isEnded) expect(countOf(await stateOf(database), { states: writer.states, begun: writer.acknowledged })).toBe(writer.acknowledged);
    await database.close();
    const { operations } = folder;
    folder.onOperation = () => undefined;
    // The write that failed may or may not be there, but no later one.
    const reopened = await Database.open(folder, options);
    const count = countOf(await stateOf(reopened), { states: writer.states, begun: writer.acknowledged + 1 });
    expect(count, failed).toBeGreaterThanOrEqual(writer.acknowledged);
    expect(count, failed).toBeLessThanOrEqual(writer.acknowledged + 1);
    await reopened.close();
    return operations;
  }
}, 60_000 * scripts);
