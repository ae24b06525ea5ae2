import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';

/** A host other than Node.js that runs programs for Node.js. */
export interface Host {
  readonly name: 'Deno' | 'Bun';
  /** The path of its binary; undefined when npm has none for this platform. */
  readonly binary: string | undefined;
  /** The arguments before the program's path. */
  readonly run: readonly string[];
}

const exe = process.platform === 'win32' ? '.exe' : '';

export const hosts: readonly Host[] = [
  { name: 'Deno', binary: binaryOf('deno', `deno${exe}`), run: ['run', '--no-prompt', '--allow-all'] },
  { name: 'Bun', binary: binaryOf('bun', `bin/bun${exe}`), run: ['run'] },
];

/**
 * The binary of the optional package for this platform. The install scripts of `deno` and `bun` would only link to it, and
 * are not run.
 */
function binaryOf(name: string, path: string): string | undefined {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
  const { optionalDependencies } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly optionalDependencies: Readonly<Record<string, string>> };
  // The folder of the package itself holds what it depends on.
  const beside = createRequire(manifest);
  for (const platformPackage of Object.keys(optionalDependencies)) {
    try {
      const binary = join(dirname(beside.resolve(`${platformPackage}/package.json`)), path);
      if (existsSync(binary)) return binary;
    } catch {
      // It is the package of another platform.
    }
  }
  return undefined;
}
