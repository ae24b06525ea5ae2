// Runs the built packages in Deno and Bun, as processes, on files that Node.js and LevelDB wrote, and the other way round.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { entriesSha256, folderFiles, goldenDatabases, type KeyValue } from '@bloom/fixtures';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { BloomFilterPolicy, buildFilter } from '@bloom/policy';
import { writeTable } from '@bloom/sstable/node';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Host, hosts } from '../../src/hosts.js';
import { FileServer } from '../file-server.js';

const folder = mkdtempSync(join(tmpdir(), 'bloom-hosts-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let folders = 0;
const newPath = (): string => join(folder, `database-${++folders}`);

const program = join(import.meta.dirname, '../../src/host-program.ts');

/** A task that runs in a host. */
class Run {
  readonly #child;
  readonly #isDeno: boolean;
  #output = '';
  #problems = '';
  readonly #over: Promise<number | string | null>;

  constructor({ name, binary, run }: Host, task: string, path: string) {
    this.#isDeno = name === 'Deno';
    this.#child = spawn(binary!, [...run, program, task, path], { cwd: join(import.meta.dirname, '../..'), env: { ...process.env, NO_COLOR: '1' } });
    this.#child.stdout.on('data', (data: Buffer) => (this.#output += data.toString()));
    this.#child.stderr.on('data', (data: Buffer) => (this.#problems += data.toString()));
    this.#over = new Promise((resolve, reject) => {
      this.#child.on('error', reject);
      this.#child.on('close', (code, signal) => resolve(code ?? signal));
    });
  }

  /** Resolves when the task has printed `text`. */
  async until(text: string): Promise<void> {
    const over = this.findings();
    over.catch(() => undefined);
    while (!this.#output.includes(text)) await Promise.race([over, new Promise((resolve) => setTimeout(resolve, 5))]);
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  /** What the task printed last, when it has ended by itself. */
  async findings(): Promise<unknown> {
    let code = await this.#over;
    // Deno 2.9 crashes at its own exit once in some hundred processes on a busy machine, when a task that only read has printed all.
    if (this.#isDeno && code === 'SIGSEGV' && /^\{.*\}$/.test(this.#output.trimEnd().split('\n').at(-1)!)) code = 0;
    if (code !== 0 || this.#problems !== '') throw new Error(`ended with ${code}: ${this.#problems}${this.#output}`);
    return JSON.parse(this.#output.trimEnd().split('\n').at(-1)!);
  }
}

const run = (host: Host, task: string, path: string): Promise<unknown> => new Run(host, task, path).findings();

async function entriesOf(path: string): Promise<KeyValue[]> {
  const database = await DatabaseReader.open(new NodeFolder(path));
  const entries: KeyValue[] = [];
  for await (const entry of database.entries()) entries.push(entry);
  await database.close();
  return entries;
}

async function lockedHere(path: string): Promise<unknown> {
  try {
    const database = await Database.open(new WritableNodeFolder(path));
    await database.close();
    return 'written';
  } catch (error) {
    return (error as { readonly code?: unknown }).code;
  }
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const isLinux = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);
const hasFlock = isLinux && spawnSync('flock', ['--version']).status === 0;

for (const { name, binary } of hosts) {
  if (binary === undefined) test.skip(`npm has no ${name} for ${process.platform} on ${process.arch}, so nothing is run in it`, () => {});
}

describe.each(hosts.filter(({ binary }) => binary !== undefined))('in $name', (host) => {
  const server = new FileServer();
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  test.each(goldenDatabases().filter(({ name }) => ['log-blocks', 'bloom', 'snappy'].includes(name)))(
    'the database $name, which LevelDB wrote, has the entries that LevelDB reads, from files and over HTTP',
    async ({ name, path, entriesSha256: expected }) => {
      const all = { forwards: expected, backwards: expected, lookups: expected, sync: expected };
      expect(await run(host, 'read', path)).toEqual({ ...all, wronglyPresent: 0, refreshed: false, findings: 0 });
      for (const [file, bytes] of folderFiles(path)) server.files.set(`/${name}/${file}`, bytes);
      expect(await run(host, 'remote', `${server.url}/${name}`)).toEqual({ forwards: expected });
    },
  );

  test.each([
    ['write-on-thread', true],
    ['write-in-slices', false],
  ])('%s: a database that is written there, flushed and compacted, is read by Node.js and by LevelDB', async (task, hasThread) => {
    const path = newPath();
    const found = (await run(host, task, path)) as { readonly sha256: string; readonly jobs: { readonly done: number } };
    expect(found).toMatchObject({ entries: 20_000, now: true, jobs: { failed: 0 } });
    if (hasThread) expect(found.jobs.done).toBeGreaterThan(3);
    else expect(found.jobs.done).toBe(0);
    const entries = await entriesOf(path);
    expect(entries).toHaveLength(20_000);
    expect(entriesSha256(entries)).toBe(found.sha256);
    const leveldb = new ClassicLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' });
    expect(entriesSha256(await leveldb.iterator().all())).toBe(found.sha256);
    await leveldb.close();
  });

  test('a program that leaves a database and its thread open ends by itself', async () => {
    const path = newPath();
    expect(await run(host, 'left-open', path)).toMatchObject({ entries: 20_000, jobs: { failed: 0 } });
    expect(await entriesOf(path)).toHaveLength(20_000);
  });

  test('a database without its MANIFEST is repaired', async () => {
    const path = newPath();
    const { sha256 } = (await run(host, 'write-in-slices', path)) as { readonly sha256: string };
    for (const file of readdirSync(path)) if (file.startsWith('MANIFEST')) rmSync(join(path, file));
    expect(await run(host, 'repair', path)).toEqual({ lost: 0, sha256 });
  });

  test('tables are written and read with each compression, and its filter is that of Node.js', async () => {
    const path = join(folder, `${host.name}.ldb`);
    const { expected, digests, filterSha256, passed } = (await run(host, 'table', path)) as {
      readonly expected: string;
      readonly digests: readonly string[];
      readonly filterSha256: string;
      readonly passed: number;
    };
    expect(digests).toEqual(Array.from({ length: 9 }, () => expected));
    expect(existsSync(path)).toBe(true);
    const keys = Array.from({ length: 20_000 }, (_, i) => utf8(String(i).padStart(8, '0')));
    const filter = buildFilter(new BloomFilterPolicy(10), keys);
    expect(filterSha256).toBe(createHash('sha256').update(filter).digest('hex'));
    expect(passed).toBe(20_000);
  });

  test('a table is read over HTTP with read-ahead, and an aborted lookup does not disturb the next one', async () => {
    const path = join(folder, 'remote.ldb');
    const entries = Array.from({ length: 20_000 }, (_, i): KeyValue => [utf8(String(i).padStart(8, '0')), utf8(`value ${i}`)]);
    await writeTable(path, entries);
    server.files.set('/table.ldb', readFileSync(path));
    const forwards = entriesSha256(entries);
    expect(await run(host, 'remote-table', `${server.url}/table.ldb`)).toEqual({ forwards, aborted: 'Error: enough', again: true });
  });

  describe.runIf(isLinux)('the lock of a folder', () => {
    test('is taken and released', async () => {
      const path = newPath();
      expect(await run(host, 'locked', path)).toBe('written');
      expect(await run(host, 'locked', path)).toBe('written');
      expect(await lockedHere(path)).toBe('written');
    });

    test('is refused with BLOOM_LOCKED while Node.js has it, and the process lives on', async () => {
      const path = newPath();
      const database = await Database.open(new WritableNodeFolder(path));
      expect(await run(host, 'locked', path)).toMatch(/^DatabaseError BLOOM_LOCKED: /);
      await database.close();
      expect(await run(host, 'locked', path)).toBe('written');
    });

    test('is refused with BLOOM_LOCKED while LevelDB has it', async () => {
      const path = newPath();
      const leveldb = new ClassicLevel(path);
      await leveldb.open();
      expect(await run(host, 'locked', path)).toMatch(/^DatabaseError BLOOM_LOCKED: /);
      await leveldb.close();
      expect(await run(host, 'locked', path)).toBe('written');
    });

    if (!hasFlock) test.skip('no flock command on the PATH (Debian: apt-get install util-linux), so no other program locks the folder', () => {});
    test.runIf(hasFlock)('is refused with BLOOM_LOCKED while another program has it by flock, and keeps out flock', async () => {
      const path = newPath();
      expect(await run(host, 'locked', path)).toBe('written');
      const file = join(path, 'LOCK');
      const other = spawn('flock', ['-n', file, 'sh', '-c', 'echo held; read line'], { stdio: ['pipe', 'pipe', 'inherit'] });
      const ended = new Promise((resolve) => other.once('exit', resolve));
      await new Promise((resolve) => other.stdout.once('data', resolve));
      expect(await run(host, 'locked', path)).toMatch(new RegExp(`^DatabaseError BLOOM_LOCKED: .*\\(${other.pid}\\)$`));
      other.stdin.end();
      await ended;
      const holder = new Run(host, 'hold', path);
      await holder.until('held\n');
      expect(spawnSync('flock', ['-n', file, 'true']).status).toBe(1);
      holder.endInput();
      await holder.findings();
      expect(spawnSync('flock', ['-n', file, 'true']).status).toBe(0);
    });

    test('keeps out Node.js, LevelDB and each other host', async () => {
      const path = newPath();
      const holder = new Run(host, 'hold', path);
      await holder.until('held\n');
      expect(await lockedHere(path)).toBe('BLOOM_LOCKED');
      await expect(new ClassicLevel(path).open()).rejects.toMatchObject({ cause: { code: 'LEVEL_LOCKED' } });
      for (const other of hosts.filter(({ binary }) => binary !== undefined)) {
        expect(await run(other, 'locked', path)).toMatch(/^DatabaseError BLOOM_LOCKED: /);
      }
      holder.endInput();
      await holder.findings();
      expect(await lockedHere(path)).toBe('written');
    });
  });
});

const [deno, bun] = hosts as readonly [Host, Host];

test.runIf(isLinux && deno.binary !== undefined && bun.binary !== undefined)('of two Denos and two Buns that race for the lock, never two have it', async () => {
  const path = newPath();
  const found = (await Promise.all([deno, deno, bun, bun].map((host) => run(host, 'race', path)))) as {
    readonly had: number;
    readonly refused: number;
    readonly others: number;
  }[];
  for (const { had, others } of found) {
    expect(had).toBeGreaterThan(0);
    expect(others).toBe(0);
  }
  expect(found.reduce((sum, { refused }) => sum + refused, 0)).toBeGreaterThan(0);
});

describe.runIf(deno.binary !== undefined)('in Deno without the permission to call native code', () => {
  const files = { ...deno, run: ['run', '--no-prompt', '--allow-read', '--allow-write', '--allow-env'] };

  test.runIf(isLinux)("the lock is refused with BLOOM_NO_LOCK, which names --allow-ffi and lock: 'none', and nothing is created", async () => {
    const path = newPath();
    expect(await run(files, 'locked', path)).toMatch(/^DatabaseError BLOOM_NO_LOCK: Deno .*--allow-ffi.*lock: 'none'$/);
    expect(readdirSync(path)).toEqual([]);
  });

  test("a database is written with lock: 'none', on the worker thread, and read", async () => {
    const path = newPath();
    const { sha256, jobs } = (await run(files, 'write-on-thread', path)) as { readonly sha256: string; readonly jobs: { readonly done: number } };
    expect(jobs.done).toBeGreaterThan(3);
    expect(await run(files, 'read', path)).toMatchObject({ forwards: sha256, sync: sha256, findings: 0 });
  });
});
