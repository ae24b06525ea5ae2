import { projects } from '@bloom/vitest-config';
import { defineConfig } from 'vitest/config';

const { BLOOM_MUTATE: mutated = '', BLOOM_MUTATE_TESTS: tests = '' } = process.env;
// Stryker runs this from a copy of the repository.
const project = projects(process.cwd()).find(({ test }) => test?.name === `packages/${mutated}`);
if (project?.test?.dir === undefined) throw new Error(`BLOOM_MUTATE must name a package, got ${mutated}`);

// Stryker's runner overrides `dir` with undefined.
const root = project.test.dir;

export default defineConfig({
  ...project,
  root,
  test: {
    ...project.test,
    root,
    // Stryker runs tests in worker threads, which refuse V8 flags.
    execArgv: [],
    testTimeout: 120_000,
    ...(tests !== '' && { include: tests.split(',').map((name) => `test/${name}.test.ts`), exclude: [] }),
  },
});
