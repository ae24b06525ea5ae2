import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { entriesSha256, type KeyValue, type Random, seeded } from '@bloom/fixtures';
import { CorruptionError, Database, DatabaseError, DatabaseReader, FolderError, UnsupportedError } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { type Operation, type Peer, type PeerProcess, peers } from '@bloom/peers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';
import { collect } from '../collect.js';

// Folders of other programs, sound and damaged, are repaired. tooling/long-tests has a run of 200 sound and 300 damaged ones of each.
const seeds = Array.from({ length: Number(process.env.BLOOM_PEER_REPAIRS ?? 2) }, (_, i) => i + 1);
const damagedFolders = Number(process.env.BLOOM_PEER_DAMAGES ?? 4);
const root = mkdtempSync(join(tmpdir(), 'bloom-peer-repairs-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** The SHA-256 of every value that was ever put, by keys in hex. */
type Versions = Map<string, Set<string>>;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

function randomOperations(random: Random, versions: Versions, { emptyKeys }: Peer['traits']): Operation[] {
  return Array.from({ length: 1 + random.below(500) }, (): Operation => {
    const key = new TextEncoder().encode(emptyKeys && random.below(100) === 0 ? '' : `key${random.below(300)}`);
    if (random.below(3) === 0) return [key, undefined];
    const value = random.bytes(random.below(random.below(40) === 0 ? 90_000 : 600));
    const written = versions.get(hex(key)) ?? new Set();
    versions.set(hex(key), written.add(sha256(value)));
    return [key, value];
  });
}

/** A peer of which a process runs, a new one after each kill. */
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

  /** What the peer itself finds in the folder, which may change it. */
  async entries(folder: string): Promise<KeyValue[]> {
    const running = await this.process();
    await running.open(folder);
    const entries = await running.dump();
    await running.close();
    return entries;
  }

  /** Writes the folder in a few sessions; the last may end with a kill, and so between the steps of a compaction. */
  async write(folder: string, random: Random): Promise<Versions> {
    const versions: Versions = new Map();
    const { flushes, compacts } = this.#peer.traits;
    for (let session = 1 + random.below(3); session > 0; session--) {
      const running = await this.process();
      await running.open(folder);
      await running.apply(randomOperations(random, versions, this.#peer.traits));
      if (flushes && random.below(3) === 0) await running.flush();
      if (compacts && random.below(4) === 0) await running.compact();
      await (random.below(3) === 0 ? this.kill() : running.close());
    }
    return versions;
  }
}

async function ourEntries(folder: string): Promise<KeyValue[]> {
  const reader = await DatabaseReader.open(new NodeFolder(folder));
  return collect(reader.entries()).finally(() => reader.close());
}

/** The files of a folder and their checksums. */
function contents(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map((name) => `${name} ${sha256(readFileSync(join(folder, name)))}`);
}

function summary(entries: readonly KeyValue[]): { readonly entries: number; readonly sha256: string } {
  return { entries: entries.length, sha256: entriesSha256(entries) };
}

/** For programs that know tables only by their old name. */
function renameTables(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (name.endsWith('.ldb')) renameSync(join(folder, name), join(folder, name.replace('.ldb', '.sst')));
  }
}

const isCoded = (error: unknown): boolean => [CorruptionError, UnsupportedError, DatabaseError, FolderError].some((kind) => error instanceof kind);

/** Damages one or two files at random places, or removes one. */
function damage(folder: string, random: Random): string {
  const damages: string[] = [];
  for (let i = 1 + random.below(2); i > 0; i--) {
    const names = readdirSync(folder).filter((name) => /\.(ldb|sst|log)$|^MANIFEST-|^CURRENT$/.test(name));
    const name = random.pick(names);
    const bytes = readFileSync(join(folder, name));
    const at = random.below(bytes.length + 1);
    const kind = random.pick(['bits', 'end', 'zeros', 'rest', 'missing']);
    damages.push(`${name}: ${kind} at ${at} of ${bytes.length}`);
    if (kind === 'missing') rmSync(join(folder, name));
    else if (kind === 'end') writeFileSync(join(folder, name), bytes.subarray(0, at));
    else {
      if (kind === 'bits') for (let flips = 0; flips < 3 && bytes.length > 0; flips++) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
      else if (kind === 'zeros') bytes.fill(0, at, Math.min(bytes.length, at + random.below(5000)));
      else bytes.set(random.bytes(bytes.length - at), at);
      writeFileSync(join(folder, name), bytes);
    }
  }
  return damages.join(', ');
}

for (const peer of peers()) {
  const reason = await peer.unavailableReason();
  if (reason !== undefined) {
    test.skip(`folders of ${peer.name} are not repaired: ${reason}`, () => {});
    continue;
  }
  const { format, tables } = peer.traits;
  const started = new Started(peer);
  afterAll(() => started.kill());

  describe(`the repair of a sound folder of ${peer.name}`, () => {
    test.each(seeds)('leaves the entries that the peer itself finds, or changes nothing: folder %i', async (seed) => {
      const random = seeded(seed);
      const folder = join(root, `${peer.name}-${seed}`);
      await started.write(folder, random);
      const copy = `${folder}-copy`;
      cpSync(folder, copy, { recursive: true });
      const theirs = summary(await started.entries(copy));
      const before = contents(folder);

      const error = await rejection(Database.repair(new WritableNodeFolder(folder)));
      if (error !== undefined) {
        expect(error).toSatisfy(isCoded);
        expect(contents(folder)).toEqual(before);
        expect(format).not.toBe('LevelDB');
        // The peer finds everything in what was refused.
        expect(summary(await started.entries(folder))).toEqual(theirs);
      } else {
        expect(summary(await ourEntries(folder))).toEqual(theirs);
        if (tables === '.sst') renameTables(folder);
        expect(summary(await started.entries(folder))).toEqual(theirs);
      }
      for (const path of [folder, copy]) rmSync(path, { recursive: true });
    });
  });

  describe(`the repair of a damaged folder of ${peer.name}`, () => {
    const originals: { readonly folder: string; readonly versions: Versions }[] = [];
    beforeAll(async () => {
      for (let seed = 0; seed < 3; seed++) {
        const folder = join(root, `${peer.name}-original-${seed}`);
        originals.push({ folder, versions: await started.write(folder, seeded(1000 + seed)) });
      }
    });

    test('ends with a coded error, or with entries that were written once', async () => {
      for (let run = 0; run < damagedFolders; run++) {
        const random = seeded(run);
        const { folder: original, versions } = random.pick(originals);
        const folder = join(root, `${peer.name}-damaged-${run}`);
        mkdirSync(folder);
        cpSync(original, folder, { recursive: true });
        const about = `run ${run}: ${damage(folder, random)}`;
        const error = await rejection(Database.repair(new WritableNodeFolder(folder)));
        if (error === undefined) {
          const entries = await ourEntries(folder);
          const invented = entries.filter(([key, value]) => versions.get(hex(key))?.has(sha256(value)) !== true);
          expect(invented.map(([key]) => hex(key)), about).toEqual([]);
          if (format === 'LevelDB' && !about.includes(',') && /CURRENT|MANIFEST/.test(about)) expect(entries.length, about).toBeGreaterThan(0);
        } else {
          expect(error, about).toSatisfy(isCoded);
        }
        rmSync(folder, { recursive: true });
      }
    }, 60_000 + damagedFolders * 2000);
  });
}
