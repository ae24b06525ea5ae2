import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { realTables } from '@bloom/fixtures';
import { readmeErrorCodes, sourceErrorCodes } from '@bloom/fixtures/readme';
import { describe, expect, test } from 'vitest';
import { ERROR_HELP } from '../src/error-help.js';
import { errorCodes, errorPages } from '../src/error-pages.js';
import { programsTable } from '../src/programs.js';
import { plainMarkdown } from '../src/repository.js';

const packages = join(import.meta.dirname, '../../../packages');

describe('the pages of errors', () => {
  const pages = errorPages();

  test('there is one for every code in the sources and in the tables of READMEs', () => {
    const inSources = readdirSync(packages).flatMap((name) => [...sourceErrorCodes(join(packages, name, 'src'))]);
    const inTables = ['sstable', 'leveldb'].flatMap((name) => readmeErrorCodes(join(packages, name, 'README.md')));
    expect(inSources.length).toBeGreaterThan(30);
    expect([...new Set([...inSources, ...inTables])].filter((code) => !pages.has(code))).toEqual([]);
  });

  test('each says when, what to do, and for which package', () => {
    for (const [code, meanings] of errorCodes()) {
      expect(meanings.length, code).toBeGreaterThan(0);
      for (const { package: name, meaning, remedy } of meanings) {
        expect([name, meaning.length > 10, remedy.length > 5], code).toEqual([expect.stringMatching(/^@bloom\//), true, true]);
        // A row of a table can refer to the one above it; a page of its own cannot.
        expect(remedy, code).not.toMatch(/\b(as before|above|below)\b/);
      }
    }
  });

  test('the check and the code to fix it are in the section of their package', () => {
    for (const [name, codes] of Object.entries(ERROR_HELP)) {
      for (const [code, { check, fix }] of Object.entries(codes)) {
        const [, section = ''] = pages.get(code)!.split(`## In ${name}\n`);
        const [own = ''] = section.split('\n## ');
        expect([own.includes(check ?? ''), own.includes(fix ?? '')], `${name} ${code}`).toEqual([true, true]);
      }
    }
    // Parts that overlap are not a damaged table.
    expect(pages.get('BLOOM_OVERLAP')!.split('## In @bloom/sstable')[0]).not.toContain('bloom verify');
  });
});

test('the table of programs has each table once, and no order but that of their own databases', () => {
  const rows = programsTable().trim().split('\n').slice(2).map((row) => row.slice(2, -2).split(' | '));
  expect(rows.reduce((sum, [, , tables = '']) => sum + (Number.parseInt(tables, 10) || 0), 0)).toBe(realTables().length);
  const ofDfindexeddb = rows.filter(([, repository = '']) => repository.includes('dfindexeddb'));
  expect(ofDfindexeddb.map(([program, , tables, , order]) => [program, tables, order])).toEqual([
    ['Chromium’s IndexedDB', 'only a log', '`idb_cmp1`'],
    ['LevelDB, for the tests of a reader', '3', 'bytewise'],
  ]);
});

test('text for pages has no tags or braces outside of code', () => {
  expect(plainMarkdown('a <b> `<c>` {{d}}\n```\n<e>\n```\n')).toBe('a &lt;b> `<c>` &#123;&#123;d}}\n```\n<e>\n```\n');
});
