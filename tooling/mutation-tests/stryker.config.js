const { BLOOM_MUTATE: mutated = 'all', BLOOM_MUTATE_PART: part = '' } = process.env;

export default {
  packageManager: 'pnpm',
  plugins: [import.meta.resolve('@stryker-mutator/vitest-runner')],
  testRunner: 'vitest',
  vitest: { configFile: 'tooling/mutation-tests/vitest.config.ts', related: false },
  coverageAnalysis: 'perTest',
  // A mutant in code that runs on import would need all tests, and many tests of the larger packages prepare their data on import.
  ignoreStatic: part !== '',
  ignorePatterns: ['dist', '.turbo', '.vitest', 'tooling/benchmarks/results', '**/assembly'],
  // A timeout counts as a detected mutant.
  timeoutMS: 5000,
  timeoutFactor: 2,
  concurrency: 2,
  reporters: ['clear-text', 'progress-append-only', 'json'],
  jsonReporter: { fileName: `.stryker/${mutated}${part && `-${part}`}.json` },
  clearTextReporter: { allowColor: false, logTests: false },
  // mutate.js decides, for all parts of a package together.
  thresholds: { high: 95, low: 90, break: null },
  tempDirName: '.stryker/sandbox',
  cleanTempDir: 'always',
};
