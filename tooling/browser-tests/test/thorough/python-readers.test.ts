/**
 * The same records as two readers in Python give, dfindexeddb and chromium-reader, but for the differences in the table below: each has
 * its cause, which was found in the reader's source. A difference without a cause fails, and so does a cause that is never seen.
 *
 * chromium-reader's class for IndexedDB finds no record, so that its decoder of values is compared too, with the records of dfindexeddb.
 * ccl-chrome-indexeddb 0.1.1 is left out: it prints the entries of a table as they are stored, and decodes none.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { dataPath } from '@bloom/fixtures';
import { NodeFolder } from '@bloom/leveldb/node';
import { storedItems, storedRecords, type StoredRecordVersion, storedSessionItems } from '@bloom/web-storage';
import { NodeBlobFolder } from '@bloom/web-storage/node';
import { findChromium } from '../../src/chromium.js';
import { comparable, type Comparable } from '../../src/comparable-value.js';
import { headlessRun } from '../../src/headless-run.js';
import { bundledForOld } from '../../src/origin.js';
import { installPythonReaders, type PythonLine, type PythonReader, readWithPython } from '../../src/python-readers.js';

/** What is compared: forms as JSON. */
interface Pair {
  readonly key: string;
  readonly value: string;
  /** The value without the escapes of forms that are names of Maps. */
  readonly text: string;
  /** Why this repository's reader has no value. */
  readonly ownError: string | undefined;
  /** Undefined where the other reader has no such record. */
  readonly other: PythonLine | undefined;
}

interface Difference {
  readonly reader: PythonReader;
  /** What the other reader does, and why that is not what was stored. */
  readonly cause: string;
  readonly explains: (pair: Pair) => boolean;
}

const errorOf = ({ other }: Pair): string => other?.error ?? '';
const valueOf = ({ other }: Pair): string => (other?.value === undefined ? '' : JSON.stringify(other.value));
const surrogate = /\\ud[89a-f]/u;
const strangeDate = ({ text }: Pair): boolean => /\["date","(NaN|-?\d{15,})"\]/u.test(text);

/** Whether chromium-reader raises because it reads what is no tag as one. */
const isLost = (pair: Pair): boolean => /^(V8Error|UnicodeDecodeError: 'utf-8'|BlinkError)/u.test(errorOf(pair));

/** Without whole numbers: what is left is the same where only BigInts are wrong. */
const withoutWholes = (value: string): string => value.replaceAll(/"whole\\*","-?\d+/gu, '"whole');

const DIFFERENCES: readonly Difference[] = [
  {
    reader: 'dfindexeddb',
    cause: 'refuses V8’s version 16, which Chromium has written since 2025: its header reads up to version 15',
    explains: (pair) => errorOf(pair) === 'ParserError: Unsupported header',
  },
  {
    reader: 'dfindexeddb',
    cause: 'raises for a string with half of a surrogate pair, which JavaScript allows: it decodes strictly',
    explains: (pair) => /^UnicodeDecodeError: 'utf-16-[bl]e'/u.test(errorOf(pair)) && surrogate.test(pair.key + pair.value),
  },
  {
    reader: 'dfindexeddb',
    cause: 'does not implement errors',
    explains: (pair) => errorOf(pair) === 'NotImplementedError: ValueDeserializer.ReadJSError' && pair.text.includes('["error"]'),
  },
  {
    reader: 'dfindexeddb',
    cause: 'does not implement ImageData',
    explains: (pair) => errorOf(pair) === 'NotImplementedError: V8ScriptValueDecoder._ReadImageData' && pair.text.includes('["host","ImageData"]'),
  },
  {
    reader: 'dfindexeddb',
    cause: 'raises for Maps whose keys, and for Sets whose elements, are objects, null or undefined: Python’s dict and set need hashable ones',
    explains: (pair) => errorOf(pair).startsWith('TypeError: unhashable type') && /"(object|set)"/u.test(pair.text),
  },
  {
    reader: 'dfindexeddb',
    cause: 'raises for invalid dates, and for dates outside the years 1 to 9999',
    explains: (pair) => /^ValueError: (year|Invalid value NaN)/u.test(errorOf(pair)) && strangeDate(pair),
  },
  {
    reader: 'dfindexeddb',
    cause: 'raises for cycles: an object gets its number only when it is read to its end',
    explains: (pair) => /^KeyError: \d+$/u.test(errorOf(pair)) && pair.text.includes('["cycle"]'),
  },
  {
    reader: 'dfindexeddb',
    cause: 'raises for a RegExp whose flags are no tag: after the source it looks for a view, and takes the flags for a tag',
    explains: (pair) => errorOf(pair).startsWith('ParserError: Invalid v8 tag value') && pair.text.includes('["pattern"'),
  },
  {
    reader: 'dfindexeddb',
    cause: 'gives wrong BigInts where the highest bit of the last byte is set: it reads the digits as a signed number',
    explains: (pair) => pair.text.includes('["whole"') && withoutWholes(pair.value) === withoutWholes(valueOf(pair)),
  },
  {
    reader: 'dfindexeddb',
    cause: 'does not follow a value into its blob',
    explains: (pair) => errorOf(pair) === 'LookupError: the value is in a blob',
  },
  {
    reader: 'chromium-reader',
    cause: 'finds no record in any folder: it looks for the id of a store where a key has that of the index',
    explains: (pair) => pair.other === undefined,
  },
  {
    reader: 'chromium-values',
    cause: 'raises for all values since Chromium 110: it does not pass over the place of the trailer',
    explains: (pair) => errorOf(pair) === "V8Error: Expected header tag 0xFF, got b'\\xfe'",
  },
  {
    reader: 'chromium-values',
    cause: 'does not follow a value into its blob',
    explains: (pair) => errorOf(pair) === "V8Error: Expected header tag 0xFF, got b'\\x01'",
  },
  {
    reader: 'chromium-values',
    cause: 'raises for Maps whose keys, and for Sets whose elements, are objects',
    explains: (pair) => errorOf(pair).startsWith('TypeError: unhashable type') && /"(object|set)"/u.test(pair.text),
  },
  {
    reader: 'chromium-values',
    cause: 'raises for a string with half of a surrogate pair',
    explains: (pair) => errorOf(pair).startsWith("UnicodeDecodeError: 'utf-16-le'") && surrogate.test(pair.value),
  },
  {
    reader: 'chromium-values',
    cause: 'raises for invalid dates, and for dates outside the years 1 to 9999',
    explains: (pair) => /^ValueError: (year|Invalid value NaN)/u.test(errorOf(pair)) && strangeDate(pair),
  },
  {
    reader: 'chromium-values',
    cause: 'knows no views: it raises for one within an object, and gives the whole buffer for one that is the value',
    explains: (pair) => (errorOf(pair).startsWith('V8Error: ARRAY_BUFFER_VIEW must follow') && pair.text.includes('["view"')) || (pair.value.startsWith('["view"') && valueOf(pair).startsWith('["bytes"')),
  },
  {
    reader: 'chromium-values',
    cause: 'gives null for undefined and for holes',
    explains: (pair) => pair.text.includes('["undefined"]') && pair.value.replaceAll('["undefined"]', '["null"]') === valueOf(pair),
  },
  {
    reader: 'chromium-values',
    cause: 'passes over the name, message and stack of errors wrongly: it expects their tags in capitals',
    explains: (pair) => pair.text.includes('["error"]') && (isLost(pair) || valueOf(pair).includes('_v8_error')),
  },
  {
    reader: 'chromium-values',
    cause: 'takes the tag of an object of the browser for a length: it raises, or gives a placeholder for one that is the value',
    explains: (pair) => pair.text.includes('["host"') && (isLost(pair) || valueOf(pair) === '["host","HostObject"]'),
  },
  {
    reader: 'chromium-values',
    cause: 'loses its place after an array: it does not pass over the tag at the end',
    explains: (pair) => isLost(pair) && pair.text.includes('["array"'),
  },
  {
    reader: 'chromium-local',
    cause: 'leaves out items with half of a surrogate pair',
    explains: (pair) => pair.other === undefined && surrogate.test(pair.key + pair.value),
  },
  {
    reader: 'chromium-session',
    cause: 'leaves out items or gives other texts: it expects the first byte of keys and values to say their form, as in Local Storage',
    explains: ({ other, key }) => other === undefined || /^\["text","\\u000[01]/u.test(key),
  },
];

const seen = new Set<Difference>();

/** What differs without a cause. */
function unexplained(reader: PythonReader, pairs: readonly Pair[], compareKeys = true): string[] {
  const left: string[] = [];
  for (const pair of pairs) {
    const { key, value, ownError, other } = pair;
    if (ownError === undefined && other !== undefined && other.error === undefined && valueOf(pair) === value && (!compareKeys || JSON.stringify(other.key) === key)) continue;
    const difference = DIFFERENCES.find((candidate) => candidate.reader === reader && candidate.explains(pair));
    if (difference === undefined) left.push(`${key} ${value.slice(0, 300)} ${ownError ?? ''} / ${JSON.stringify(other ?? null).slice(0, 300)}`);
    else seen.add(difference);
  }
  return left;
}

async function collected<T>(walk: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of walk) all.push(item);
  return all;
}

const unescaped = (text: string): string => text.replaceAll(/\\+"/gu, '"');
const form = (value: unknown): string => JSON.stringify(comparable(value) satisfies Comparable);

async function recordPairs(reader: PythonReader, path: string): Promise<Pair[]> {
  const others = new Map(readWithPython(reader, path).map((line) => [line.sequence, line]));
  const records: StoredRecordVersion[] = (await collected(storedRecords(new NodeFolder(path), { blobs: NodeBlobFolder.beside(path) }))).filter(({ kind }) => kind === 'value');
  if (reader !== 'chromium-reader') expect([...others.keys()].sort()).toEqual(records.map(({ sequence }) => Number(sequence)).sort());
  return records.map(({ key, value, error, sequence }) => ({ key: form(key), value: form(value), text: unescaped(form(value)), ownError: error?.code, other: others.get(Number(sequence)) }));
}

async function itemPairs(reader: 'chromium-local' | 'chromium-session', path: string): Promise<Pair[]> {
  const others = new Map(readWithPython(reader, path).map((line) => [line.sequence, line]));
  const folder = new NodeFolder(path);
  const items = reader === 'chromium-local' ? await collected(storedItems(folder)) : await collected(storedSessionItems(folder));
  return items.map(({ kind, key, value, error, sequence }) => ({ key: form(key), value: kind === 'deletion' ? '["null"]' : form(value), text: form(value), ownError: error?.code, other: others.get(Number(sequence)) }));
}

const storage = dataPath('web-storage');
const years = readdirSync(dataPath('web-storage-years')).map((name) => join(dataPath('web-storage-years'), name));
/** Folders of IndexedDB that other projects published; forensicsim's is that of Microsoft Teams. */
const real = ['dfindexeddb', 'forensicsim'].flatMap((name) => {
  const folder = dataPath(join('real', name));
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.endsWith('.indexeddb.leveldb')).map((path) => join(folder, path));
});

const problem = process.env.BLOOM_PYTHON_READERS === undefined ? 'BLOOM_PYTHON_READERS is not set; npx pnpm@10 --filter @bloom/long-tests python-readers sets it' : installPythonReaders();

if (problem !== undefined) test.skip(`the readers in Python are not compared: ${problem}`, () => {});
describe.runIf(problem === undefined)('web-storage, compared with readers in Python', () => {
  test.each([storage, ...years])('has the records and items that they find in %s', async (profile) => {
    const path = join(profile, 'page.indexeddb.leveldb');
    for (const reader of ['dfindexeddb', 'chromium-reader'] as const) expect(unexplained(reader, await recordPairs(reader, path))).toEqual([]);
    expect(unexplained('chromium-values', await recordPairs('chromium-values', path), false)).toEqual([]);
    expect(unexplained('chromium-local', await itemPairs('chromium-local', join(profile, 'local-storage')))).toEqual([]);
    const session = join(profile, 'session-storage');
    if (existsSync(session)) expect(unexplained('chromium-session', await itemPairs('chromium-session', session))).toEqual([]);
  });

  test.each(real)('has the records that they find in %s', async (path) => {
    expect(unexplained('dfindexeddb', await recordPairs('dfindexeddb', path))).toEqual([]);
    expect(unexplained('chromium-values', await recordPairs('chromium-values', path), false)).toEqual([]);
  });

  if (findChromium() === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no new profile is compared', () => {});
  test.runIf(findChromium() !== undefined)('has the records and items that they find in a new profile of the installed Chromium', async () => {
    const run = await headlessRun(findChromium()!, await bundledForOld('reporting-page', { __SEED__: 3, __COUNT__: 100, __HAS_LARGE__: true }));
    try {
      const indexedDb = join(run.profile, 'IndexedDB');
      const path = join(indexedDb, readdirSync(indexedDb).find((name) => name.endsWith('.leveldb'))!);
      expect(unexplained('dfindexeddb', await recordPairs('dfindexeddb', path))).toEqual([]);
      expect(unexplained('chromium-local', await itemPairs('chromium-local', join(run.profile, 'Local Storage/leveldb')))).toEqual([]);
    } finally {
      run.remove();
    }
  });

  afterAll(() => {
    expect(DIFFERENCES.filter((difference) => !seen.has(difference)).map(({ reader, cause }) => `${reader} ${cause}`)).toEqual([]);
  });
});
