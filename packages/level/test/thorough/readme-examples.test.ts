import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goldenDatabases } from '@bloom/fixtures';
import { documentExamples, type ExampleRun, runExamples } from '@bloom/fixtures/readme';
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
  runs = await runExamples(folder, examples);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('the documents have examples', () => {
  expect(examples.size).toBeGreaterThanOrEqual(4);
});

test.each([...examples.keys()])('the example %s runs', (name) => {
  const { printed, error } = runs.get(name)!;
  expect(error).toBe(undefined);
  // The first says what it prints.
  if (examples.get(name)!.includes("put('hello'")) expect(printed).toBe("{ to: 'world' }\na 1\nb 2\n");
});
