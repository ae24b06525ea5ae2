import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import process from 'node:process';
import { promisify } from 'node:util';
import { documentExamples } from '@bloom/fixtures/readme';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder = '';
beforeAll(() => {
  const reports = join(root, '.vitest');
  mkdirSync(reports, { recursive: true });
  folder = mkdtempSync(join(reports, 'readme-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const examples = documentExamples(root);

test('the documents have examples', () => {
  expect(examples.length).toBeGreaterThanOrEqual(2);
});

test.each(examples)('the example at line $line of $document runs', async ({ document, line, code }) => {
  const file = join(folder, `${basename(document, '.md')}-${line}.ts`);
  writeFileSync(file, code);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--conditions=bloom-source', '--import', 'tsx', file], { cwd: folder });
  expect(stderr).toBe('');
  if (code.includes('console.log')) expect(stdout).toBe('b 2\nc 3\n');
});
