// Random walks over the visible entries of random tables and memtables, in a kernel and entry by entry.
import { seeded } from '@bloom/fixtures';
import { BlockCache, bytewiseComparator } from '@bloom/sstable';
import { decodeInternalKey } from '@bloom/sstable/database';
import { compareInternalBytes } from '@bloom/sstable/internal';
import { expect } from 'vitest';
import { MergeCursor } from '../src/cursor/merge-cursor.js';
import type { ReadSampler } from '../src/cursor/read-samples.js';
import { VisibleCursor } from '../src/cursor/visible-cursor.js';
import { PackedWalk } from '../src/cursor/packed-walk.js';
import { providePackedWalk } from '../src/cursor/load-packed-walk.js';
import { VisibleKernel } from '../src/cursor/visible-kernel.js';
import { DamagePolicy } from '../src/folder/damage.js';
import { runAsync, runSync } from '../src/folder/folder-reading.js';
import { MemoryFolder } from '../src/folder/memory-folder.js';
import { keyOrderOf } from '../src/format/database-key.js';
import type { FileMetadata } from '../src/format/version-edit.js';
import { firstAtOrAfter } from '../src/format/version.js';
import { Memtable } from '../src/memtable/memtable.js';
import { MemtableCursor } from '../src/memtable/memtable-cursor.js';
import { TableCache, ViewTables } from '../src/table/table-cache.js';
import { LevelEntries } from '../src/table/table-cursor.js';
import { settingsOf } from '../src/write/database-options.js';
import { CopyingFolder } from './copying-folder.js';
import { damaged, damagedEntry, deflateCodec, type Job, randomEntries, randomJob, type Random, type Stored } from './merge-job.js';

providePackedWalk(PackedWalk);

/** A database: the tables of a job, and memtables. */
interface Contents {
  readonly job: Job;
  readonly memtables: readonly Memtable[];
  /** What is added to the first memtable during the walk, and not visible. */
  readonly added: readonly Stored[];
  readonly maxBlockBytes: number | undefined;
}

/** Longer keys than the kernel takes. */
const LONGEST_KEY = 2 ** 16 + 10;

const UNSEEN = 2n ** 41n;

function addTo(memtable: Memtable, [key, value]: Stored, after = 0n): void {
  const { userKey, sequence, type } = decodeInternalKey(key)!;
  const bytes = new Uint8Array([...userKey, ...value]);
  memtable.add(sequence + after, type, bytes, 0, userKey.length, userKey.length, bytes.length);
}

/** Damages the tables of a job. */
type Damage = (random: Random, job: Job) => Job;

export const anyDamage: Damage = (random, job) => random.pick([damaged, damagedEntry])(random, job);

function randomContents(random: Random, damage?: Damage, maxBlockBytes?: number): Contents {
  // A damage that looks for entries needs blocks that are not compressed. A limit is for tables in which few blocks exceed it.
  const compression = damage === undefined || damage === damaged ? random.pick(['none', 'snappy', 'snappy', deflateCodec] as const) : 'none';
  const job = maxBlockBytes === undefined ? randomJob(random, { compression }, random.pick([undefined, LONGEST_KEY])) : randomJob(random, { compression }, 0);
  const memtables = Array.from({ length: random.below(3) }, () => {
    const memtable = new Memtable(compareInternalBytes);
    for (const entry of random.shuffle(randomEntries(random, 1 + random.below(400), 3, LONGEST_KEY))) {
      addTo(memtable, entry);
      // A copy, as the replay of a log with a record twice makes one.
      if (random.below(20) === 0) addTo(memtable, entry);
    }
    return memtable;
  });
  return { job: damage?.(random, job) ?? job, memtables, added: randomEntries(random, 300, 2), maxBlockBytes };
}

/** What a walk comes to: each entry, and each error. */
async function walked({ job, memtables, added, maxBlockBytes }: Contents, seed: number, counts: Counts): Promise<string[]> {
  const random = seeded(seed);
  const isAsync = random.below(2) === 0;
  const isStrict = random.below(4) > 0;
  const folder = random.pick([new MemoryFolder(job.files), new CopyingFolder(job.files), new CopyingFolder(job.files)]);
  const blockCache = random.pick([null, new BlockCache(5000), new BlockCache(2 ** 20)]);
  const order = keyOrderOf(bytewiseComparator);
  const cache = new TableCache(100, {}, settingsOf({ ...job.options, maxBlockBytes }).opening, blockCache);
  const tables = new ViewTables(cache, [], []);
  const damage = new DamagePolicy(isStrict);
  const readsAtOnce = !isAsync && random.below(2) === 0;
  const entriesOf = (files: readonly FileMetadata[]): LevelEntries => new LevelEntries(files, (key) => firstAtOrAfter(files, key, order), tables, damage, readsAtOnce, random.below(2) === 0);
  const [upper, lower] = job.plan.inputs;
  const sources = [...memtables.map((memtable) => new MemtableCursor(memtable)), ...(job.plan.level === 0 ? upper.map((file) => entriesOf([file])) : [entriesOf(upper)]), entriesOf(lower)];
  // Samples are taken when a run is filled, which may be before its entries are reached.
  const ownRandom = seeded(seed);
  const sampler: ReadSampler = { period: () => 1 + ownRandom.below(3000), take: () => (counts.samples += 1) };
  const cursor = new VisibleCursor(new MergeCursor(sources, order.compareInternalKeys), order, random.pick([100n, 3000n, 2n ** 40n]), damage, random.below(3) === 0 ? sampler : undefined);
  const seen: string[] = [];
  const move = async (way: string, moved: () => boolean): Promise<void> => {
    try {
      if (!moved()) {
        const settling = cursor.settle();
        if (isAsync) await runAsync(folder, settling);
        else runSync(folder, settling);
      }
      seen.push(`${way}: ${cursor.valid ? `${String(cursor.key)} ${String(cursor.valueBytes.subarray(cursor.valueStart, cursor.valueEnd))}` : 'none'}`);
    } catch (error) {
      counts.failures++;
      expect(cursor.valid).toBe(false);
      seen.push(`${way}: ${String((error as { code?: string }).code)} ${String(error)}`);
    }
  };
  let next = 0;
  try {
    for (let walks = 0; walks < 12; walks++) {
      const key = random.pick(sources.length > 0 && random.below(2) === 0 ? added : [...added].slice(0, 3))[0].subarray(0, -8);
      await random.pick([
        () => move('first', () => cursor.seekToFirst()),
        () => move('last', () => cursor.seekToLast()),
        () => move('seek', () => cursor.seek(key, 'at-or-after')),
        () => move('seek back', () => cursor.seek(key, 'at-or-before')),
      ])();
      for (let legs = random.below(5); legs >= 0; legs--) {
        const goesBack = random.below(2) === 0;
        for (let steps = random.pick([1, 5, 20, 100, 1000]); steps > 0 && cursor.valid; steps--) {
          await (goesBack ? move('prev', () => cursor.prev()) : move('next', () => cursor.next()));
          if (random.below(20) === 0 && memtables.length > 0 && next < added.length) addTo(memtables[0]!, added[next++]!, UNSEEN);
        }
      }
    }
  } finally {
    cursor.close();
    await cache.close();
  }
  return [...seen, ...damage.dropped.map((dropped) => JSON.stringify(dropped)).sort()];
}

interface Counts {
  failures: number;
  samples: number;
}

/**
 * Compares walks in a kernel and entry by entry.
 *
 * @param maxBlockBytes a limit that some blocks exceed.
 * @returns how many moves there were, how many of them failed, and how many samples were taken.
 */
export async function compareWalks(from: number, seeds: number, damage?: Damage, maxBlockBytes?: number): Promise<Counts & { readonly moves: number }> {
  const counts = { failures: 0, samples: 0 };
  let moves = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const contents = (): Contents => randomContents(seeded(seed), damage, maxBlockBytes);
    const inKernel = await walked(contents(), seed, counts);
    const byEntries = await withoutKernel(() => walked(contents(), seed, { failures: 0, samples: 0 }));
    const i = inKernel.findIndex((move, at) => move !== byEntries[at]);
    expect(inKernel.slice(i < 0 ? inKernel.length : i, i + 3), `seed ${seed}, move ${i}`).toEqual(byEntries.slice(i < 0 ? inKernel.length : i, i + 3));
    moves += inKernel.length;
  }
  return { ...counts, moves };
}

/** Does work for which there is no kernel, as others have all of them. */
export async function withoutKernel<T>(work: () => Promise<T>): Promise<T> {
  const owner = {};
  const taken: VisibleKernel[] = [];
  for (let kernel = VisibleKernel.take(owner); kernel !== undefined; kernel = VisibleKernel.take(owner)) taken.push(kernel);
  expect(taken.length).toBeGreaterThan(1);
  try {
    return await work();
  } finally {
    expect(VisibleKernel.take(owner)).toBeUndefined();
    for (const kernel of taken) kernel.giveBack();
  }
}
