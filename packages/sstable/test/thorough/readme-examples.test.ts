import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goldenDatabases } from '@bloom/fixtures';
import { documentExamples, type ExampleRun, FETCH_FROM_FILES, runExamples } from '@bloom/fixtures/readme';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Within the package, so that the examples find what they import. They run one after another in this folder. */
let folder = '';

const examples = new Map(documentExamples(root).map(({ document, line, code }) => [`${basename(document, '.md')}-${line}`, code] as const));
let runs = new Map<string, ExampleRun>();

beforeAll(async () => {
  const reports = join(root, '.vitest');
  mkdirSync(reports, { recursive: true });
  folder = mkdtempSync(join(reports, 'readme-'));
  cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, join(folder, 'path/to/database'), { recursive: true });
  writeFileSync(join(folder, 'fetch.mjs'), FETCH_FROM_FILES);
  // A package that uses this one, and is none of its dependencies.
  mkdirSync(join(folder, 'node_modules/@bloom'), { recursive: true });
  symlinkSync(join(root, '../policy-blocked'), join(folder, 'node_modules/@bloom/policy-blocked'));
  runs = await runExamples(folder, examples, ['./fetch.mjs']);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('the documents have examples', () => {
  expect(examples.size).toBeGreaterThanOrEqual(6);
});

test.each([...examples.keys()])('the example %s runs', (name) => {
  expect(runs.get(name)!.error).toBe(undefined);
});
