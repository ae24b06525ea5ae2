import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defaultServerConditions } from 'vite';

/** @import { TestProjectInlineConfiguration } from 'vitest/config' */

// Packages import each other's source, so tests need no build.
const conditions = ['bloom-source', ...defaultServerConditions];

/**
 * Files of a folder that run in a process of their own. All others share one process per worker and its modules, which is faster. What these keep
 * are caches, mostly of compiled kernels and of code loaded on demand, what the host allows, and lists of files and locks that are open. Tests that
 * need them fresh use `vi.resetModules`. A test that forgets to load such code may pass after another that loaded it, and fail only when run alone.
 *
 * Of `packages/level`, `turns` replaces the clock before the packages take it, `fake-timers` replaces timers that other files' connections wait
 * for, and `many-contexts` sees the calls of all code in its process. `http-patience` and `http-retries` have fake timers too. That of
 * `packages/web-storage` measures the most memory that its process had, and those of `packages/leveldb` have a file system that fails, one
 * without descriptors, another limit of MANIFESTs, a file system whose syncs wait, another clock, and the native code that their process loaded.
 * That of `packages/bytes` and `internal-key` have buffers that can be resized: once V8 11.3, of Node 20, has optimized code for these, it takes
 * detached arrays for arrays with bytes.
 *
 * @type {Readonly<Record<string, string[]>>}
 */
const ISOLATED_FILES = {
  'packages/bytes': ['test/resizable-buffers.test.ts'],
  'packages/level': ['test/fake-timers.test.ts', 'test/thorough/many-contexts.test.ts', 'test/thorough/turns.test.ts'],
  'packages/leveldb': ['test/host-locks.test.ts', 'test/node-files.test.ts', 'test/thorough/failing-system.test.ts', 'test/thorough/manifest-room.test.ts', 'test/thorough/time-slices.test.ts'],
  'packages/web-storage': ['test/thorough/decoding-memory.test.ts'],
  'packages/sstable': ['test/http-patience.test.ts', 'test/http-retries.test.ts', 'test/internal-key.test.ts'],
};

const QUICK = 'test/**/*.test.ts';
/** The slower tests of a folder, which `pnpm test-thorough` runs instead of `pnpm test`. */
const THOROUGH = 'test/thorough/**/*.test.ts';

/**
 * The workers keep all cores busy, so threads of V8 that collect garbage beside them only add work: without this flag, the quick suite needs a tenth
 * more processor time.
 */
const V8_FLAGS = ['--single-threaded-gc'];

/** Thorough tests that depend on the operating system or the version of Node.js. They run wherever the quick ones do. */
export const HOST_TESTS = [
  'packages/leveldb/test/thorough/process-end.test.ts',
  'packages/leveldb/test/thorough/left-open.test.ts',
  'packages/leveldb/test/thorough/without-locks.test.ts',
  'packages/leveldb/test/thorough/hostile-folders.test.ts',
  'packages/leveldb/test/thorough/long-keys.test.ts',
  'packages/level/test/thorough/threads.test.ts',
  'packages/level/test/thorough/reopened-threads.test.ts',
  'packages/level/test/thorough/thread-guest.test.ts',
  'apps/demo/test/thorough/demo.test.ts',
  'tooling/checks/test/thorough/examples.test.ts',
];

/**
 * A project for every workspace folder that has tests, named after the folder, and others for its isolated and its thorough tests.
 *
 * @param {string} root
 * @returns {TestProjectInlineConfiguration[]}
 */
export function projects(root) {
  return foldersWithTests(root).flatMap((folder) => {
    const files = ISOLATED_FILES[folder] ?? [];
    const [quickFiles, thoroughFiles] = [files.filter((file) => !isThorough(file)), files.filter(isThorough)];
    const quick = project(root, folder, folder, [QUICK], [THOROUGH, ...files], false);
    const isolated = project(root, folder, `${folder} (isolated)`, quickFiles, [], true);
    const thorough = project(root, folder, `${folder} (thorough)`, [THOROUGH], thoroughFiles, false);
    const isolatedThorough = project(root, folder, `${folder} (isolated) (thorough)`, thoroughFiles, [], true);
    return [
      quick,
      ...(quickFiles.length > 0 ? [isolated] : []),
      ...(existsSync(join(root, folder, 'test/thorough')) ? [thorough] : []),
      ...(thoroughFiles.length > 0 ? [isolatedThorough] : []),
    ];
  });
}

/**
 * The quick tests of all folders as two projects. Their processes load each module once; those of a project for each folder together need twice
 * the time for it.
 *
 * @param {string} root
 * @returns {TestProjectInlineConfiguration[]}
 */
export function quickProjects(root) {
  const folders = foldersWithTests(root);
  const isolated = Object.entries(ISOLATED_FILES).flatMap(([folder, files]) => files.filter((file) => !isThorough(file)).map((file) => `${folder}/${file}`));
  const thorough = folders.map((folder) => `${folder}/${THOROUGH}`);
  return [
    project(root, '', 'quick', folders.map((folder) => `${folder}/${QUICK}`), [...thorough, ...isolated], false),
    project(root, '', 'quick (isolated)', isolated, [], true),
  ];
}

/** @param {string} file relative to its workspace folder. */
function isThorough(file) {
  return file.startsWith('test/thorough/');
}

/** @param {string} root */
function foldersWithTests(root) {
  return ['packages', 'apps', 'tooling']
    .filter((group) => existsSync(join(root, group)))
    .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`))
    .filter((folder) => existsSync(join(root, folder, 'test')));
}

/**
 * @param {string} root
 * @param {string} folder
 * @param {string} name
 * @param {string[]} include
 * @param {string[]} exclude
 * @param {boolean} isolate
 * @returns {TestProjectInlineConfiguration}
 */
function project(root, folder, name, include, exclude, isolate) {
  return {
    // A transformed module is kept for a root, and the projects of all packages that import it share it.
    root,
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      dir: join(root, folder),
      include,
      exclude,
      environment: 'node',
      setupFiles: [join(import.meta.dirname, 'equal-bytes.js')],
      isolate,
      execArgv: V8_FLAGS,
      // Generous, so that tests do not fail on slow or busy machines. Some hooks create whole databases.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      // Vitest's default of one second is too short for a page or a server on such a machine.
      expect: { poll: { timeout: 60_000 } },
    },
  };
}
