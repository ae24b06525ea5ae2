// Makes the tables of the site's page "The public classes" from the types: `npx vitest run public-classes -u` writes them. The last
// two columns, errors and reasons, are written by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Database, DatabaseReader, MemoryFolder, SyncDatabaseReader, WritableMemoryFolder, WriteBatch } from '@bloom/leveldb';
import { MemorySink, MemorySource, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { DatabaseTable, internalKeyComparator, SyncDatabaseTable } from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { type Callable, ExportedTypes } from '../exported-types.js';

const facts = new ExportedTypes();
const BOUNDS = ['gt', 'gte', 'lt', 'lte', 'prefix'];
const RANGE = [...BOUNDS, 'reverse', 'limit', 'fillCache'];
const PRESENT = '✓';

interface ClassTable {
  readonly kind: 'member' | 'option';
  /** The classes, or the calls. */
  readonly columns: readonly string[];
  readonly rows: readonly { readonly name: string; readonly cells: readonly string[]; readonly throws: readonly string[]; readonly reason: string }[];
}

/** The tables of a Markdown text whose first column is `member` or `option`. */
function tablesOf(markdown: string): ClassTable[] {
  return markdown.split('\n\n').flatMap((paragraph) => {
    const lines = paragraph.trim().split('\n');
    const [head = [], , ...body] = lines.map((line) => line.split('|').slice(1, -1).map((cell) => cell.trim()));
    const [kind] = head;
    if (kind !== 'member' && kind !== 'option') return [];
    const columns = head.slice(1, kind === 'member' ? -2 : -1).map((name) => name.replaceAll('`', ''));
    const rows = body.map(([name = '', ...cells]) => ({
      name: name.replaceAll('`', ''),
      cells: cells.slice(0, columns.length).map((cell) => cell.replaceAll('`', '')),
      throws: kind === 'member' ? [...cells.at(-2)!.matchAll(/`(\w+)`/g)].map(([, error]) => error!) : [],
      reason: cells.at(-1)!,
    }));
    return [{ kind, columns, rows }];
  });
}

const PAGE = join(import.meta.dirname, '../../../../apps/site/pages/public-classes.md');
const page = readFileSync(PAGE, 'utf8');
const tables = tablesOf(page);

/** The cell for a member: its options in alphabetical order, with `range` for what all ranges have, and `bounds` for what all cursors have. */
function cellOf(name: string, member: Callable | undefined): string {
  if (member === undefined) return '';
  // The options of opening have a table of their own.
  if (member.options === undefined || name.startsWith('static ')) return PRESENT;
  const { options } = member;
  const group = Object.entries({ range: RANGE, bounds: BOUNDS }).find(([, names]) => names.every((name) => options.includes(name)));
  return [...(group ? [group[0]] : []), ...options.filter((option) => !group?.[1].includes(option)).sort()].join(', ');
}

/** The cells of a table by its rows, as the types have them. */
function cellsOf({ kind, columns }: ClassTable): Map<string, string[]> {
  const rows = new Map<string, string[]>();
  for (const [i, column] of columns.entries()) {
    const cells: Iterable<readonly [string, string]> =
      kind === 'member'
        ? [...facts.membersOf(column)].map(([name, member]) => [name, cellOf(name, member)] as const)
        : facts.callable(column).options!.map((option) => [option, PRESENT] as const);
    for (const [name, cell] of cells) {
      const row = rows.get(name) ?? columns.map(() => '');
      row[i] = cell;
      rows.set(name, row);
    }
  }
  return rows;
}

/** A paragraph of the page. In a table, rows that are new are the last, and need a reason. */
function made(paragraph: string): string {
  const [table] = tablesOf(paragraph);
  if (table === undefined) return paragraph;
  const [head = '', rule = '', ...body] = paragraph.trim().split('\n');
  const cells = cellsOf(table);
  const written = new Map(body.map((row) => row.split('|').slice(1, -1).map((cell) => cell.trim())).map(([name = '', ...rest]) => [name.replaceAll('`', ''), rest.slice(table.columns.length)]));
  const names = [...[...written.keys()].filter((name) => cells.has(name)), ...[...cells.keys()].filter((name) => !written.has(name))];
  const rows = names.map((name) => {
    const own = cells.get(name)!.map((cell) => cell.replace(/\w+/g, '`$&`'));
    return `| \`${name}\` | ${[...own, ...(written.get(name) ?? (table.kind === 'member' ? ['', ''] : ['']))].join(' | ')} |`;
  });
  return `${[head, rule, ...rows].join('\n')}${paragraph.endsWith('\n') ? '\n' : ''}`;
}

/** A member as its twin without promises has it. */
function withoutPromises({ parameters, options, result }: Callable): Callable {
  const left = options?.filter((option) => option !== 'signal' && option !== 'gapBytes').sort();
  return {
    parameters: parameters?.map((parameter) => parameter.replace(/: Source$/, ': SyncSource').replace(/: Folder$/, ': SyncFolder')),
    options: left?.length === 0 ? undefined : left,
    result: result
      .replace(/^Promise<(.*)>$/, '$1')
      .replace('T | Promise<T | undefined> | undefined', 'T | undefined')
      .replace(/^Async/, '')
      .replace(/^(File|Database)?(Table|Reader|Cursor)$/, 'Sync$&')
      .replace(/^Database(Reader|Cursor)$/, 'SyncDatabase$1'),
  };
}

function sorted({ parameters, options, result }: Callable): Callable {
  return { parameters, options: options && [...options].sort(), result };
}

function withoutAsync(name: string): string {
  return name.replace('[Symbol.async', '[Symbol.').replace(/Symbol\.([A-Z])/, (_, first: string) => `Symbol.${first.toLowerCase()}`);
}

describe('the table of the public classes', () => {
  test('has each member and each option, and nothing else', async () => {
    await expect(page.split('\n\n').map(made).join('\n\n')).toMatchFileSnapshot(PAGE);
  });

  test.each(tables)('of $columns gives a reason where cells differ, and none where they are alike', ({ rows }) => {
    expect(rows.filter(({ cells, reason }) => new Set(cells).size > 1 !== reason.length > 0).map(({ name }) => name)).toEqual([]);
  });

  test.each(tables)('of $columns names errors that are exported', ({ rows }) => {
    expect(rows.flatMap(({ throws }) => throws).filter((error) => !facts.exports(error))).toEqual([]);
  });

  test('has the classes and calls that it promises', () => {
    const columns = new Set(tables.flatMap((table) => table.columns));
    for (const name of ['Table', 'DatabaseTable', 'DatabaseReader', 'Database', 'Cursor', 'DatabaseCursor', 'HttpSource', 'Table.open', 'DatabaseReader.open', 'Database.open']) {
      expect(columns, name).toContain(name);
    }
    // Whatever else is closed or released has a row too.
    const closing = facts.classes().filter((name) => [...facts.membersOf(name).keys()].some((member) => ['close', 'release', '[Symbol.dispose]', '[Symbol.asyncDispose]'].includes(member)));
    // The first two are for @bloom/leveldb alone, which assembles tables of them.
    const known = new Set(['BlockReader', 'DataBlocks', ...closing.filter((name) => name.startsWith('Sync') && columns.has(name.slice(4)))]);
    expect(closing.filter((name) => !columns.has(name) && !known.has(name))).toEqual([]);
  });
});

describe('twins', () => {
  test.each([
    ['Table', 'SyncTable'],
    ['DatabaseTable', 'SyncDatabaseTable'],
    ['DatabaseReader', 'SyncDatabaseReader'],
    ['Cursor', 'SyncCursor'],
    ['DatabaseCursor', 'SyncDatabaseCursor'],
  ])('%s and %s have the same members, with the same arguments and options less signal and gapBytes', (name, twin) => {
    // These have no twins yet: `@bloom/level`, for which they are there, does not need them.
    const expected = [...facts.membersOf(name)].filter(([member]) => !['getAs', 'getManyAs'].includes(member)).map(([member, fact]) => [withoutAsync(member), withoutPromises(fact)] as const);
    const found = [...facts.membersOf(twin)].map(([member, fact]) => [member, sorted(fact)] as const);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
  });

  test('every call of Database that reads entries has one that ends in Sync', () => {
    const members = facts.membersOf('Database');
    const twins = [...members.keys()].filter((name) => name.endsWith('Sync'));
    const reading = [...facts.membersOf('DatabaseReader')].filter(([name, { parameters }]) => parameters !== undefined && /^(?!getManyAs$)(get|has|getMany|hasMany|entries|keys|values|cursor|explain|versions|batches|find)/.test(name)).map(([name]) => name);
    expect(twins.sort()).toEqual(reading.map((name) => `${name}Sync`).sort());
    for (const name of reading) expect(sorted(members.get(`${name}Sync`)!), name).toEqual(withoutPromises(members.get(name)!));
    // A call that is added must be put on one side or the other.
    const others = [...facts.membersOf('DatabaseReader')].filter(([name, { parameters }]) => parameters !== undefined && !reading.includes(name)).map(([name]) => name);
    expect(others.sort()).toEqual(['[Symbol.asyncDispose]', '[Symbol.asyncIterator]', 'close', 'compare', 'describe', 'getManyAs', 'refresh', 'static open']);
  });

  test('openTable takes the options of Table.open and FileSource.open, and DatabaseTable.open those of Table.open', () => {
    const options = (name: string): readonly string[] => [...facts.callable(name).options!].sort();
    expect(options('openTable')).toEqual([...options('Table.open'), ...options('FileSource.open')].sort());
    expect(options('DatabaseTable.open')).toEqual(options('Table.open'));
    for (const name of ['openTableSync', 'SyncDatabaseTable.open']) expect(options(name)).toEqual(options('SyncTable.open'));
    expect(options('storedEntriesSync')).toEqual(options('storedEntries').filter((option) => option !== 'signal'));
  });
});

test('each call with options refuses one that it does not have, and blames itself', async () => {
  const sink = new MemorySink();
  new TableBuilder(sink, { comparator: internalKeyComparator() }).finish();
  const source = new MemorySource(sink.toBytes());
  const written = new WritableMemoryFolder();
  const database = await Database.open(written);
  const folder = new MemoryFolder(written.files());
  const reader = await DatabaseReader.open(folder);
  const syncReader = SyncDatabaseReader.open(folder);
  const table = await Table.open(source);
  const classes = {
    Table: table,
    SyncTable: SyncTable.open(source),
    DatabaseTable: await DatabaseTable.open(source),
    SyncDatabaseTable: SyncDatabaseTable.open(source),
    DatabaseReader: reader,
    SyncDatabaseReader: syncReader,
    Database: database,
    Cursor: table.cursor(),
    DatabaseCursor: reader.cursor(),
  };
  const key = new Uint8Array(1);
  const argumentFor: Record<string, unknown> = { key, value: key, keys: [key], matches: () => true, make: () => true, take: () => false, batch: new WriteBatch(), start: key, limit: key, count: 1 };
  const messages: Record<string, string> = {};
  for (const [className, instance] of Object.entries(classes)) {
    for (const [name, { parameters, options }] of facts.membersOf(className)) {
      if (options === undefined || name.startsWith('static ')) continue;
      const given = parameters!.map((parameter) => argumentFor[parameter.replace(/:.*/, '')]);
      expect(given, `${className}.${name}`).not.toContain(undefined);
      const call = (instance as unknown as Record<string, (...given: unknown[]) => unknown>)[name]!;
      try {
        await call.call(instance, ...given, { zzz: 1 });
        messages[`${className}.${name}`] = 'accepted';
      } catch (error) {
        messages[`${className}.${name}`] = String(error);
      }
    }
  }
  expect(Object.keys(messages).length).toBeGreaterThan(50);
  expect(Object.entries(messages).filter(([call, message]) => !message.startsWith(`TypeError: ${call} has no option "zzz": `))).toEqual([]);
  await Promise.all([table.close(), reader.close(), database.close()]);
});
