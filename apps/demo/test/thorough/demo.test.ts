import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** The demo as `pnpm demo` runs it: `pnpm test-thorough` builds it first. */
const demo = join(import.meta.dirname, '../../dist/demo.js');

const folder = mkdtempSync(join(tmpdir(), 'bloom-demo-test-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

let report: string;

beforeAll(async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [demo], {
    env: { ...process.env, TMPDIR: folder, TEMP: folder },
  });
  expect(stderr).toBe('');
  report = stdout;
});

/** The numbers in the line that starts with `start`. */
function numbers(start: string): number[] {
  const line = report.split('\n').find((candidate) => candidate.trimStart().startsWith(start));
  expect(line, start).toBeDefined();
  return Array.from(line!.slice(line!.indexOf(start) + start.length).matchAll(/\d[\d,]*(?:\.\d+)?/g), ([text]) =>
    Number(text.replaceAll(',', '')),
  );
}

describe('the demo', () => {
  test('builds a table of at least 100,000 English words, and names the licence of the list', () => {
    const [words] = numbers('');
    expect(words).toBeGreaterThanOrEqual(100_000);
    expect(report).toMatch(/words +word-list \d+\.\d+\.\d+, MIT, Sindre Sorhus/);
  });

  test('finds all present words and no absent ones, with and without the filter', () => {
    expect(numbers('present words: found')).toEqual([20_000, 20_000]);
    expect(numbers('absent words: found')).toEqual([0, 0]);
  });

  test('makes at most a fiftieth of the reads for absent words when it uses the filter', () => {
    const [without, withFilter, factor] = numbers('absent words: block reads');
    expect(without).toBeGreaterThan(19_900);
    expect(without! / withFilter!).toBeGreaterThan(50);
    expect(factor).toBe(Math.round(without! / withFilter!));
    expect(numbers('present words: block reads')).toEqual([20_000, 20_000]);
    expect(numbers('The filter saved')).toEqual([without! - withFilter!, without!]);
  });

  test('measures a false positive rate near the theoretical one, and one read per false positive', () => {
    const [rate, passed, asked] = numbers('measured');
    const [theory] = numbers('theory');
    expect(rate).toBe(Number(((passed! / asked!) * 100).toFixed(2)));
    expect(theory).toBe(0.84);
    expect(rate! / theory!).toBeGreaterThan(0.7);
    expect(rate! / theory!).toBeLessThan(1.6);
    expect(numbers('absent words: block reads')[1]).toBe(passed);
  });

  test('shows the steps of looking up a present word and an absent one', () => {
    expect(report).toMatch(/^ {2}zebra .* filter [\d,]+: maybe +1 read +found: word [\d,]+$/m);
    expect(report).toMatch(/^ {2}zebrx .* filter [\d,]+: no +0 reads +absent$/m);
  });

  test('prints plain text when the output is not a terminal', () => {
    expect(report).not.toContain('\x1b');
    expect(report).toMatch(/^[\x20-\x7e\n]+$/);
  });

  test('deletes its table', () => {
    expect(readdirSync(folder)).toEqual([]);
  });
});
