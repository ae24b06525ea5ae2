// The limits of what a browser downloads for each entry point: a bundle with all dependencies, minified and gzipped.
import { join } from 'node:path';
import { entryPoints } from './entry-points.js';

/** @import { Check } from 'size-limit' */

/** Limits for everything that an entry point exports, slightly above the last measurement. */
const wholeEntryPoints = {
  '@bloom/bytes': '3.6 kB',
  '@bloom/crc32c': '2 kB',
  '@bloom/hash': '3.8 kB',
  // 19 kB of this belong to Database.repair and Database.refilter, and are loaded on the first call.
  '@bloom/leveldb': '134.3 kB',
  // A page whose database is in a worker loads at most 35 kB of this: tooling/bundler-tests measures it. What it has besides `@bloom/leveldb` is mostly abstract-level and its browser dependencies `buffer` and `events`.
  '@bloom/level': '171.1 kB',
  '@bloom/level/worker': '137.6 kB',
  '@bloom/leveldb/browser': '2.1 kB',
  '@bloom/leveldb/opfs': '4.9 kB',
  '@bloom/leveldb/http': '11 kB',
  '@bloom/leveldb/idb-comparator': '6.7 kB',
  '@bloom/leveldb/inspect': '58.5 kB',
  '@bloom/leveldb/contract': '11.4 kB',
  '@bloom/bulk': '61.4 kB',
  '@bloom/bulk/s3': '18.1 kB',
  '@bloom/bulk/r2': '12.8 kB',
  '@bloom/log': '6.5 kB',
  '@bloom/policy': '13.3 kB',
  '@bloom/policy/compare': '5 kB',
  '@bloom/policy/contract': '22.7 kB',
  '@bloom/policy/kit': '3.8 kB',
  '@bloom/policy-blocked': '2.4 kB',
  '@bloom/policy-ribbon': '11.5 kB',
  '@bloom/policy-fuse': '7.9 kB',
  '@bloom/filter-block': '4.7 kB',
  '@bloom/sstable': '41 kB',
  '@bloom/sstable/database': '37.7 kB',
  '@bloom/sstable/inspect': '38.4 kB',
  '@bloom/sstable/contract': '5.8 kB',
  '@bloom/sstable/blob': '1.3 kB',
  '@bloom/sstable/http': '6.6 kB',
  '@bloom/codecs': '20 kB',
  '@bloom/web-storage': '97.1 kB',
  '@bloom/web-storage/browser': '0.5 kB',
};

/** The modules of `@bloom/leveldb` that are loaded on demand, when entries are first merged or packed in kernels. */
const onDemand = {
  source: `export * from './compact/in-kernel.js'; export * from './cursor/packed-walk.js';`,
  modules: /\/(?:flush-in-kernel|in-kernel|kernel-memory|level-blocks|merge-in-kernel|merge-kernel|packed-run|packed-walk|stored-blocks|visible-kernel|\w+-kernel\.wasm)\.js$/u,
  limit: '10.2 kB',
};

/** Limits for what a page imports for a single job. */
const jobs = {
  'read a table in a Blob': {
    source: `export { Table } from '@bloom/sstable'; export { BlobSource } from '@bloom/sstable/blob';`,
    limit: '36 kB',
  },
  'read a database folder that the user picked': {
    source: `export { DatabaseReader } from '@bloom/leveldb'; export { FileListFolder } from '@bloom/leveldb/browser';`,
    limit: '77.2 kB',
  },
  'read a table on a server': {
    source: `export { Table } from '@bloom/sstable'; export { HttpSource } from '@bloom/sstable/http';`,
    limit: '40.7 kB',
  },
};

const nodeOnly = ['@bloom/bulk/node', '@bloom/leveldb/node', '@bloom/sstable/node', '@bloom/web-storage/node'];

const limited = new Set([...Object.keys(wholeEntryPoints), ...nodeOnly]);
// Internal entry points are imported by sibling packages, not by pages.
const unlimited = entryPoints.filter((entryPoint) => !limited.has(entryPoint) && !entryPoint.endsWith('/internal'));
if (unlimited.length > 0) throw new Error(`no size limit in tooling/size-limits/limits.js: ${unlimited.join(', ')}`);

/**
 * @param {string} name
 * @param {string} source the module that is bundled
 * @param {string} limit
 * @param {object} config of esbuild, besides
 */
function check(name, source, limit, config = {}) {
  return {
    name,
    limit,
    gzip: true,
    // size-limit needs a file. esbuild bundles `source` instead, which imports packages by name, as a page does.
    path: 'package.json',
    /** @param {{ entryPoints: string[] }} given config of esbuild, made by size-limit */
    modifyEsbuildConfig: ({ entryPoints: _, ...given }) => ({
      ...given,
      format: 'esm',
      logLevel: 'error',
      stdin: { contents: source, resolveDir: import.meta.dirname },
      ...config,
    }),
  };
}

/** A plugin of esbuild that leaves out the modules that a page has already loaded. */
const withoutOthers = {
  name: 'without-others',
  /** @param {{ onResolve: (options: { filter: RegExp }, resolve: (module: { path: string, kind: string }) => object | undefined) => void }} build */
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ path, kind }) => (kind === 'entry-point' || onDemand.modules.test(path) ? undefined : { path, external: true }));
  },
};

export default [
  ...Object.entries(wholeEntryPoints).map(([name, limit]) => check(name, `export * from '${name}';`, limit)),
  ...Object.entries(jobs).map(([name, { source, limit }]) => check(name, source, limit)),
  check('kernels of @bloom/leveldb, on demand', onDemand.source, onDemand.limit, {
    stdin: { contents: onDemand.source, resolveDir: join(import.meta.dirname, '../../packages/leveldb/src') },
    plugins: [withoutOthers],
  }),
];
