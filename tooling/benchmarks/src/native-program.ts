import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** The path of the compiled program, or why this machine cannot have it. */
export type NativeProgram = { readonly path: string } | { readonly unavailable: string };

const flags = ['-O2', '-DNDEBUG', '-std=c++17'];
/** LevelDB is static, because its shared library hides leveldb::Hash. Linking Snappy by its soname needs no development package. */
const libraries = ['-l:libleveldb.a', '-l:libsnappy.so.1', '-pthread'];

const probe = '#include <leveldb/table_builder.h>\nint main() { return 0; }\n';

/**
 * Compiles leveldb-bench.cc against the LevelDB that is installed.
 *
 * @throws Error when LevelDB is installed but the program does not compile, which means that the program is wrong.
 */
export function compileNative(packageFolder: string): NativeProgram {
  const compiler = process.env.CXX ?? 'c++';
  const folder = join(packageFolder, 'build');
  const path = join(folder, 'leveldb-bench');
  mkdirSync(folder, { recursive: true });
  const tried = compile(compiler, ['-x', 'c++', '-', '-x', 'none'], join(folder, 'probe'), probe);
  if (tried !== undefined) return { unavailable: tried };
  const failure = compile(compiler, [join(packageFolder, 'src/leveldb-bench.cc')], path);
  if (failure !== undefined) throw new Error(`leveldb-bench.cc does not compile:\n${failure}`);
  return { path };
}

/** `undefined` when it worked, otherwise the reason. */
function compile(compiler: string, input: readonly string[], out: string, text = ''): string | undefined {
  const args = [...flags, ...input, '-o', out, ...libraries];
  const { error, status, stderr } = spawnSync(compiler, args, { encoding: 'utf8', input: text });
  if (error !== undefined) return `no C++ compiler: ${error.message}`;
  return status === 0 ? undefined : `no LevelDB to compile against: ${stderr.trim().split('\n')[0]}`;
}
