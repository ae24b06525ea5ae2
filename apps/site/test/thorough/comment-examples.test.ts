// Type-checks each example in the doc comments of the packages as a strict program would see it, and runs those that need only Node and
// files. `STAND_INS` has what stands for the reader's own values.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataPath, goldenDatabases, realDatabases } from '@bloom/fixtures';
import { type ExampleRun, FETCH_FROM_FILES, runExamples } from '@bloom/fixtures/readme';
import ts from 'typescript';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commentExamples, type Exports, programOf, type StandIns } from '../comment-examples.js';

const site = join(import.meta.dirname, '../..');
const packages = join(site, '../../packages');

/** What examples use without declaring it. A name for one class or function is written `class.name`. */
const STAND_INS: StandIns = {
  utf8: 'const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);',
  decoder: 'const decoder = new TextDecoder();',
  keys: "const keys: Uint8Array[] = [utf8('apple'), utf8('pear')];",
  words: "const words = ['apple', 'pear'];",
  entries: "const entries: [string, string][] = [['apple', 'red'], ['pear', 'green']];",
  key: "const key = 'a key';",
  value: "const value = 'a value';",
  filter: 'const filter = buildFilter(new BloomFilterPolicy(10), keys.slice(0, 1));',
  to: 'const to = new Uint8Array(32);',
  'RangeCopier.keys': 'const keys = new Uint8Array(32);',

  bytes: "const bytes = readFileSync('words.ldb');",
  source: "const source = await FileSource.open('words.ldb');",
  sources: 'const sources = [source];',
  sink: 'const sink = new MemorySink();',
  table: 'const table = await Table.open(source);',
  'SyncTable.table': "const table = openTableSync('words.ldb');",
  index: 'const index = { add(..._: [Uint8Array, Uint8Array]): void {} };',
  contents: "const contents = (() => { const builder = new FilterBlockBuilder(new BloomFilterPolicy()); builder.startBlock(0); builder.addKey(utf8('hello')); return builder.finish(); })();",
  blockOffset: 'const blockOffset = 0;',

  folder: "const folder = new NodeFolder('path/to/database');",
  'idbFilterPolicyOf.folder': "const folder = new WritableNodeFolder('https_example.org_0.indexeddb.leveldb');",
  'PrefixFilterPolicy.folder': 'const folder = new WritableMemoryFolder();',
  'EntryDecoder.folder': "const folder = new NodeFolder('https_example.org_0.indexeddb.leveldb');",
  'EntryDecoder.reader': 'const reader = await DatabaseReader.open(folder, { comparators: [idbComparator], filterPolicies: [idbFilterPolicy] });',
  database: 'const database = await Database.open(new WritableMemoryFolder());',
  'SyncDatabaseReader.database': "const database = SyncDatabaseReader.open(new SyncNodeFolder('path/to/database'));",
  cursor: 'const cursor = database.cursor();',
  files: "const files = await (async () => { const folder = new WritableMemoryFolder(); const database = await Database.open(folder); await database.put('a', '1'); await database.close(); return folder.files(); })();",
  current: "const current = files.get('CURRENT')!;",
  manifest: "const manifest = files.get('MANIFEST-000002')!;",
  log: "const log = files.get('000003.log')!;",
  record: "const record = new WriteBatch().put('a', '1').delete('b').encode(1n);",
  order: 'const order = { ...bytewiseComparator, name: "example.Order" };',
  chunks: "const chunks = [readFileSync('000004.log')];",
  fd: "const fd = openSync('new.log', 'w');",
  readFileSync: "import { readFileSync } from 'node:fs';",
  openSync: "import { openSync } from 'node:fs';",
  writeSync: "import { writeSync } from 'node:fs';",

  save: 'const save = (_: { readonly bytes: Uint8Array }): Promise<void> => Promise.resolve();',
  credentials: "const credentials = { accessKeyId: 'ID', secretAccessKey: 'SECRET' };",
  MyPolicy: "class MyPolicy extends BloomFilterPolicy {}",
  MyFolder: 'class MyFolder extends WritableMemoryFolder {}',
  myComparator: 'const myComparator = bytewiseComparator;',

  // Declared without a value: their examples do not run.
  input: 'declare const input: HTMLInputElement;',
  env: 'declare const env: { readonly BUCKET: R2BucketLike };',
  showDirectoryPicker: 'declare function showDirectoryPicker(): Promise<FileSystemDirectoryHandle>;',
};

/** Classes and functions that need a browser or a worker. */
const ELSEWHERE = ['OpfsFolder', 'WritableOpfsFolder', 'serveLevels'];

/** What comments say of results in other words than a literal. */
const PROSE: readonly string[] = [
  "'value', 'deletion', 'absent' or 'failed'",
  'a copy',
  'as it was before',
  'dd5fb37a 0300 01 666f6f',
  'one request, or, for most absent keys, none',
  'the incomplete record at the end, if there is one',
  'to begins with 2 and 3',
  'up to the first slash',
  "{ kind: 'value', key, sequence: 17n, value }",
];

const golden = goldenDatabases().find(({ name }) => name === 'levels')!.path;
const indexedDb = realDatabases().find(({ name }) => name.startsWith('dfindexeddb/chrome'))!.path;
/** What is in the folder of each example that has the name in its code. */
const FILES: readonly (readonly [name: string, from: string])[] = [
  ['path/to/database', golden],
  ['database', golden],
  ['https_example.org_0.indexeddb.leveldb', indexedDb],
  ['https_example.com_0.indexeddb.leveldb', indexedDb],
  ['words.ldb', dataPath('golden/sequential-bits10.ldb')],
  ['old.ldb', dataPath('golden/sequential-bits10.ldb')],
  ['000005.ldb', join(golden, '000005.ldb')],
  ['000004.log', join(golden, '000010.log')],
  ['world/db', realDatabases().find(({ name }) => name.startsWith('bedrock-provider'))!.path],
];

/** Defines `claim`, which the examples call with their results. */
const CLAIM = `
import { inspect } from 'node:util';
import { claimHolds } from ${JSON.stringify(join(site, 'test/comment-examples.ts'))};
globalThis.claim = (comment, value) => {
  const holds = claimHolds(comment, value);
  if (holds === undefined) process.stdout.write('no literal: ' + comment + '\\n');
  if (holds === false) throw new Error('the comment says ' + comment + ', but it is ' + inspect(value));
};
`;

/** A module that an example names. */
const ORDER = `
import { bytewiseComparator } from '@bloom/sstable';
export const threadPlugins = () => ({ comparators: [{ ...bytewiseComparator, name: 'example.Order' }] });
`;

/** The exports of all entry points. */
function exportsOfPackages(program: ts.Program, entryPoints: ReadonlyMap<string, string>): Exports {
  const checker = program.getTypeChecker();
  const exportsOf = new Map<string, string[]>();
  for (const [entryPoint, file] of entryPoints) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    for (const { name } of checker.getExportsOfModule(module)) exportsOf.set(name, [...(exportsOf.get(name) ?? []), entryPoint]);
  }
  return exportsOf;
}

/** The source of each entry point, those for other packages of the repository last. */
function entryPointFiles(): Map<string, string> {
  const files = readdirSync(packages).flatMap((name) => {
    const { exports } = JSON.parse(readFileSync(join(packages, name, 'package.json'), 'utf8')) as { exports: Record<string, { 'bloom-source'?: string } | string> };
    return Object.entries(exports).flatMap(([path, conditions]) => {
      const source = typeof conditions === 'string' ? undefined : conditions['bloom-source'];
      return source === undefined ? [] : [[`@bloom/${name}${path.slice(1)}`, join(packages, name, source)] as const];
    });
  });
  const isInternal = ([entryPoint]: readonly [string, string]): number => (entryPoint.endsWith('/internal') ? 1 : 0);
  return new Map(files.sort((a, b) => isInternal(a) - isInternal(b)));
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.Preserve,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  customConditions: ['bloom-source'],
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts', 'lib.dom.asynciterable.d.ts'],
  types: ['node'],
  typeRoots: [join(site, 'node_modules/@types')],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

const examples = commentExamples(packages).map((example) => ({ ...example, name: `${example.file.replace(/\/src\/|\//g, '-').replace(/\.ts$/, '')}-${example.line}` }));
/** Within the site, so that the examples find what they import. */
let folder = '';
let problems = new Map<string, readonly string[]>();
let runs = new Map<string, ExampleRun>();

beforeAll(async () => {
  const reports = join(site, '.vitest');
  mkdirSync(reports, { recursive: true });
  folder = mkdtempSync(join(reports, 'comments-'));
  const entryPoints = entryPointFiles();
  const ofPackages = ts.createProgram([...entryPoints.values()], OPTIONS);
  const exportsOf = exportsOfPackages(ofPackages, entryPoints);
  const programs = new Map(examples.map((example) => [example, programOf(example, exportsOf, STAND_INS)] as const));
  for (const [{ name }, { code }] of programs) writeFileSync(join(folder, `${name}.ts`), code);
  problems = problemsOf([...programs.keys()].map(({ name }) => name), ofPackages);
  const runnable = [...programs].filter(([{ subject }, { isRunnable }]) => isRunnable && !ELSEWHERE.includes(subject));
  writeFileSync(join(folder, 'fetch.mjs'), FETCH_FROM_FILES);
  writeFileSync(join(folder, 'claim.mjs'), CLAIM);
  writeFileSync(join(folder, 'order.js'), ORDER);
  for (const [{ name }, { code }] of runnable) prepare(join(folder, name), code);
  runs = await runExamples(folder, new Map(runnable.map(([{ name }, { code }]) => [name, `process.chdir('${join(folder, name)}');\n${code}`])), ['./fetch.mjs', './claim.mjs']);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** What the compiler says of each example. */
function problemsOf(names: readonly string[], before: ts.Program): Map<string, string[]> {
  const fileOf = (name: string): string => join(folder, `${name}.ts`);
  const program = ts.createProgram(names.map(fileOf), OPTIONS, undefined, before);
  return new Map(
    names.map((name) => {
      const file = program.getSourceFile(fileOf(name))!;
      const found = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)];
      return [name, found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))];
    }),
  );
}

/** Puts the files there that an example reads. */
function prepare(own: string, code: string): void {
  mkdirSync(own);
  for (const [name, from] of FILES) if (code.includes(`${name}'`) || code.includes(`${name}/'`)) cpSync(from, join(own, name), { recursive: true });
}

test('there are examples, and most of them run', () => {
  expect(examples.length).toBeGreaterThan(100);
  expect(runs.size).toBeGreaterThan(examples.length * 0.8);
});

test('every example is found', () => {
  const marks = readdirSync(packages).flatMap((name) =>
    readdirSync(join(packages, name, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => readFileSync(join(packages, name, 'src', file), 'utf8').match(/@example\b/g) ?? []),
  );
  expect(examples).toHaveLength(marks.length);
});

test.each(examples)('$file, line $line', ({ name }) => {
  expect(problems.get(name)).toEqual([]);
  expect(runs.get(name)?.error).toBe(undefined);
});

test('what comments say of results is a literal, or one of the known texts', () => {
  const unknown = [...runs.values()].flatMap(({ printed }) => [...printed.matchAll(/^no literal: (?<comment>.*)$/gm)].map(({ groups }) => groups!.comment!));
  expect([...new Set(unknown)].sort()).toEqual([...PROSE].sort());
});
