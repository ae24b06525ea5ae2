// Mutation testing of one package after another: `npx pnpm@10 --filter @bloom/mutation-tests mutate [PACKAGE…]`.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/**
 * What is mutated, by package: the hash, policies, the filter block, and the formats of a table. The contract of policies
 * is a test itself, and has broken policies for tests.
 *
 * @type {Record<string, string[]>}
 */
const mutated = {
  hash: ['packages/hash/src/**/*.ts'],
  policy: ['packages/policy/src/**/*.ts', '!packages/policy/src/*.wasm.ts', '!packages/policy/src/contract.ts', '!packages/policy/src/contract/**'],
  'filter-block': ['packages/filter-block/src/**/*.ts'],
  sstable: ['packages/sstable/src/format/**/*.ts'],
};

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(mutated);
for (const name of names) {
  const files = mutated[name];
  if (files === undefined) throw new Error(`there is nothing to mutate in ${name}; known: ${Object.keys(mutated).join(', ')}`);
  const { status } = spawnSync('stryker', ['run', 'tooling/mutation-tests/stryker.config.js', '--mutate', files.join(',')], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, BLOOM_MUTATE: name },
    stdio: 'inherit',
  });
  if (status !== 0) process.exitCode = 1;
}
