import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defaultServerConditions } from 'vite';

/** @import { TestProjectInlineConfiguration } from 'vitest/config' */

// Packages import each other's source, so tests need no build.
const conditions = ['bloom-source', ...defaultServerConditions];

/**
 * Where each file of tests has a process of its own. Elsewhere files share one, which saves a third of the time: modules
 * keep no state here. Those of a codec that is compared with do, and where timers are faked, connections of other files
 * set some.
 */
const ISOLATED = new Set(['packages/sstable', 'packages/codecs']);

/** Where a folder's slower tests are, which `pnpm test` leaves to `pnpm test-thorough`. */
const THOROUGH = 'test/thorough/**/*.test.ts';

/**
 * A project for every workspace folder that has tests, named like it, and one for its thorough tests.
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
      // Slow machines are not failures.
      testTimeout: 60_000,
    },
  };
}
