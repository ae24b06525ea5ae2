import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goldenDatabases, realDatabases } from '@bloom/fixtures';
import { documentExamples, type ExampleRun, FETCH_FROM_FILES, runExamples } from '@bloom/fixtures/readme';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Within the package, so that the examples find what they import. They run one after another in this folder. */
let folder = '';

// Those for browsers are tested there.
const examples = new Map(documentExamples(root).filter(({ code }) => !code.includes('@bloom/leveldb/opfs')).map(({ document, line, code }) => [`${basename(document, '.md')}-${line}`, code] as const));
let runs = new Map<string, ExampleRun>();

beforeAll(async () => {
  const reports = join(root, '.vitest');
  mkdirSync(reports, { recursive: true });
  folder = mkdtempSync(join(reports, 'readme-'));
  cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, join(folder, 'path/to/database'), { recursive: true });
  writeFileSync(join(folder, 'fetch.mjs'), FETCH_FROM_FILES);
  const indexedDb = realDatabases().find(({ comparator, open }) => comparator === 'idb_cmp1' && open === 'OK')!;
  cpSync(indexedDb.path, join(folder, 'https_example.org_0.indexeddb.leveldb'), { recursive: true });
  runs = await runExamples(folder, examples, ['./fetch.mjs']);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('the documents have examples', () => {
  expect(examples.size).toBeGreaterThanOrEqual(8);
});

test.each([...examples.keys()])('the example %s runs', (name) => {
  expect(runs.get(name)!.error).toBe(undefined);
});
