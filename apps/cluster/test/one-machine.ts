// The same job on one machine, to compare with; and what is asked of a database that an engine has published.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, createWriteStream, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nativeDatabase } from '@bloom/native';
import { ClassicLevel } from 'classic-level';
import { expect } from 'vitest';

/** Whether this is one of the runs by name of tooling/long-tests: others start no engine that takes a minute to lose a node. */
export const isNamedRun = process.env.BLOOM_CLUSTER_ENTRIES !== undefined;
/** How many entries a job has. */
export const ENTRIES = Number(process.env.BLOOM_CLUSTER_ENTRIES ?? 5_000);
export const SHARDS = 6;
/** Enough for 20 million entries. */
export const TIMEOUT_MS = 3_600_000;
export const RANGES = 4;
/** So many entries make several parts in each range. */
export const PART_OPTIONS = ENTRIES >= 1_000_000 ? [] : ['--part-size', '64K'];
/** Up to so many entries are read by LevelDB's own program, which keeps them in memory. */
const MOST_DUMPED = 2_000_000;

/** The program, as it is published. */
export const program = join(import.meta.dirname, '../../cli/dist/bloom.cjs');

/** Whether a program is in the path. */
export function isInstalled(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** A folder for one test file. */
export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), 'bloom-cluster-'));
}

/** The key of an entry: not in the order of the numbers, and each shard has keys from everywhere. */
function keyAt(i: number): string {
  return `${(Math.imul(i, 0x9e3779b1) >>> 0).toString(16).padStart(8, '0')}/${i}`;
}

/** Writes the shards. @returns their paths, and the SHA-256 of all entries in order. */
export async function makeShards(folder: string, entries = ENTRIES): Promise<string[]> {
  mkdirSync(folder, { recursive: true });
  const shards = Array.from({ length: SHARDS }, (_, i) => join(folder, `shard-${i}.tsv`));
  for (const [shard, path] of shards.entries()) {
    const file = createWriteStream(path);
    let lines = '';
    for (let i = shard; i < entries; i += SHARDS) {
      lines += `${keyAt(i)}\tthe value of entry ${i}, ${(i * 7919) % 1000}\n`;
      if (lines.length < 2 ** 20) continue;
      if (!file.write(lines)) await once(file, 'drain');
      lines = '';
    }
    file.end(lines);
    await once(file, 'finish');
  }
  return shards;
}

/** Runs `bloom`, and expects it to succeed. @returns what it prints. */
export async function bloom(args: readonly string[], input = ''): Promise<string> {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number | null];
  expect(code, args.join(' ')).toBe(0);
  return Buffer.concat(pieces).toString();
}

/** What one machine makes. */
export interface OneMachine {
  /** Its folder, in which it is published. */
  readonly store: string;
  /** The names of the parts and the MANIFEST, and the SHA-256 of each. */
  readonly files: ReadonlyMap<string, string>;
  /** The boundaries, in hexadecimal. */
  readonly cuts: readonly string[];
}

/** Sorts, cuts, merges and publishes, one after another. */
export async function onOneMachine(folder: string, shards: readonly string[]): Promise<OneMachine> {
  mkdirSync(folder, { recursive: true });
  const runs: string[] = [];
  for (const [i, shard] of shards.entries()) {
    const run = join(folder, `run-${i}.ldb`);
    await bloom(['build', shard, '--sort', '--no-filter', '-q', '-o', run]);
    runs.push(run);
  }
  const cuts = (await bloom(['bulk', 'split', ...runs, '-n', String(RANGES), '--no-internal'])).split('\n').filter((line) => line !== '');
  expect(cuts).toHaveLength(RANGES - 1);
  const store = join(folder, 'store');
  let descriptions = '';
  for (let i = 0; i < RANGES; i++) {
    const bounds = [...(i === 0 ? [] : ['--gte', cuts[i - 1]!]), ...(i === RANGES - 1 ? [] : ['--lt', cuts[i]!])];
    descriptions += await bloom(['bulk', 'part', ...runs, '--no-internal', '--hex', ...bounds, '--sequence', '1', ...PART_OPTIONS, '-q', '-o', store]);
  }
  await bloom(['bulk', 'publish', '-', store], await bloom(['bulk', 'assemble', store, '-'], descriptions));
  for (const run of runs) rmSync(run);
  return { store, files: filesOf(store), cuts };
}

/** The names and the SHA-256 of what is published in a folder. */
export function filesOf(folder: string): ReadonlyMap<string, string> {
  const names = readdirSync(folder).filter((name) => name === 'CURRENT' || name.endsWith('.ldb') || /^MANIFEST-\d+$/.test(name));
  return new Map(names.sort().map((name) => [name, createHash('sha256').update(readFileSync(join(folder, name))).digest('hex')]));
}

/** Whether anything is published in a folder. */
export function isPublished(folder: string): boolean {
  return existsSync(join(folder, 'CURRENT'));
}

/** Expects that what an engine has published is what one machine made, and that other LevelDBs see each entry in a copy. */
export async function expectSame(store: string, expected: OneMachine, entries = ENTRIES): Promise<void> {
  expect(filesOf(store)).toEqual(expected.files);
  expect(filesOf(store).size).toBeGreaterThan(RANGES);
  expect(JSON.parse(await bloom(['verify', store, '--json']))).toMatchObject({ entries, findings: [] });
  const copy = `${store}-copy`;
  cpSync(store, copy, { recursive: true });
  const level = new ClassicLevel<string, string>(copy, { createIfMissing: false });
  const iterator = level.iterator();
  let seen = 0;
  for (let some = await iterator.nextv(10_000); some.length > 0; some = await iterator.nextv(10_000)) {
    seen += some.length;
    for (const [key, value] of some) {
      const i = Number(key.slice(9));
      if (key !== keyAt(i) || value !== `the value of entry ${i}, ${(i * 7919) % 1000}`) expect.fail(`classic-level has ${key}: ${value}`);
    }
  }
  await iterator.close();
  await level.close();
  expect(seen).toBe(entries);
  rmSync(copy, { recursive: true });
  const native = nativeDatabase();
  if (native === undefined || entries > MOST_DUMPED) return;
  cpSync(store, copy, { recursive: true });
  const { status, entries: dumped } = native.dump(copy, { paranoid: true, bitsPerKey: 10 });
  expect(status).toBe('OK');
  expect(dumped).toHaveLength(entries);
  rmSync(copy, { recursive: true });
}
