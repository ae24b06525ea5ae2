// The committed pages are what `npx pnpm@10 bench --page` writes from the stored runs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { pagesOf } from '../src/results.js';

const packageFolder = join(import.meta.dirname, '..');
const pages = pagesOf(packageFolder);
const committed = (path: string): string => readFileSync(join(packageFolder, '../..', path), 'utf8');

describe('the pages of figures', () => {
  test.each([...pages])('%s shows the stored runs', (path, text) => {
    expect(text).toBe(committed(path));
  });

  test('the worst row of the page "Speed" comes first', () => {
    const ratios = [...committed('RESULTS.md').matchAll(/^\| .* \| .* \| (?:.* to )?(?<greatest>[\d.]+) *\|$/gm)].map(({ groups }) => Number(groups!.greatest));
    expect(ratios.length).toBeGreaterThan(20);
    expect(ratios).toEqual([...ratios].sort((a, b) => b - a));
    expect(ratios[0]).toBeGreaterThan(1);
  });
});
