import { projects } from '@bloom/vitest-config';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: projects(import.meta.dirname),
    // By default one core stays idle, which would double the time on two cores.
    maxWorkers: '100%',
    reporters: ['default', ['json', { outputFile: '.vitest/report.json' }]],
  },
});
