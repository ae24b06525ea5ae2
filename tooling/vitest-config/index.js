import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defaultServerConditions } from 'vite';

/** @import { TestProjectInlineConfiguration } from 'vitest/config' */

// Packages import each other's source, so tests need no build.
const conditions = ['bloom-source', ...defaultServerConditions];

/**
 * One project for every workspace folder that has tests.
 *
 * @param {string} root
 * @returns {TestProjectInlineConfiguration[]}
 */
export function projects(root) {
  return ['packages', 'apps', 'tooling']
    .filter((group) => existsSync(join(root, group)))
    .flatMap((group) => readdirSync(join(root, group)).map((name) => `${group}/${name}`))
    .filter((folder) => existsSync(join(root, folder, 'test')))
    .map((folder) => ({
      root: join(root, folder),
      resolve: { conditions },
      ssr: { resolve: { conditions } },
      test: {
        name: folder,
        include: ['test/**/*.test.ts'],
        environment: 'node',
        // Slow machines are not failures.
        testTimeout: 60_000,
      },
    }));
}
