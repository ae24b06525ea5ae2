import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { entriesSha256, type KeyValue, type Random, seeded } from '@bloom/fixtures';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { verifyDatabase } from '@bloom/leveldb/inspect';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { type Operation, type Peer, type PeerProcess, peers } from '@bloom/peers';
import { afterAll, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from '../collect.js';

// Another program and Database take turns on one folder, each reading what the other wrote and writing more.
// tooling/long-tests has a run of 100 databases.
const seeds = Array.from({ length: Number(process.env.BLOOM_PEER_TURNS ?? 1) }, (_, i) => i);
const ROUNDS = 6;
const root = mkdtempSync(join(tmpdir(), 'bloom-peer-turns-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The entries that there must be, by their keys in hex. */
type Model = Map<string, KeyValue>;

/** Random writes, which are made in the model too. */
function randomOperations(random: Random, model: Model, { emptyKeys }: Peer['traits']): Operation[] {
  return Array.from({ length: 1 + random.below(random.below(3) === 0 ? 600 : 60) }, (): Operation => {
    const key = new TextEncoder().encode(emptyKeys && random.below(50) === 0 ? '' : `key${random.below(400)}`);
    const hex = Buffer.from(key).toString('hex');
    if (random.below(4) === 0) {
      model.delete(hex);
      return [key, undefined];
    }
    // Values that cross blocks of tables and of logs, and some that fill a memtable alone.
    const value = random.bytes(random.below(random.below(40) === 0 ? 90_000 : 600));
    model.set(hex, [key, value]);
    return [key, value];
  });
}

function sorted(model: Model): KeyValue[] {
  return [...model.values()].sort(([a], [b]) => Buffer.compare(a, b));
}

/** Starts the peer again after it was killed. */
class Started {
  #process: PeerProcess | undefined;
  readonly #peer: Peer;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  async process(): Promise<PeerProcess> {
    return (this.#process ??= await this.#peer.start());
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
    this.#process = undefined;
  }
}

/** Writes and closes with an empty log: what goleveldb skips of logs is in the last test. */
async function writeOurs(folder: string, operations: readonly Operation[], random: Random, { tables }: Peer['traits']): Promise<void> {
  const database = await Database.open(new WritableNodeFolder(folder), { writeBufferSize: 65_536, maxFileSize: 2 ** 20 });
  for (const [key, value] of operations) await (value === undefined ? database.delete(key) : database.put(key, value));
  if (random.below(4) === 0) await database.compactRange();
  await database.flush();
  await database.close();
  if (tables === '.sst') renameTables(folder);
}

/** For programs that know tables only by their old name. */
function renameTables(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.ldb')) renameSync(join(folder, name), join(folder, name.replace('.ldb', '.sst')));
  }
}

async function writeTheirs(started: Started, { traits }: Peer, folder: string, operations: readonly Operation[], random: Random): Promise<void> {
  const running = await started.process();
  await running.open(folder);
  await running.apply(operations);
  const isKilled = random.below(3) === 0;
  if (traits.flushes && ((isKilled && traits.keeps === 'what is flushed') || random.below(3) === 0)) await running.flush();
  if (traits.compacts && random.below(4) === 0) await running.compact();
  await (isKilled ? started.kill() : running.close());
}

async function readTheirs(started: Started, folder: string): Promise<KeyValue[]> {
  const running = await started.process();
  await running.open(folder);
  const entries = await running.dump();
  await running.close();
  return entries;
}

async function readOurs(folder: string): Promise<KeyValue[]> {
  const reader = await DatabaseReader.open(new NodeFolder(folder));
  return collect(reader.entries()).finally(() => reader.close());
}

/** Repairs a folder whose MANIFEST counts four bytes too many for tables that the peer has compacted. */
async function repairLengths(folder: string): Promise<void> {
  const error = await rejection(readOurs(folder));
  if (error === undefined) return;
  expect(error).toMatchObject({ code: 'BLOOM_TRUNCATED' });
  await Database.repair(new WritableNodeFolder(folder));
  rmSync(join(folder, 'lost'), { recursive: true });
  renameTables(folder);
}

for (const peer of peers().filter(({ traits }) => traits.format === 'LevelDB')) {
  const reason = await peer.unavailableReason();
  if (reason !== undefined) {
    test.skip(`${peer.name} and Database do not take turns: ${reason}`, () => {});
    continue;
  }
  const started = new Started(peer);
  afterAll(() => started.kill());

  test.each(seeds)(`${peer.name} and Database take turns on database %i, and each reads what the other wrote`, async (seed) => {
    const random = seeded(seed);
    const folder = join(root, `${peer.name}-${seed}`);
    const model: Model = new Map();
    for (let round = 0; round < ROUNDS; round++) {
      const isOurs = (round + seed) % 2 === 0;
      const operations = randomOperations(random, model, peer.traits);
      if (peer.name.startsWith('iq80') && round > 0) await repairLengths(folder);
      await (isOurs ? writeOurs(folder, operations, random, peer.traits) : writeTheirs(started, peer, folder, operations, random));
      const expected = { entries: model.size, sha256: entriesSha256(sorted(model)) };
      const about = `round ${round}, ${isOurs ? 'Database' : peer.name} wrote`;
      if (peer.name.startsWith('iq80')) await repairLengths(folder);
      expect((await verifyDatabase(new NodeFolder(folder))).findings, about).toEqual([]);
      const ours = await readOurs(folder);
      expect({ entries: ours.length, sha256: entriesSha256(ours) }, `${about}, we read`).toEqual(expected);
      const theirs = await readTheirs(started, folder);
      expect({ entries: theirs.length, sha256: entriesSha256(theirs) }, `${about}, ${peer.name} reads`).toEqual(expected);
    }
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Entries that fill several memtables. */
const ENTRIES: readonly KeyValue[] = Array.from({ length: 1500 }, (_, i) => [new TextEncoder().encode(`key${String(i).padStart(6, '0')}`), new Uint8Array(300)]);

for (const peer of peers()) {
  const reason = await peer.unavailableReason();
  const isSkipped = reason !== undefined;
  const { filter, format, tables } = peer.traits;
  if (isSkipped && format !== 'LevelDB') test.skip(`${peer.name} opens no folder of Database: ${reason}`, () => {});
  if (format === 'LevelDB') {
    test.skipIf(isSkipped)(`the filters of ${peer.name} ${filter === undefined ? 'are absent' : `are called ${filter}`}`, async () => {
      const folder = join(root, `filters of ${peer.name}`);
      await peer.with(async (running) => {
        await running.open(folder);
        await running.apply(ENTRIES);
        await running.close();
      });
      const reader = await DatabaseReader.open(new NodeFolder(folder), { filterPolicies: [], damage: 'skip' });
      const { filterStatus } = reader;
      await reader.close();
      if (filter === undefined) expect(filterStatus).toEqual({ state: 'absent' });
      else expect(filterStatus).toEqual({ state: 'unknown-policy', policyNames: [filter] });
    });
  } else {
    test.skipIf(isSkipped)(`${peer.name} takes over a folder of Database for good`, async () => {
      const folder = join(root, `taken by ${peer.name}`);
      await writeOurs(folder, ENTRIES, seeded(1), format === 'RocksDB' ? { ...peer.traits, tables: '.ldb' } : { ...peer.traits, tables });
      expect(await readOurs(folder)).toHaveLength(ENTRIES.length);
      expect(entriesSha256(await peer.with((running) => running.open(folder).then(() => running.dump())))).toBe(entriesSha256(ENTRIES));
      expect(await rejection(readOurs(folder))).toMatchObject({ code: expect.stringMatching(/^BLOOM_/) as string });
    });
  }
}

/** How many of the entries goleveldb reads that Database has written, closing it with or without a flush. */
async function shareRead(peer: Peer, folder: string, isFlushed: boolean): Promise<number> {
  const database = await Database.open(new WritableNodeFolder(folder), { writeBufferSize: 65_536 });
  const keys = Array.from({ length: 2800 }, (_, i) => new TextEncoder().encode(`key${String(i).padStart(6, '0')}`));
  for (const key of keys) await database.put(key, new Uint8Array(500));
  if (isFlushed) await database.flush();
  await database.close();
  const entries = await peer.with(async (running) => {
    await running.open(folder);
    return running.dump();
  });
  // What it has skipped is lost: it writes what it has read into a table.
  expect(await readOurs(folder)).toHaveLength(entries.length);
  rmSync(folder, { recursive: true });
  return entries.length / keys.length;
}

// The last sequence that LevelDB and Database write into the MANIFEST after a flush also counts writes that came meanwhile. These are in
// the next log, where goleveldb expects only later ones.
for (const peer of peers().filter(({ name }) => name.startsWith('goleveldb'))) {
  const isSkipped = (await peer.unavailableReason()) !== undefined;
  test.skipIf(isSkipped)(`${peer.name} reads every entry of a database that was flushed before it was closed, and without a flush not always those of the log`, async () => {
    const folder = join(root, peer.name);
    expect(await shareRead(peer, folder, true)).toBe(1);
    let least = 1;
    // Whether writes come while a memtable is flushed depends on the machine.
    for (let i = 0; i < 10 && least === 1; i++) least = await shareRead(peer, folder, false);
    expect(least).toBeLessThan(1);
  });
}
