import { join } from 'node:path';
import { projects } from '@bloom/vitest-config';
import { defineConfig } from 'vitest/config';

const mutated = process.env.BLOOM_MUTATE ?? '';
// Stryker runs this from a copy of the repository.
const root = join(process.cwd(), 'packages', mutated);
const project = projects(process.cwd()).find((other) => other.root === root);
if (project === undefined) throw new Error(`BLOOM_MUTATE must name a package, got ${mutated}`);

/** Of a large package, the tests of what is mutated: all of them would take minutes for each mutant. */
const include: Record<string, string[]> = {
  policy: ['bloom-*', 'build-filter', 'filter-buffer', 'key-buffer', 'false-positive-rate'].map((name) => `test/${name}.test.ts`),
  sstable: ['block*', 'footer', 'index-block', 'metaindex-block', 'stored-block', 'comparator', 'vectors', 'golden', 'table-builder', 'options'].map(
    (name) => `test/${name}.test.ts`,
  ),
};

export default defineConfig({
  ...project,
  test: { ...project.test, root, testTimeout: 20_000, ...(mutated in include && { include: include[mutated] }) },
});
