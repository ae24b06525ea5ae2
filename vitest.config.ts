import { projects } from '@bloom/vitest-config';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: projects(import.meta.dirname),
    reporters: ['default', ['json', { outputFile: '.vitest/report.json' }]],
  },
});
