import { readdirSync } from 'node:fs';
import { formatKv, realTables } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySink, MemorySource, SyncTable, TableBuilder } from '@bloom/sstable';
import { allCodecs } from '@bloom/codecs';
import {
  decodeInternalKey,
  DELETION,
  encodeInternalKey,
  internalKeyComparator,
  internalKeyPolicy,
  SyncDatabaseTable,
  VALUE,
} from '@bloom/sstable/database';
import { describe, expect, test } from 'vitest';
import { bloom, bloomPrints } from '../bloom.js';
import { Scratch } from '../bloom-process.js';

const scratch = new Scratch();
function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

// Not in a folder with CURRENT, where there would be a warning.
const path = scratch.write('alone.sst', realTables().find(({ file }) => file.endsWith('db-stage-3/000005.sst'))!.bytes());

describe("a database's table", () => {
  test('is printed as user key, sequence, type and value', async () => {
    expect(await bloomPrints(['scan', '--internal', path], scratch.path)).toBe(
      'bar\t5\tdeletion\t\nbar\t2\tvalue\ttwo\nbaz\t3\tvalue\tthree\nfoo\t4\tvalue\tfour\nfoo\t1\tvalue\tone\n',
    );
    expect(await bloomPrints(['scan', '--internal', '-f', 'jsonl', '--gt', 'bar', '--limit', '1', path], scratch.path)).toBe(
      '{"key":"baz","sequence":"3","type":"value","value":"three"}\n',
    );
    expect(await bloomPrints(['scan', '--internal', '--hex', '--lte', '626172', '--reverse', path], scratch.path)).toBe(
      '626172\t2\tvalue\t74776f\n626172\t5\tdeletion\t\n',
    );
  });

  test('words prints the keys of values with line breaks', async () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink, { comparator: internalKeyComparator() });
    builder.add(encodeInternalKey({ userKey: Buffer.from('a'), sequence: 1n, type: 1 }), Buffer.from('two\nlines'));
    builder.finish();
    const lines = scratch.write('lines.ldb', sink.toBytes());
    expect(await bloom(['scan', '--internal', '-f', 'words', lines], scratch.path)).toMatchObject({ code: 0, stdout: Buffer.from('a\n') });
    expect((await bloom(['scan', '--internal', '-f', 'raw', lines], scratch.path)).code).toBe(2);
  });

  test('get prints the newest version of a key, and does not find a deleted key', async () => {
    expect(await bloomPrints(['get', '--internal', path, 'foo'], scratch.path)).toBe('four\n');
    expect(await bloom(['get', '--internal', path, 'bar'], scratch.path)).toMatchObject({ code: 1, stderr: 'bloom: bar: not found\n' });
  });

  test('kv prints the stored keys, which have sequence and type, also with --internal', async () => {
    const stored = await bloom(['scan', '--no-internal', '-f', 'kv', path], scratch.path);
    const internal = await bloom(['scan', '--internal', '-f', 'kv', path], scratch.path);
    expect(internal.code).toBe(0);
    expect(internal.stdout.equals(stored.stdout)).toBe(true);
  });

  test('passes verify --internal, which checks the order of internal keys', async () => {
    expect((await bloom(['verify', '--internal', path], scratch.path)).code).toBe(0);
  });

  test.each([
    ['get', ['foo']],
    ['scan', []],
    ['stat', []],
    ['verify', []],
    ['salvage', ['-o', 'never.ldb']],
  ])('%s --internal fails for a table of plain keys', async (command, args) => {
    const plain = realTables().find(({ keyKind }) => keyKind === 'raw')!;
    const { code, stdout, stderr } = await bloom([command, '--internal', plain.path, ...args], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(`bloom: ${plain.path}: its keys are plain keys, without sequence and type: omit --internal\n`);
  });
});

const assumed = (name: string): string =>
  `bloom: ${name}: its keys look like internal keys of a database and are read as such; --no-internal reads them as stored\n`;

/** A table with filters, of 990 keys that have 1,000 versions in all, some of which are deletions. */
function databaseTable(): Uint8Array {
  const comparator = internalKeyComparator();
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, {
    comparator,
    filterPolicy: internalKeyPolicy(new BloomFilterPolicy()),
    blockSize: 1024,
  });
  const keys: Uint8Array[] = [];
  for (let i = 0; i < 990; i++) {
    const userKey = utf8(`user ${String(i).padStart(4, '0')}`);
    keys.push(encodeInternalKey({ userKey, sequence: BigInt(1 + i), type: VALUE }));
    if (i % 99 === 0) keys.push(encodeInternalKey({ userKey, sequence: BigInt(1000 + i), type: DELETION }));
  }
  for (const key of keys.sort((a, b) => comparator.compare(a, b))) {
    const { userKey, sequence, type } = decodeInternalKey(key)!;
    builder.add(key, type === DELETION ? new Uint8Array(0) : utf8(`${new TextDecoder().decode(userKey)} at ${sequence}`));
  }
  builder.finish();
  return sink.toBytes();
}

describe("a table with a database's keys is detected", () => {
  const bytes = databaseTable();
  const name = scratch.write('000005.ldb', bytes);

  test('get finds every present key, and no deleted one', async () => {
    const keys = Array.from({ length: 990 }, (_, i) => `user ${String(i).padStart(4, '0')}`);
    const { code, stdout, stderr } = await bloom(['get', name, ...keys], scratch.path);
    expect(code).toBe(1);
    const deleted = keys.filter((_, i) => i % 99 === 0);
    expect(stderr).toBe(assumed(name) + deleted.map((key) => `bloom: ${key}: not found\n`).join(''));
    expect(stdout.toString()).toBe(
      keys.map((key, i) => (i % 99 === 0 ? '' : `${key} at ${1 + i}\n`)).join(''),
    );
  });

  test('scan prints versions, and takes user keys as bounds', async () => {
    const args = ['scan', name, '--gte', 'user 0099', '--lt', 'user 0100'];
    const { stdout, stderr } = await bloom(args, scratch.path);
    expect(stdout.toString()).toBe('user 0099\t1099\tdeletion\t\nuser 0099\t100\tvalue\tuser 0099 at 100\n');
    expect(stderr).toBe(assumed(name));
    expect(await bloomPrints([...args, '--internal'], scratch.path)).toBe(stdout.toString());
  });

  test('scan -f kv prints the stored keys between user keys', async () => {
    const entries = [...SyncTable.open(new MemorySource(bytes), { comparator: internalKeyComparator() })];
    const whole = await bloom(['scan', name, '-f', 'kv'], scratch.path);
    expect({ code: whole.code, stderr: whole.stderr }).toEqual({ code: 0, stderr: '' });
    expect(whole.stdout.equals(formatKv(entries))).toBe(true);
    const part = await bloom(['scan', name, '-f', 'kv', '--gt', 'user 0098', '--lte', 'user 0099'], scratch.path);
    expect(part.stdout.equals(formatKv(entries.slice(100, 102)))).toBe(true);
  });

  test('stat measures the filters on user keys', async () => {
    const { stdout } = await bloom(['stat', '--json', name], scratch.path);
    expect(JSON.parse(stdout.toString())).toMatchObject({
      entries: 1000,
      keys: 'internal',
      isBytewise: true,
      filter: { state: 'used', deniedKeys: 0 },
      falsePositives: { tried: 20_000 },
    });
    const { storedDataBytes, filter } = JSON.parse(stdout.toString()) as {
      storedDataBytes: number;
      filter: { filters: number; bytes: number };
    };
    // There is a filter for each 2 KiB of data blocks, with ten bits for each user key.
    expect(filter.filters).toBe(Math.ceil(storedDataBytes / 2048));
    expect(filter.bytes).toBeGreaterThan((1000 * 10) / 8);
    const text = (await bloom(['stat', name], scratch.path)).stdout.toString();
    expect(text).toContain("keys             a database's: user key, and 8 bytes of type and sequence\n");
  });

  test('verify finds nothing wrong', async () => {
    const { code, stdout, stderr } = await bloom(['verify', name], scratch.path);
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toBe(`${assumed(name)}bloom: ${name}: nothing is wrong\n`);
  });

  test('verify --no-internal says that the filters contradict the stored keys', async () => {
    const { code, stderr } = await bloom(['verify', '--no-internal', name], scratch.path);
    expect(code).toBe(0);
    expect(stderr).toBe(
      `bloom: ${name}: checked as a table of a database anyway: its filters do not match the keys as stored\nbloom: ${name}: nothing is wrong\n`,
    );
  });

  test('scan -f jsonl --hex prints versions in hexadecimal', async () => {
    const { stdout } = await bloom(['scan', name, '--hex', '-f', 'jsonl', '--limit', '1'], scratch.path);
    expect(stdout.toString()).toBe('{"keyHex":"757365722030303030","sequence":"1000","type":"deletion","valueHex":""}\n');
  });

  test('layout says which bytes of a key are its type and sequence', async () => {
    const { code, stderr } = await bloom(['layout', name], scratch.path);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^[^\n]*its keys look like internal keys of a database: the last 8 bytes of each are type and sequence[^\n]*\n$/);
  });

  test.each([
    ['whole', bytes, 0],
    ['without its footer', bytes.subarray(0, -48), 1],
    ['with a damaged index', bytes.map((byte, i) => (i === bytes.length - 120 ? byte ^ 1 : byte)), 1],
  ] as const)('salvage keeps a table %s readable for its database', async (state, damaged, expected) => {
    const [from, to] = [scratch.write(`${state}.ldb`, damaged), `saved ${state}.ldb`];
    const { code, stderr } = await bloom(['salvage', from, '-o', to], scratch.path);
    expect(code).toBe(expected);
    expect(stderr).toContain(assumed(from));
    expect(stderr).toContain(`bloom: ${to}: 1,000 entries`);
    const saved = SyncDatabaseTable.open(new MemorySource(scratch.read(to)));
    const missed = Array.from({ length: 990 }, (_, i) => utf8(`user ${String(i).padStart(4, '0')}`)).filter(
      (userKey) => saved.get(userKey) === undefined,
    );
    expect(missed).toEqual([]);
    // Its filters were made from user keys.
    expect(saved.table.filterStatus.state).toBe('used');
    expect(saved.get(utf8('user 9999'))).toBeUndefined();
    expect(saved.table.mayContain(encodeInternalKey({ userKey: utf8('user 0500x'), sequence: 1n, type: VALUE }))).toBe(false);
  });

  test('find, diff and advise compression say that they read internal keys', async () => {
    expect(await bloom(['find', 'user 0098', name], scratch.path)).toMatchObject({ code: 0, stderr: assumed(name) });
    expect((await bloom(['find', '--no-internal', 'user 0098', name], scratch.path)).stderr).not.toContain('internal keys');
    expect(await bloom(['diff', name, name], scratch.path)).toMatchObject({ code: 0, stderr: expect.stringContaining(assumed(name) + assumed(name)) as string });
    expect(await bloom(['diff', name, name, '-q'], scratch.path)).toMatchObject({ code: 0, stderr: '' });
    expect(await bloom(['advise', 'compression', name], scratch.path)).toMatchObject({ code: 0, stderr: assumed(name) });
  });

  test('--no-internal reads the keys as plain, and still finds them', async () => {
    const stored = Buffer.from(encodeInternalKey({ userKey: utf8('user 0500'), sequence: 501n, type: VALUE })).toString('hex');
    const printed = await bloomPrints(['get', '--no-internal', '--hex', name, stored], scratch.path);
    expect(printed).toBe(`${Buffer.from('user 0500 at 501').toString('hex')}\n`);
    expect(await bloomPrints(['scan', '--no-internal', '--hex', '--limit', '1', '-f', 'words', name], scratch.path)).toBe(
      `${Buffer.from(encodeInternalKey({ userKey: utf8('user 0000'), sequence: 1000n, type: DELETION })).toString('hex')}\n`,
    );
  });
});

describe('a part of bulk, whose keys have one sequence', () => {
  test('is detected by its filters', async () => {
    await bloomPrints(['bulk', 'part', '-', '--sequence', '5', '-q', '-o', 'parts'], scratch.path, 'a\t1\nb\t2\nc\t3\n');
    expect((await bloom(['get', partName(), 'b'], scratch.path)).stdout.toString()).toBe('2\n');
    expect(await bloomPrints(['bulk', 'part', partName(), '--sequence', '6', '-q', '-o', 'again'], scratch.path)).toContain('"first":"61"');
  });

  test('can be merged with an empty table before or after it', async () => {
    await bloomPrints(['build', '-', '-q', '-o', 'empty.ldb'], scratch.path);
    for (const inputs of [['empty.ldb', partName()], [partName(), 'empty.ldb']]) {
      await bloomPrints(['merge', ...inputs, '-q', '-o', 'merged.ldb'], scratch.path);
      expect((await bloom(['get', 'merged.ldb', 'c'], scratch.path)).stdout.toString()).toBe('3\n');
    }
  });

  const partName = (): string => `parts/${readdirSync(scratch.at('parts')).find((name) => name.endsWith('.ldb'))!}`;
});

test("a short key in the middle of a table that looks like a database's is a failure that names the remedy", async () => {
  // More keys than are sampled at both ends.
  const ends = ['a', 'c'].map((letter) =>
    encodeInternalKey({ userKey: utf8(letter.repeat(2 ** 20)), sequence: BigInt(letter.charCodeAt(0)), type: VALUE }),
  );
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { filterPolicy: null });
  for (const key of [ends[0]!, utf8('b'), ends[1]!]) builder.add(key, utf8('1'));
  builder.finish();
  const name = scratch.write('short.ldb', sink.toBytes());
  const { code, stderr } = await bloom(['scan', name], scratch.path);
  expect(code).toBe(2);
  expect(stderr).toMatch(/^bloom: short\.ldb: [^\n]*a key of 1 byte is too short [^\n]*; --no-internal reads them as stored\n$/);
  expect((await bloomPrints(['scan', '--no-internal', '--hex', name], scratch.path)).split('\n')).toHaveLength(4);
});

describe('a table of a database with another comparator', () => {
  const table = realTables().find(({ file }) => file.endsWith('000116.ldb'))!;
  const entries = [...SyncTable.open(new MemorySource(table.bytes()), { codecs: allCodecs })];

  test('is salvaged completely, in the order of the file', async () => {
    const { code, stderr } = await bloom(['salvage', table.path, '-o', 'own-order.ldb'], scratch.path);
    expect(code).toBe(0);
    expect(stderr).toContain('the keys are not in bytewise order: entries keep the order of the file\n');
    const { stdout } = await bloom(['scan', '-f', 'kv', 'own-order.ldb'], scratch.path);
    expect(stdout.equals(formatKv(entries))).toBe(true);
    const verified = await bloom(['verify', '--any-order', 'own-order.ldb'], scratch.path);
    expect(verified.stderr).toContain('nothing is wrong; not checked: key order (--any-order)\n');
  });

  test('get finds each of its keys', async () => {
    const newest = new Map<string, { sequence: bigint; value: Uint8Array }>();
    for (const [key, value] of entries) {
      const { userKey, sequence } = decodeInternalKey(key)!;
      const text = Buffer.from(userKey).toString('hex');
      if (sequence > (newest.get(text)?.sequence ?? -1n)) newest.set(text, { sequence, value });
    }
    const { code, stdout } = await bloom(['get', '--hex', table.path, ...newest.keys()], scratch.path);
    expect(code).toBe(0);
    expect(stdout.toString()).toBe([...newest.values()].map(({ value }) => `${Buffer.from(value).toString('hex')}\n`).join(''));
  });

  test('scan prints exactly the keys within bounds', async () => {
    const userKeys = entries.map(([key]) => Buffer.from(decodeInternalKey(key)!.userKey));
    const bound = userKeys[200]!;
    const printed = await bloom(
      ['scan', '--hex', '-f', 'words', '--gte', bound.toString('hex'), table.path],
      scratch.path,
    );
    const expected = userKeys.filter((key) => Buffer.compare(key, bound) >= 0).map((key) => `${key.toString('hex')}\n`);
    expect(expected.length).toBeGreaterThan(1);
    expect(printed.stdout.toString()).toBe(expected.join(''));
  });
});
