import { projects } from '@bloom/vitest-config';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: projects(import.meta.dirname),
    // By default one core is left idle: half of the time, where there are two.
    maxWorkers: '100%',
    reporters: ['default', ['json', { outputFile: '.vitest/report.json' }]],
  },
});
