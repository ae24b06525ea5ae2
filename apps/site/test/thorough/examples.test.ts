// Runs each example of the site's guides, and of the READMEs of packages that have no such test of their own, as they are written.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { goldenDatabases, realDatabases, realTables } from '@bloom/fixtures';
import { type ExampleRun, FETCH_FROM_FILES, readmeExamples, runExamples } from '@bloom/fixtures/readme';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ERROR_HELP } from '../../src/error-help.js';

const site = join(import.meta.dirname, '../..');
const packages = join(site, '../../packages');
let folder = '';
let runs = new Map<string, ExampleRun>();

const guides = readdirSync(join(site, 'pages/guide')).map((name) => join(site, 'pages/guide', name));
/** Packages whose own tests run their READMEs. */
const TESTED_THEMSELVES = ['bulk', 'level', 'leveldb', 'sstable'];
/** Their READMEs have parts of programs; a test compares the policy with one that is tested, and `package-check` runs the example as it is copied. */
const IN_PARTS = ['policy', 'example-trailing-space-policy'];
const readmes = [
  join(site, '../../README.md'),
  ...readdirSync(packages).filter((name) => ![...TESTED_THEMSELVES, ...IN_PARTS].includes(name)).map((name) => join(packages, name, 'README.md')),
];
/** The code on the pages of errors. Codes share it. */
const fixes = [...new Set(Object.values(ERROR_HELP).flatMap((codes) => Object.values(codes)).flatMap(({ fix }) => (fix === undefined ? [] : [fix])))].map((code, i) => ({ name: 'error', line: i + 1, code }));
// The README is first, so that no other example has changed the database that it shows.
const examples = [...readmes, ...guides].flatMap((path) => {
  const name = path === readmes[0] ? 'README' : path.endsWith('README.md') ? basename(dirname(path)) : basename(path, '.md');
  return readmeExamples(path).map(({ line, code }) => ({ name, line, code }));
}).concat(fixes);

beforeAll(async () => {
  const reports = join(site, '.vitest');
  mkdirSync(reports, { recursive: true });
  folder = mkdtempSync(join(reports, 'examples-'));
  const copies = [
    [goldenDatabases().find(({ name }) => name === 'levels')!.path, 'path/to/database'],
    [realDatabases().find(({ name }) => name.startsWith('dfindexeddb/chrome'))!.path, 'https_example.org_0.indexeddb.leveldb'],
    [realDatabases().find(({ name }) => name.startsWith('dfindexeddb/chrome'))!.path, 'IndexedDB/https_example.com_0.indexeddb.leveldb'],
    [realDatabases().find(({ name }) => name.startsWith('bedrock-provider'))!.path, 'world/db'],
    [realTables().find(({ file }) => file.endsWith('.index'))!.path, 'variables.index'],
  ] as const;
  for (const [from, to] of copies) cpSync(from, join(folder, to), { recursive: true });
  writeFileSync(join(folder, 'fetch.mjs'), FETCH_FROM_FILES);
  const codes = examples.map(({ name, line, code }) => [`${name}-${line}`, code] as const);
  runs = await runExamples(folder, new Map(codes), ['./fetch.mjs']);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

test('there are examples', () => {
  expect(examples.length).toBeGreaterThan(25);
});

test.each(TESTED_THEMSELVES)('%s has a test that runs its README', (name) => {
  expect(existsSync(join(packages, name, 'test/thorough/readme-examples.test.ts'))).toBe(true);
});

test('lines of examples in guides are seen whole beside the outline', () => {
  const long = guides.flatMap((path) => readmeExamples(path).flatMap(({ code }) => code.split('\n').filter((line) => line.length > 82)));
  expect(long).toEqual([]);
});

test.each(examples)('$name, line $line', ({ name, line, code }) => {
  const { printed: stdout, error } = runs.get(`${name}-${line}`)!;
  expect(error).toBe(undefined);
  // `console.log(…); // what it prints`, where that is a literal.
  const shown = [...code.matchAll(/console\.log\(.*\); \/\/ (?<printed>undefined|true|false|\d+|[a-z]+|about [a-z]+|the same [a-z ]+|\{ state.*|\[ '.*)$/gm)].map(({ groups }) => groups!.printed!);
  expect(stdout.split('\n')).toEqual(expect.arrayContaining(shown));
  // In the README, each comment behind `console.log` has all that is printed, and perhaps an explanation after a colon. An object after
  // "for example:" stands for any other.
  const all = [...code.matchAll(/console\.log\(.*\); \/\/ (?<printed>.+?)(?:: the .*)?$/gm)].flatMap(({ groups }) => groups!.printed!.split(', then '));
  const sample = /^for example: (?<key>.+) \{ .* \}$/.exec(all.join('\n'))?.groups?.key;
  if (sample !== undefined) expect(stdout.startsWith(`${sample} {`) && stdout.endsWith('}\n')).toBe(true);
  else if (name === 'README') expect(stdout).toBe(all.map((line) => `${line}\n`).join(''));
});
