// Mutation testing of one package after another: `npx pnpm@10 --filter @bloom/mutation-tests mutate [PACKAGE[/PART]…]`.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The files to mutate, and the test files to run for each mutant; without them, all tests of the package. All tests of a large package
 * would take minutes for each mutant.
 *
 * @typedef {{ package: string, part?: string, files: string[], tests?: string[] }} Run
 */

/** @param {string} name */
const inSource = (name) => `src/${name}.ts`;
/** @param {string} name */
const inFormat = (name) => `src/format/${name}.ts`;

/**
 * The hash, the checksum, logs, policies, the filter block, the formats of a table, and of a database the formats, the memtable, the replay of logs, which
 * tables are compacted, and recovery. The contract of policies is a test itself, and has broken policies for tests.
 *
 * @type {Run[]}
 */
const runs = [
  { package: 'hash', files: ['src/**/*.ts'] },
  { package: 'crc32c', files: ['src/*.ts', '!src/*.wasm.ts'] },
  { package: 'log', files: ['src/*.ts'] },
  { package: 'filter-block', files: ['src/**/*.ts'] },
  {
    package: 'policy',
    part: 'bloom',
    files: ['bloom-filter', 'bloom-filter-policy', 'bloom-kernel', 'build-filter', 'filter-buffer', 'kept-kernel', 'key-buffer', 'key-list-order', 'policy'].map(inSource),
    tests: [
      'bloom-filter-layout',
      'bloom-filter-policy',
      'bloom-kernel',
      'bloom-probes',
      'build-filter',
      'filter-buffer',
      'filter-policy',
      'kernel-use',
      'key-buffer',
      'large-filter',
      'prefix-filter-policy',
      'thorough/names',
    ],
  },
  {
    package: 'policy',
    part: 'fitted',
    files: ['filter-fit', 'fit-kernel', 'fitted-bloom-filter-policy', 'key-neighbour'].map(inSource),
    tests: ['fitted-bloom-filter-policy', 'key-neighbour', 'thorough/fitted-contract'],
  },
  {
    package: 'policy',
    part: 'variants',
    files: ['compare', 'distinct-hashes', 'goleveldb-bloom-filter-policy', 'hash-bloom-filter', 'key-range', 'prefix-filter-policy', 'range-reduction'].map(inSource),
    tests: ['goleveldb-bloom-filter-policy', 'hash-bloom-filter', 'key-range', 'prefix-filter-policy', 'thorough/compare', 'thorough/goleveldb-contract', 'thorough/prefix-contract'],
  },
  { package: 'policy', part: 'false-positive-rate', files: ['src/false-positive-rate.ts'], tests: ['thorough/false-positive-rate'] },
  { package: 'policy-blocked', files: ['src/*.ts'] },
  { package: 'policy-ribbon', files: ['src/*.ts', '!src/*.wasm.ts'] },
  { package: 'policy-fuse', files: ['src/*.ts', '!src/*.wasm.ts'] },
  {
    package: 'sstable',
    part: 'structures',
    files: ['block-handle', 'codec', 'decoded-index', 'footer', 'index-block', 'index-key-numbers', 'metaindex-block', 'stored-block', 'stored-index'].map(inFormat),
    tests: [
      'arguments',
      'block-handle',
      'footer',
      'index-block',
      'internal-search',
      'metaindex-block',
      'stored-block',
      'stored-index',
      'table-builder',
      'vectors',
    ],
  },
  {
    package: 'sstable',
    part: 'orders',
    files: ['bytewise-order', 'comparator', 'internal-key', 'key-equivalence'].map(inFormat),
    tests: ['arguments', 'comparator', 'internal-key', 'internal-search', 'key-equivalence', 'reading-arguments', 'thorough/random-versions', 'thorough/reused-blocks', 'vectors', 'wrapped-policies'],
  },
  {
    package: 'sstable',
    part: 'blocks',
    files: ['block', 'block-builder', 'max-block-bytes'].map(inFormat),
    tests: ['block', 'block-builder', 'block-layout', 'table-builder', 'vectors'],
  },
  {
    package: 'sstable',
    part: 'walks',
    files: ['backward-path', 'block-walk', 'whole-block-walk'].map(inFormat),
    tests: ['block', 'block-layout', 'block-steps', 'whole-block-walk'],
  },
  {
    package: 'sstable',
    part: 'searches',
    files: ['block-search', 'bytewise-search'].map(inFormat),
    tests: ['block', 'block-steps', 'comparator', 'internal-search', 'thorough/bytewise-search', 'thorough/reused-blocks'],
  },
  {
    package: 'codecs',
    part: 'deflate',
    files: ['src/*.ts'],
    tests: ['deflate', 'growing-output'],
  },
  {
    package: 'codecs',
    part: 'xxh64',
    files: ['src/zstd/xxh64.ts'],
    tests: ['xxh64'],
  },
  {
    package: 'codecs',
    part: 'zstd-tables',
    files: ['bits', 'fse-table', 'huffman-table'].map((name) => `src/zstd/${name}.ts`),
    tests: ['zstd-frames', 'zstd-tables'],
  },
  {
    package: 'codecs',
    part: 'zstd-blocks',
    files: ['frame', 'literals', 'sequences'].map((name) => `src/zstd/${name}.ts`),
    tests: ['zstd-frames', 'zstd-headers', 'zstd-literals', 'zstd-sequences'],
  },
  {
    package: 'leveldb',
    part: 'format',
    files: ['src/format/*.ts'],
    tests: ['database-key', 'engine-evidence', 'file-name', 'manifest', 'needed-files', 'published-name', 'record-layouts', 'sequence-range', 'version', 'version-edit', 'write-batch'],
  },
  {
    package: 'leveldb',
    part: 'compact',
    files: ['compaction-walk', 'flush-level', 'last-key', 'level-scores', 'overlap', 'pick-compaction', 'seek-budget'].map((name) => `src/compact/${name}.ts`),
    tests: ['compaction'],
  },
  {
    package: 'leveldb',
    part: 'memory',
    files: ['batch-entries', 'memtable-memory', 'park-miller', 'table-bound'].map((name) => `src/memtable/${name}.ts`),
    tests: ['memtable-memory', 'table-bound'],
  },
  {
    package: 'leveldb',
    part: 'memtable',
    files: ['entry-arena', 'key-abbreviation', 'memtable', 'memtable-cursor', 'memtable-hash-index', 'node-heights'].map((name) => `src/memtable/${name}.ts`),
    tests: ['memtable', 'memtable-hash-index', 'memtable-memory'],
  },
  {
    package: 'leveldb',
    part: 'replay',
    files: ['src/memtable/log-memtable.ts', 'src/folder/log-batches.ts', 'src/folder/stored-records.ts'],
    tests: ['log-memtable', 'log-batches'],
  },
  {
    package: 'leveldb',
    part: 'recovery',
    files: ['src/write/log-recovery.ts'],
    tests: ['events', 'recovery'],
  },
];

/** @param {Run} run */
const partName = ({ package: name, part }) => (part === undefined ? name : `${name}/${part}`);

const packages = new Set(runs.map((run) => run.package));
const names = process.argv.length > 2 ? process.argv.slice(2) : [...packages];
/** The runs of each given name. */
const chosen = new Map(names.map((name) => [name, runs.filter((run) => run.package === name || partName(run) === name)]));
for (const [name, found] of chosen) {
  if (found.length > 0) continue;
  throw new Error(`nothing to mutate in ${name}; known: ${[...new Set([...packages, ...runs.map(partName)])].join(', ')}`);
}

/** The minimum score of a package, all of its parts together, in per cent. */
const LEAST_SCORE = 90;

for (const [name, found] of chosen) {
  const total = { mutants: 0, noticed: 0 };
  for (const run of found) {
    const counts = mutate(run);
    if (counts === undefined) {
      process.exitCode = 1;
      continue;
    }
    console.log(rowOf(partName(run).replace('/', ', '), counts));
    total.mutants += counts.mutants;
    total.noticed += counts.noticed;
  }
  console.log(rowOf(`${name}, total`, total));
  if (scoreOf(total) < LEAST_SCORE) process.exitCode = 1;
}

/**
 * @param {Run} run
 * @returns {Counts | undefined} undefined when the tests failed without any change.
 *
 * @typedef {{ mutants: number, noticed: number }} Counts
 */
function mutate({ package: name, part = '', files, tests = [] }) {
  const root = join(import.meta.dirname, '../..');
  // Vitest and Stryker ignore files that do not exist.
  const listed = [...files.filter((file) => !file.includes('*')), ...tests.map((test) => `test/${test}.test.ts`)];
  const missing = listed.filter((file) => !existsSync(join(root, 'packages', name, file)));
  if (missing.length > 0) throw new Error(`packages/${name} has no ${missing.join(', ')}`);
  const mutated = files.map((pattern) => pattern.replace(/^!?/, `$&packages/${name}/`));
  const { status } = spawnSync('stryker', ['run', 'tooling/mutation-tests/stryker.config.js', '--mutate', mutated.join(',')], {
    cwd: root,
    env: { ...process.env, BLOOM_MUTATE: name, BLOOM_MUTATE_PART: part, BLOOM_MUTATE_TESTS: tests.join(',') },
    stdio: 'inherit',
  });
  if (status !== 0) return undefined;
  /** @type {unknown} */
  const report = JSON.parse(readFileSync(join(root, `.stryker/${name}${part && `-${part}`}.json`), 'utf8'));
  const { files: reported } = /** @type {{ files: Record<string, { mutants: { status: string }[] }> }} */ (report);
  const statuses = Object.values(reported).flatMap(({ mutants }) => mutants.map((mutant) => mutant.status));
  const noticed = statuses.filter((text) => text === 'Killed' || text === 'Timeout').length;
  const survived = statuses.filter((text) => text === 'Survived' || text === 'NoCoverage').length;
  return { mutants: noticed + survived, noticed };
}

/** @param {Counts} counts */
function scoreOf({ mutants, noticed }) {
  return (100 * noticed) / mutants;
}

/**
 * A row of the table in README.md.
 *
 * @param {string} title
 * @param {Counts} counts
 */
function rowOf(title, counts) {
  return `| ${title} | ${counts.mutants} | ${counts.noticed} | ${scoreOf(counts).toFixed(1)}% |`;
}
