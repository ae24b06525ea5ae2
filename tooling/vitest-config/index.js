import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defaultServerConditions } from 'vite';

/** @import { TestProjectInlineConfiguration } from 'vitest/config' */

// Packages import each other's source, so tests need no build.
const conditions = ['bloom-source', ...defaultServerConditions];

/**
 * Folders where each test file has a process of its own. Elsewhere files share one, which saves a third of the time and is
 * safe because our modules keep no state. In `packages/codecs`, a codec that tests compare with keeps state; in
 * `packages/sstable`, fake timers would catch the timers of other files' connections.
 */
const ISOLATED = new Set(['packages/sstable', 'packages/codecs']);

/** A folder's slower tests, which run in `pnpm test-thorough` instead of `pnpm test`. */
const THOROUGH = 'test/thorough/**/*.test.ts';

/**
 * A project for every workspace folder that has tests, named after the folder, and another for its thorough tests.
 *
 * @param {string} root
 * @returns {TestProjectInlineConfiguration[]}
 */
export function projects(root) {
  return ['packages', 'apps', 'tooling']
    .filter((group) => existsSync(join(root, group)))
    .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`))
    .filter((folder) => existsSync(join(root, folder, 'test')))
    .flatMap((folder) => {
      const quick = project(root, folder, folder, ['test/**/*.test.ts'], [THOROUGH]);
      const hasThorough = existsSync(join(root, folder, 'test/thorough'));
      return hasThorough ? [quick, project(root, folder, `${folder} (thorough)`, [THOROUGH], [])] : [quick];
    });
}

/**
 * @param {string} root
 * @param {string} folder
 * @param {string} name
 * @param {string[]} include
 * @param {string[]} exclude
 * @returns {TestProjectInlineConfiguration}
 */
function project(root, folder, name, include, exclude) {
  return {
    root: join(root, folder),
    resolve: { conditions },
    ssr: { resolve: { conditions } },
    test: {
      name,
      include,
      exclude,
      environment: 'node',
      isolate: ISOLATED.has(folder),
      // Generous, so that tests do not fail on slow or busy machines. The hooks of some make whole databases.
      testTimeout: 300_000,
      hookTimeout: 300_000,
      // Vitest's second is not enough for a page or a server on such a machine.
      expect: { poll: { timeout: 60_000 } },
    },
  };
}
