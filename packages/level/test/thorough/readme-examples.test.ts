import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { goldenDatabases } from '@bloom/fixtures';
import { documentExamples } from '@bloom/fixtures/readme';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Within the package, so that the examples find what they import. They run one after another in this folder. */
let folder = '';

beforeAll(() => {
  const reports = join(root, '.vitest');
  mkdirSync(reports, { recursive: true });
  folder = mkdtempSync(join(reports, 'readme-'));
  cpSync(goldenDatabases().find(({ name }) => name === 'levels')!.path, join(folder, 'path/to/database'), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true }));

const examples = documentExamples(root);

test('the documents have examples', () => {
  expect(examples).toHaveLength(4);
});

test.each(examples)('the example at line $line of $document runs', async ({ document, line, code }) => {
  const file = join(folder, `${basename(document, '.md')}-${line}.ts`);
  writeFileSync(file, code);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--conditions=bloom-source', '--import', 'tsx', file], { cwd: folder });
  expect(stderr).toBe('');
  // The first says what it prints.
  if (code.includes('words.db')) expect(stdout).toBe("{ to: 'world' }\na 1\nb 2\n");
});
