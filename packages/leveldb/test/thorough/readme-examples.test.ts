import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goldenDatabases, realDatabases } from '@bloom/fixtures';
import { documentExamples, FETCH_FROM_FILES } from '@bloom/fixtures/readme';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Within the package, so that the examples find what they import. They run one after another in this folder. */
let folder = '';

beforeAll(() => {
  const reports = join(root, '.vitest');
  mkdirSync(reports, { recursive: true });
  folder = mkdtempSync(join(reports, 'readme-'));
  cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, join(folder, 'path/to/database'), { recursive: true });
  writeFileSync(join(folder, 'fetch.mjs'), FETCH_FROM_FILES);
  const indexedDb = realDatabases().find(({ comparator, open }) => comparator === 'idb_cmp1' && open === 'OK')!;
  cpSync(indexedDb.path, join(folder, 'https_example.org_0.indexeddb.leveldb'), { recursive: true });
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

// Those for browsers are tested there.
const examples = documentExamples(root).filter(({ code }) => !code.includes('@bloom/leveldb/opfs'));

test('the documents have examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(6);
});

test.each(examples)('the example at line $line of $document runs', async ({ document, line, code }) => {
  const file = join(folder, `${basename(document, '.md')}-${line}.ts`);
  writeFileSync(file, code);
  const { stderr } = await promisify(execFile)(process.execPath, ['--conditions=bloom-source', '--import', 'tsx', '--import', './fetch.mjs', file], { cwd: folder });
  expect(stderr).toBe('');
});
