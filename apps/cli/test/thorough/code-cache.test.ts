// Each test runs a copy of the program, which has its own folder for caches beside it.
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Outcome, outcome, program, Scratch } from '../bloom-process.js';

const scratch = new Scratch();
const isRoot = process.geteuid?.() === 0;
/** A word of the help, and the same in programs that were changed: of the same length, as V8 compares that of a source. */
const [WORD, CHANGED] = ['checks and repairs', 'forges and repairs'];
const ENTRY = ['get', 'table.ldb', 'France'] as const;
const FOUND = { code: 0, stdout: 'Paris\n', stderr: '' };

let folder: string;
let copies = 0;
const caches = (): string => join(folder, 'code-cache');
const userCaches = (): string => join(folder, 'user/bloom');
const namesIn = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);
const only = (path: string): string => join(path, namesIn(path)[0]!);

/** Copies the program into a folder. */
function copyTo(path: string): void {
  mkdirSync(path, { recursive: true });
  for (const name of ['bloom.cjs', 'program.cjs']) copyFileSync(join(dirname(program), name), join(path, name));
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}, from = folder): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { code, stdout, stderr }: Outcome = await outcome(
    spawn(process.execPath, [join(from, 'bloom.cjs'), ...args], {
      cwd: scratch.path,
      env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '', NODE_OPTIONS: '', XDG_CACHE_HOME: join(folder, 'user'), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  return { code, stdout: stdout.toString(), stderr };
}

/** The cache of `help` that a changed program with the same name of its cache writes: whoever uses it prints the changed help. */
async function forgedCache(): Promise<{ name: string; content: Buffer }> {
  const forger = join(folder, 'forger');
  copyTo(forger);
  const path = join(forger, 'program.cjs');
  writeFileSync(path, readFileSync(path, 'utf8').replace(WORD, CHANGED));
  expect((await run(['help'], {}, forger)).stdout).toContain(CHANGED);
  const [name] = namesIn(join(forger, 'code-cache'));
  return { name: name!, content: readFileSync(join(forger, 'code-cache', name!)) };
}

beforeEach(async () => {
  folder = scratch.at(`copy-${copies++}`);
  copyTo(folder);
  if (!existsSync(scratch.at('table.ldb'))) {
    scratch.write('table.tsv', 'France\tParis\n');
    expect((await run(['build', '-q', 'table.tsv', '-o', 'table.ldb'])).code).toBe(0);
    rmSync(caches(), { recursive: true });
  }
});

describe('the first run of a command', () => {
  test('writes its cache next to the program, and later runs use it unchanged', async () => {
    expect(await run(ENTRY)).toEqual(FOUND);
    expect(namesIn(caches())).toEqual([expect.stringMatching(/^get-[0-9a-f]{16}-v\d/)]);
    const { ino } = statSync(only(caches()));
    expect(await run(ENTRY)).toEqual(FOUND);
    expect(statSync(only(caches())).ino).toBe(ino);
    for (const args of [['help'], ['unknown'], ['../up', 'a'], []]) await run(args);
    expect(namesIn(caches())).toEqual([expect.stringMatching(/^get-/), expect.stringMatching(/^help-/)]);

    // That caches are used shows in one that a changed program wrote.
    const { name, content } = await forgedCache();
    writeFileSync(join(caches(), name), content);
    expect((await run(['help'])).stdout).toContain(CHANGED);
  });

  test('writes into the user’s folder for caches if it cannot write next to the program, and later runs use it', async () => {
    writeFileSync(caches(), 'not a folder');
    expect(await run(ENTRY)).toEqual(FOUND);
    expect(namesIn(userCaches())).toEqual([expect.stringMatching(/^get-/)]);
    const { ino } = statSync(only(userCaches()));
    expect(await run(ENTRY)).toEqual(FOUND);
    expect(statSync(only(userCaches())).ino).toBe(ino);
  });

  test('works without a cache where none can be written', async () => {
    writeFileSync(caches(), 'not a folder');
    writeFileSync(join(folder, 'user'), 'not a folder');
    for (let i = 0; i < 2; i++) expect(await run(ENTRY)).toEqual(FOUND);
  });

  test('writes one whole cache when eight processes start at the same time', async () => {
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => run(ENTRY)));
    expect(outcomes).toEqual(new Array(8).fill(FOUND));
    expect(namesIn(caches())).toHaveLength(1);
    expect(await run(ENTRY)).toEqual(FOUND);
  });

  test('deletes caches that are older than 30 days', async () => {
    mkdirSync(caches());
    for (const name of ['old', 'new']) writeFileSync(join(caches(), name), '');
    utimesSync(join(caches(), 'old'), 0, Date.now() / 1000 - 31 * 24 * 3600);
    await run(ENTRY);
    expect(namesIn(caches())).toEqual([expect.stringMatching(/^get-/), 'new']);
  });

  test.runIf(isRoot)('leaves nothing in the folders of another user, as root', async () => {
    chownSync(folder, 12_345, 12_345);
    expect(await run(ENTRY)).toEqual(FOUND);
    expect([...namesIn(caches()), ...namesIn(userCaches())]).toEqual([]);
  });
});

describe('a cache is not used', () => {
  test('when it is damaged anywhere, and the run replaces it', async () => {
    await run(ENTRY);
    const path = only(caches());
    const content = readFileSync(path);
    const damaged = [new Uint8Array(), content.subarray(0, 3), content.subarray(0, content.length >> 1)];
    for (let i = 0; i < 5; i++) {
      const flipped = Buffer.from(content);
      flipped[Math.trunc((content.length - 1) * (i / 4))]! ^= 0x40;
      damaged.push(flipped);
    }
    for (const bytes of damaged) {
      writeFileSync(path, bytes);
      expect(await run(ENTRY)).toEqual(FOUND);
      expect(readFileSync(path).equals(bytes)).toBe(false);
    }
  });

  // Windows has no such permissions.
  const unsafe: [string, (path: string) => void][] = [
    ['the group can write it', (path) => { chmodSync(path, 0o664); }],
    ['everybody can write it', (path) => { chmodSync(path, 0o646); }],
    ['it is in a folder in which everybody can write', (path) => { chmodSync(dirname(path), 0o777); }],
    ['it is a link to another file', (path) => {
      writeFileSync(join(folder, 'elsewhere'), readFileSync(path), { mode: 0o644 });
      unlinkSync(path);
      symlinkSync(join(folder, 'elsewhere'), path);
    }],
  ];
  if (isRoot) {
    unsafe.push(
      ['it belongs to another user', (path) => { chownSync(path, 12_345, 12_345); }],
      ['it is in the folder of another user', (path) => { chownSync(dirname(path), 12_345, 12_345); }],
    );
  }
  test.runIf(process.geteuid !== undefined).each(unsafe)('when %s', async (_, make) => {
    const { name, content } = await forgedCache();
    mkdirSync(caches(), { mode: 0o755 });
    const path = join(caches(), name);
    writeFileSync(path, content, { mode: 0o644 });
    expect((await run(['help'], { XDG_CACHE_HOME: '/dev/null' })).stdout).toContain(CHANGED);
    make(path);
    expect((await run(['help'], { XDG_CACHE_HOME: '/dev/null' })).stdout).toContain(WORD);
  });

  test('of another build of the program', async () => {
    const { name, content } = await forgedCache();
    mkdirSync(caches());
    writeFileSync(join(caches(), name), content);
    const launcher = join(folder, 'bloom.cjs');
    writeFileSync(launcher, readFileSync(launcher, 'utf8').replace(/(?<=")[0-9a-f]{16}(?=")/, '0123456789abcdef'));
    expect((await run(['help'])).stdout).toContain(WORD);
    expect(namesIn(caches())).toHaveLength(2);
  });

  test('or written with NODE_DISABLE_COMPILE_CACHE=1', async () => {
    const env = { NODE_DISABLE_COMPILE_CACHE: '1' };
    expect(await run(ENTRY, env)).toEqual(FOUND);
    expect(namesIn(caches())).toEqual([]);
  });

  test('where Node applies source maps to stack traces', async () => {
    copyFileSync(`${join(dirname(program), 'program.cjs')}.map`, join(folder, 'program.cjs.map'));
    const { stderr } = await run(['get', 'missing.ldb', 'a'], { BLOOM_DEBUG: '1', NODE_OPTIONS: '--enable-source-maps' });
    expect(stderr).toMatch(/src\/[a-z-]+\.ts:\d+/);
    expect(namesIn(caches())).toEqual([]);
  });
});

describe('--version', () => {
  test('is answered without the program', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8')) as { version: string };
    unlinkSync(join(folder, 'program.cjs'));
    for (const option of ['--version', '-V']) expect(await run([option])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  });

  test('gets the same answer after a command', async () => {
    const { stdout } = await run(['--version']);
    expect(await run(['get', '--version'])).toEqual({ code: 0, stdout, stderr: '' });
  });
});
