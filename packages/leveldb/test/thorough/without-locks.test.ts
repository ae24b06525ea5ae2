import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundledProgram } from '../bundled-program.js';

let folder: string;
let lone: string;
let beside: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bloom-locks-'));
  // A program outside of any package cannot import optional dependencies.
  lone = await bundledProgram('open-database.ts', folder);
  beside = await bundledProgram('open-database.ts');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(dirname(beside), { recursive: true, force: true });
});

function outputOf(program: string, path: string, lock: string): string {
  // pnpm sets NODE_PATH, by which `require` finds its packages from anywhere.
  const { NODE_PATH: _, ...env } = process.env;
  const { stdout, stderr } = spawnSync(process.execPath, [program, path, lock], { cwd: folder, encoding: 'utf8', env });
  return stdout + stderr;
}

test("without an add-on, a folder is opened for writing only with lock: 'none', and the error says so", () => {
  const path = join(folder, 'database');
  const refusal = outputOf(lone, path, 'folder');
  expect(refusal).toMatch(/^DatabaseError BLOOM_NO_LOCK: .*fs-native-extensions.*lock: 'none'\n$/);
  // The refused opening left no files behind.
  expect(readdirSync(path)).toEqual([]);
  expect(outputOf(lone, path, 'none')).toBe('wrote 2\n');
  expect(outputOf(lone, path, 'folder')).toBe(refusal);
  // With the packages installed, the same program takes the lock.
  expect(outputOf(beside, path, 'folder')).toBe('wrote 2\n');
});

test.runIf(process.platform === 'linux')('with fs-native-extensions alone, Linux locks the folder without flock, and an event reports it', async () => {
  const packages = join(folder, 'partly', 'node_modules');
  mkdirSync(packages, { recursive: true });
  symlinkSync(realpathSync(join(import.meta.dirname, '../../node_modules/fs-native-extensions')), join(packages, 'fs-native-extensions'));
  const program = await bundledProgram('open-database.ts', join(folder, 'partly'));
  const output = outputOf(program, join(folder, 'partly', 'database'), 'folder');
  expect(output).toMatch(/^programs that lock with flock, .*goleveldb.*, are not kept out: flock needs the package @koromix\/koffi-linux-\w+, which cannot be loaded \(.+\)\nwrote 2\n$/);
});
