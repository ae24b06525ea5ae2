import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { program, thirdPartyLicences } from '@bloom/tsup-config';

const command = {
  ...program(['src/bloom.ts', 'src/program.ts', 'src/decoding-thread.ts', 'src/merging-thread.ts', 'src/thread-plugins.ts']),
  // One file with everything in it, which starts in a third of the time of many. CommonJS, because then Node need not start
  // its loader of ES modules.
  format: 'cjs',
  // The lock of folders is native code, which cannot be in a bundle.
  noExternal: [/^(?!fs-native-extensions$)/],
  splitting: false,
  esbuildOptions(options: { supported?: Record<string, boolean> }) {
    // Where its code comes from V8's cache, a script cannot import modules, but it can require them.
    options.supported = { 'dynamic-import': false };
  },
  // For `import.meta.url`.
  shims: true,
  esbuildPlugins: [thirdPartyLicences('dist/third-party-notices.txt')],
  onSuccess() {
    const hash = createHash('sha256').update(readFileSync('dist/program.cjs')).digest('hex').slice(0, 16);
    writeFileSync('dist/bloom.cjs', readFileSync('dist/bloom.cjs', 'utf8').replace('__PROGRAM_HASH__', hash));
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
