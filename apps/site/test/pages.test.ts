import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readmeErrorCodes, sourceErrorCodes } from '@bloom/fixtures/readme';
import { describe, expect, test } from 'vitest';
import { errorCodes, errorPages } from '../src/error-pages.js';
import { plainMarkdown } from '../src/repository.js';

const packages = join(import.meta.dirname, '../../../packages');

describe('the pages of errors', () => {
  test('there is one for every code in the sources and in the tables of READMEs', () => {
    const inSources = readdirSync(packages).flatMap((name) => [...sourceErrorCodes(join(packages, name, 'src'))]);
    const inTables = ['sstable', 'leveldb'].flatMap((name) => readmeErrorCodes(join(packages, name, 'README.md')));
    const pages = errorPages();
    expect(inSources.length).toBeGreaterThan(30);
    expect([...new Set([...inSources, ...inTables])].filter((code) => !pages.has(code))).toEqual([]);
  });

  test('each says when, and for which package', () => {
    for (const [code, meanings] of errorCodes()) {
      expect(meanings.length, code).toBeGreaterThan(0);
      for (const { package: name, meaning } of meanings) expect([name, meaning.length > 10], code).toEqual([expect.stringMatching(/^@bloom\//), true]);
    }
  });
});

test('text for pages has no tags or braces outside of code', () => {
  expect(plainMarkdown('a <b> `<c>` {{d}}\n```\n<e>\n```\n')).toBe('a &lt;b> `<c>` &#123;&#123;d}}\n```\n<e>\n```\n');
});
