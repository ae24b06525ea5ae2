import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readmeErrorCodes, sourceErrorCodes } from '@bloom/fixtures/readme';
import { expect, test, vi } from 'vitest';

const path = join(import.meta.dirname, '../docs/errors.md');
const docs = ['explain', 'events'].map((name) => readFileSync(join(import.meta.dirname, `../docs/${name}.md`), 'utf8')).join('\n');

test("the table of errors has every code of the source, once, and no other", () => {
  // An HttpFolder passes on what HttpSource says.
  const codes = [...sourceErrorCodes(join(import.meta.dirname, '../src'))].filter((code) => !code.startsWith('BLOOM_HTTP_'));
  // The error of tables that a user of databases is most likely to meet.
  codes.push('BLOOM_BAD_CHECKSUM');
  expect(readmeErrorCodes(path).sort()).toEqual(codes.sort());
});

test.each([
  ['explain', 'database.explain', 4],
  ['onEvent', 'onEvent(event)', 6],
])('the example of %s prints what its comments say', async (_, words, lines) => {
  const example = [...docs.matchAll(/```ts\n(?<code>.*?)```/gs)].map(({ groups }) => groups!.code!).find((code) => code.includes(words))!;
  const expected = [...example.matchAll(/^\/\/ (?<line>.*)$|console\.log\(.*\); \/\/ (?<end>.*)$/gm)].map(({ groups }) => groups!.line ?? groups!.end);
  expect(expected).toHaveLength(lines);
  // Within the package, where its own name can be imported.
  const folder = mkdtempSync(join(import.meta.dirname, 'readme-'));
  const printed: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((...values: unknown[]) => void printed.push(values.join(' ')));
  try {
    const file = join(folder, 'example.ts');
    writeFileSync(file, example);
    await import(file);
  } finally {
    log.mockRestore();
    rmSync(folder, { recursive: true });
  }
  expect(printed).toEqual(expected);
});
