import { createHash } from 'node:crypto';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { leftOut, program, thirdPartyLicences } from '@bloom/tsup-config';

/** The built explorer, which `bloom explore` serves, and what of it only a public site needs. */
const EXPLORER = '../explorer/dist';
const OF_SITES = new Set(['404.html', 'link-picture.png', 'service-worker.js']);

const command = {
  ...program(['src/bloom.ts', 'src/program.ts', 'src/decoding-worker.ts', 'src/merging-worker.ts', 'src/sorting-worker.ts', 'src/thread-plugins.ts']),
  // One file with everything in it, which starts in a third of the time of many. CommonJS, because then Node need not start
  // its loader of ES modules.
  format: 'cjs',
  // The locks of folders are native code, which cannot be in a bundle.
  noExternal: [/^(?!fs-native-extensions$|@koromix\/)/],
  splitting: false,
  esbuildOptions(options: { supported?: Record<string, boolean>; minifyWhitespace?: boolean; minifyIdentifiers?: boolean; lineLimit?: number }) {
    // Where its code comes from V8's cache, a script cannot import modules, but it can require them.
    options.supported = { 'dynamic-import': false };
    // Comments are left out, because their letters would make V8 keep each character of the program in two bytes. Names are shortened:
    // V8's code cache is smaller then, and `bloom get` takes 4 ms less. With --enable-source-maps, stack traces have the names of the
    // sources. Lines stay short enough for the stack trace of an error.
    options.minifyWhitespace = true;
    options.minifyIdentifiers = true;
    options.lineLimit = 160;
  },
  // For `import.meta.url`.
  shims: true,
  // commander loads it, which takes 2 ms, for subcommands that are programs of their own: there are none.
  esbuildPlugins: [leftOut('node:child_process', 'commander'), thirdPartyLicences('dist/third-party-notices.txt')],
  onSuccess() {
    const code = readFileSync('dist/program.cjs');
    if (code.some((byte) => byte > 0x7f)) throw new Error('dist/program.cjs is not ASCII, as which it is read');
    const hash = createHash('sha256').update(code).digest('hex').slice(0, 16);
    writeFileSync('dist/bloom.cjs', readFileSync('dist/bloom.cjs', 'utf8').replace('__PROGRAM_HASH__', hash));
    if (!existsSync(EXPLORER)) throw new Error('apps/explorer is not built: pnpm build builds it first');
    cpSync(EXPLORER, 'dist/explorer', { recursive: true, filter: (path) => !OF_SITES.has(basename(path)) });
    return Promise.resolve();
  },
};

/** What flushes and compacts beside the thread of the command: it looks for its program beside its own file, under this name. */
const tableWorker = {
  ...program([]),
  entry: { 'table-worker.node': '../../packages/leveldb/src/table-worker.node.ts' },
  clean: false,
  noExternal: [/./],
  splitting: false,
};

export default [command, tableWorker];
