import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8');
const readme = read('README.md');

test("the table of errors has every code of LevelErrorCode, once, and no other", () => {
  const rows = [...read('docs/errors.md').matchAll(/^\| `(?<code>LEVEL_\w+)` \|/gm)].map(({ groups }) => groups!.code!);
  const [, type] = read('src/level-error.ts').split('export type LevelErrorCode =');
  const codes = [...type!.split(';')[0]!.matchAll(/'(?<code>LEVEL_\w+)'/g)].map(({ groups }) => groups!.code!);
  expect(codes.length).toBeGreaterThan(5);
  expect(rows.sort()).toEqual(codes.sort());
});

test("the README's table of options has every option that a level takes", () => {
  const [, table] = readme.split('| option | meaning | default |');
  const rows = [...table!.split('\n\n')[0]!.matchAll(/^\| (?<names>[^|]*) \|/gm)].flatMap(({ groups }) => groups!.names!.match(/\w+/g) ?? []);
  const source = read('src/level-options.ts');
  const passed = [...source.split('type DatabaseLevelOptions')[1]!.split('>]')[0]!.matchAll(/'(?<name>\w+)'/g)];
  const own = [...source.matchAll(/^ {2}(?<name>\w+)\?:/gm)];
  const names = [...passed, ...own].map(({ groups }) => groups!.name!);
  expect(names).toContain('filterPolicy');
  // Of writes, iterators and ranges.
  const others = ['sync', 'highWaterMarkBytes', 'fillCache', 'keyEncoding'];
  const ofAbstractLevel = ['keyEncoding', 'valueEncoding', 'createIfMissing', 'errorIfExists', 'passive'];
  expect(rows.sort()).toEqual([...names.filter((name) => !others.includes(name)), ...ofAbstractLevel].sort());
});
