// The types of the built package in projects that resolve modules as TypeScript did before it knew `exports`, as `tsc --module commonjs` does by
// default up to TypeScript 5.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const require = createRequire(import.meta.url);

const PROGRAM = `
import { BloomLevel } from '@bloom/level';
import { serveLevels } from '@bloom/level/worker';
import { WritableMemoryFolder } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';

const level = new BloomLevel<string, number>(new WritableNodeFolder('path'), { valueEncoding: 'json' });
const value: Promise<number | undefined> = level.get('key');
// @ts-expect-error The value is a number.
void level.put('key', 'text');
export const all: unknown[] = [value, serveLevels, WritableMemoryFolder];
`;

test('they are found, also those of other entry points', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-commonjs-types-'));
  try {
    mkdirSync(join(folder, 'node_modules/@bloom'), { recursive: true });
    mkdirSync(join(folder, 'node_modules/@types'));
    symlinkSync(root, join(folder, 'node_modules/@bloom/level'));
    symlinkSync(join(root, 'node_modules/@bloom/leveldb'), join(folder, 'node_modules/@bloom/leveldb'));
    symlinkSync(dirname(require.resolve('@types/node/package.json')), join(folder, 'node_modules/@types/node'));
    writeFileSync(join(folder, 'package.json'), '{}');
    writeFileSync(join(folder, 'program.ts'), PROGRAM);
    const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
    const options = ['--module', 'commonjs', '--moduleResolution', 'node10', '--ignoreDeprecations', '6.0', '--target', 'es2022', '--lib', 'es2022', '--types', 'node', '--strict', '--noEmit'];
    execFileSync(process.execPath, [compiler, ...options, 'program.ts'], { cwd: folder, encoding: 'utf8' });
  } catch (error) {
    expect((error as { readonly stdout?: unknown }).stdout).toBe('');
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
});
