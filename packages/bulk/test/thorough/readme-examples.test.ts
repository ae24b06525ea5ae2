import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  writeFileSync(join(folder, 'fetch.mjs'), FETCH_FROM_FILES);
  runs = await runExamples(folder, examples, ['./fetch.mjs']);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('the documents have examples', () => {
  expect(examples.size).toBeGreaterThanOrEqual(2);
});

test.each([...examples.keys()])('the example %s runs', (name) => {
  const { printed, error } = runs.get(name)!;
  expect(error).toBe(undefined);
  if (examples.get(name)!.includes('console.log')) expect(printed).toBe('b 2\nc 3\n');
});
