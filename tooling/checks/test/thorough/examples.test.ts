import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const examples = join(import.meta.dirname, '../../../../examples');
const names = readdirSync(examples, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() && entry.name !== 'node_modules' ? [entry.name] : []));

const MAX_PROGRAM_LINES = 40;
const MAX_README_LINES = 10;

/** The output of `npm start` as a README shows it. */
const SHOWN_OUTPUT = /^```console\n\$ npm start -s\n(?<output>[^]*?)^```$/m;

function linesOf(text: string): number {
  return text.trimEnd().split('\n').length;
}

test('there are six examples', () => {
  expect(names).toHaveLength(6);
});

describe.each(names)('examples/%s', (name) => {
  const folder = join(examples, name);
  const readme = readFileSync(join(folder, 'README.md'), 'utf8');

  test('prints what its README shows', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['main.js'], { cwd: folder });
    expect(stdout).toBe(SHOWN_OUTPUT.exec(readme)?.groups?.output);
  });

  test(`has a program of at most ${MAX_PROGRAM_LINES} lines and a README of at most ${MAX_README_LINES}`, () => {
    expect(linesOf(readFileSync(join(folder, 'main.js'), 'utf8'))).toBeLessThanOrEqual(MAX_PROGRAM_LINES);
    expect(linesOf(readme)).toBeLessThanOrEqual(MAX_README_LINES);
  });
});
