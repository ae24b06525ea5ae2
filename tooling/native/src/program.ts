import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The path of the compiled program, or why this machine cannot have it. */
export type Program = { readonly path: string } | { readonly unavailable: string };

const buildFolder = fileURLToPath(new URL('../build/', import.meta.url));

const flags = ['-O2', '-std=c++17'];

// A static LevelDB does not bring Snappy along.
const libraries = [
  ['-lleveldb', '-pthread'],
  ['-lleveldb', '-lsnappy', '-pthread'],
];

const probe = `#include <leveldb/table_builder.h>
#include <leveldb/options.h>
int main() { leveldb::Options options; return 0; }
`;

/**
 * Compiles `NAME.cc` unless `build/` has it from the same source.
 *
 * @throws Error when LevelDB is there and the program still does not compile: that is a fault of the program.
 */
export function compileProgram(name: 'leveldb-table' | 'leveldb-database'): Program {
  const source = fileURLToPath(new URL(`${name}.cc`, import.meta.url));
  const compiler = process.env.CXX ?? 'c++';
  const text = readFileSync(source);
  const hash = createHash('sha256')
    .update(JSON.stringify([compiler, flags, libraries]))
    .update(text)
    .digest('hex');
  const path = join(buildFolder, `${name}-${hash.slice(0, 16)}`);
  if (existsSync(path) && spawnSync(path, ['version']).status === 0) return { path };

  const folder = mkdtempSync(join(tmpdir(), 'bloom-native-'));
  try {
    const probeSource = join(folder, 'probe.cc');
    writeFileSync(probeSource, probe);
    let failure = '';
    for (const libs of libraries) {
      const tried = compile(compiler, probeSource, libs, join(folder, 'probe'));
      if (tried === undefined) {
        mkdirSync(buildFolder, { recursive: true });
        // Test workers may get here at once: each compiles under its own name and moves the result into place.
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

/** `undefined` when it worked, else the reason. */
function compile(compiler: string, file: string, libs: readonly string[], out: string): string | undefined {
  const { error, status, stderr } = spawnSync(compiler, [...flags, file, '-o', out, ...libs], { encoding: 'utf8' });
  if (error !== undefined) return `no C++ compiler: ${error.message}`;
  return status === 0 ? undefined : `no LevelDB to compile against: ${stderr.trim()}`;
}
