import { projects, quickProjects } from '@bloom/vitest-config';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // run-tests.js sets it for the quick tests of all folders.
    projects: (process.env.BLOOM_ALL_QUICK_TESTS === 'true' ? quickProjects : projects)(import.meta.dirname),
    // By default one core stays idle, which would double the time on two cores.
    maxWorkers: '100%',
    // In CI, a transformed module serves every later project, and the thorough run after the quick one.
    experimental: { fsModuleCache: process.env.CI === 'true', fsModuleCachePath: '.vitest/modules' },
    reporters: ['default', ['json', { outputFile: '.vitest/report.json' }]],
  },
});
