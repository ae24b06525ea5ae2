import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of the compiled program, or why it cannot be compiled on this machine. */
export type Program = { readonly path: string } | { readonly unavailable: string };

const buildFolder = fileURLToPath(new URL('../build/', import.meta.url));

const flags = ['-O2', '-std=c++17'];

/** A C++ program in this folder. */
export interface ProgramSource {
  /** The name of its file, without `.cc`. */
  readonly name: string;
  /** Linker arguments to try. The first that work are used. */
  readonly libraries: readonly (readonly string[])[];
  /** A program that compiles if and only if everything that this one needs is installed. */
  readonly probe: string;
  /** Arguments with which the compiled program exits with 0 if its libraries are installed. */
  readonly check: readonly string[];
}

/**
 * Compiles a program, unless `build/` already has it for the same source.
 *
 * @throws Error when the probe compiles but the program does not: then the program has an error.
 */
export function compileProgram({ name, libraries, probe, check }: ProgramSource): Program {
  const compiler = process.env.CXX ?? 'c++';
  const source = fileURLToPath(new URL(`${name}.cc`, import.meta.url));
  const hash = createHash('sha256')
    .update(JSON.stringify([compiler, flags, libraries]))
    .update(readFileSync(source))
    .digest('hex');
  const path = join(buildFolder, `${name}-${hash.slice(0, 16)}`);
  if (existsSync(path) && spawnSync(path, check).status === 0) return { path };

  const folder = mkdtempSync(join(tmpdir(), 'bloom-native-'));
  try {
    const probeSource = join(folder, 'probe.cc');
    writeFileSync(probeSource, probe);
    let failure = '';
    for (const libs of libraries) {
      const tried = compile(compiler, probeSource, libs, join(folder, 'probe'));
      if (tried === undefined) {
        mkdirSync(buildFolder, { recursive: true });
        // Test workers may compile at the same time, so each writes to its own file and renames it at the end.
        const fresh = `${path}.${process.pid}`;
        const error = compile(compiler, source, libs, fresh);
        if (error !== undefined) throw new Error(`${name}.cc does not compile:\n${error}`);
        renameSync(fresh, path);
        return { path };
      }
      failure = tried;
    }
    return { unavailable: failure };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `undefined` on success, otherwise the error. */
function compile(compiler: string, file: string, libs: readonly string[], out: string): string | undefined {
  const { error, status, stderr } = spawnSync(compiler, [...flags, file, '-o', out, ...libs], { encoding: 'utf8' });
  if (error !== undefined) return `no C++ compiler: ${error.message}`;
  return status === 0 ? undefined : `a header or library is not installed: ${stderr.trim()}`;
}
