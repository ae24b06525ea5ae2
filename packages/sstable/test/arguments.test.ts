import { mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import vm from 'node:vm';
import { turns } from '@bloom/fixtures/event-loop';
import { BlockCache, type Codec, MemorySink, MemorySource, type Source, SyncTable, Table, TableBuilder } from '@bloom/sstable';
import { outlineTable } from '@bloom/sstable/inspect';
import { SyncFileSource, writeTable } from '@bloom/sstable/node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { caught, rejection } from '@bloom/fixtures/caught';
import { hasNamedPipes, makeNamedPipe } from '@bloom/fixtures/named-pipe';
import { gate } from './sources.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function tableOf(...keys: string[]): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink);
  for (const key of keys) builder.add(utf8(key), utf8(`value of ${key}`));
  builder.finish();
  return sink.toBytes();
}

describe('an argument that is neither a Uint8Array nor a string is rejected by name', () => {
  const wrong = 5 as unknown as Uint8Array;
  const table = SyncTable.open(new MemorySource(tableOf('abc')));

  test('by the builder, which remains usable', () => {
    const sink = new MemorySink();
    const builder = new TableBuilder(sink);
    expect(() => builder.add(wrong, utf8('x'))).toThrow(new TypeError('key must be a Uint8Array or a string, got number'));
    expect(() => builder.add(utf8('x'), wrong)).toThrow(new TypeError('value must be a Uint8Array or a string, got number'));
    builder.add(utf8('abc'), utf8('def'));
    builder.finish();
    expect([...SyncTable.open(new MemorySource(sink.toBytes()))]).toEqual([[utf8('abc'), utf8('def')]]);
  });

  test('as an argument too many is, which would be lost', async () => {
    const builder = new TableBuilder(new MemorySink());
    const { add } = builder as unknown as { readonly add: (...given: unknown[]) => void };
    expect(() => add.call(builder, utf8('a'), utf8('b'), utf8('c'), utf8('d'))).toThrow(new TypeError('TableBuilder.add takes a key and a value, got 4 arguments'));
    expect(builder.entries).toBe(0);
    const loose = writeTable as (...given: unknown[]) => Promise<unknown>;
    expect(await rejection(loose('nowhere', [], {}, []))).toMatchObject({ message: 'writeTable takes a path, entries and options, got 4 arguments' });
    expect(await rejection(loose('nowhere', [], []))).toMatchObject({ message: 'the options of writeTable must be an object, got an Array' });
    expect(await rejection(outlineTable(new MemorySource(new Uint8Array(0)), { maxBlockByte: 1 } as never))).toMatchObject({
      message: 'outlineTable has no option "maxBlockByte": did you mean maxBlockBytes?',
    });
  });

  test('by lookups and walks', async () => {
    expect(() => table.get(wrong)).toThrow('key must be');
    expect(() => table.mayContain(wrong)).toThrow('key must be');
    expect(() => table.approximateOffset(wrong)).toThrow('key must be');
    expect(() => table.cursor().seek(wrong)).toThrow('key must be');
    for (const prefix of [wrong, undefined as never]) expect(() => table.mayContainPrefix(prefix)).toThrow('prefix must be');
    for (const name of ['gt', 'gte', 'lt', 'lte']) expect(() => table.entries({ [name]: wrong })).toThrow(`${name} must be`);
    await expect((await Table.open(new MemorySource(tableOf('abc')))).get(wrong)).rejects.toThrow('key must be');
  });

  test('except for a Uint8Array of another realm', () => {
    const foreign = vm.runInNewContext('Uint8Array.of(97, 98, 99)') as Uint8Array;
    expect(foreign instanceof Uint8Array).toBe(false);
    expect(table.get(foreign)).toEqual(utf8('value of abc'));
  });
});

test.each([0, 256, -1, 1.5])('rejects a codec of type %s', (type) => {
  const codec: Codec = { type, name: 'odd', compress: (contents) => contents, decompress: (contents) => contents };
  const message = new RangeError(`the type of codec odd must be from 1 to 255, got ${type}`);
  expect(() => new TableBuilder(new MemorySink(), { compression: codec })).toThrow(message);
  expect(() => SyncTable.open(new MemorySource(tableOf()), { codecs: [codec] })).toThrow(message);
});

test.each([1, 255])('accepts a codec of type %s', (type) => {
  const codec: Codec = { type, name: 'odd', compress: (contents) => contents, decompress: (contents) => contents };
  expect(caught(() => new TableBuilder(new MemorySink(), { compression: codec }))).toBeUndefined();
  expect(caught(() => SyncTable.open(new MemorySource(tableOf()), { codecs: [codec] }))).toBeUndefined();
});

test('a read that ends after close leaves nothing in the shared cache', async () => {
  const cache = new BlockCache(2 ** 20);
  const bytes = tableOf('abc');
  let answer = (): void => {};
  let reads = 0;
  const source: Source = {
    byteLength: bytes.length,
    read: (at, n) => (reads++ === 0 ? bytes.subarray(at, at + n) : new Promise((resolve) => (answer = () => resolve(bytes.subarray(at, at + n))))),
  };
  const table = await Table.open(source, { cache });
  const value = rejection(table.get(utf8('abc')));
  void table.close();
  expect(await value).toEqual(new TypeError('the table was closed'));
  answer();
  await turns();
  expect(cache.byteLength).toBe(0);
});

test('an aborted signal ends the opening, but has no effect on a walk that has ended', async () => {
  const source = new MemorySource(tableOf('abc'));
  await expect(Table.open(source, { signal: AbortSignal.abort() })).rejects.toThrow('aborted');
  const controller = new AbortController();
  const walk = (await Table.open(source)).entries({ signal: controller.signal });
  await walk.next();
  expect(await walk.next()).toEqual({ value: undefined, done: true });
  controller.abort();
  expect(await walk.next()).toEqual({ value: undefined, done: true });
});

describe('TableBuilder refuses, and names,', () => {
  const build = (options: unknown, sink: unknown = new MemorySink()): unknown => caught(() => new (TableBuilder as unknown as new (...args: unknown[]) => unknown)(sink, options));

  test.each<[unknown, string]>([
    [{ blocksize: 4096 }, 'TableBuilder has no option "blocksize": did you mean blockSize?'],
    [{ filterPolicies: [] }, 'TableBuilder has no option "filterPolicies": did you mean filterPolicy?'],
    [{ signal: new AbortController().signal }, 'TableBuilder has no option "signal": it has comparator, filterPolicy, filterRange, blockSize, blockRestartInterval, compression, maxBlockBytes, omitLargeFilters'],
    [null, 'the options of TableBuilder must be an object, got null'],
    [{ comparator: 'bytewise' }, 'comparator must be a comparator, got string'],
    [{ filterPolicy: 10 }, 'filterPolicy must be a FilterPolicy, got number'],
    [{ compression: {} }, "compression must be 'none', 'snappy' or a codec, got object without decompress()"],
  ])('%o', (options, message) => {
    expect(build(options)).toEqual(new TypeError(message));
  });

  test('a value that is not a sink', () => {
    expect(build({}, 'x.ldb')).toEqual(new TypeError('sink must be a sink, got string'));
    expect(build({}, [])).toEqual(new TypeError('sink must be a sink, got an Array without append()'));
    expect(build({}, MemorySink)).toEqual(new TypeError('sink must be a sink, got the class MemorySink: pass an instance, new MemorySink()'));
  });
});

describe('writeTable', () => {
  let folder: string;
  beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'bloom-'))));
  afterEach(() => rm(folder, { recursive: true }));

  test.each<[unknown, string]>([
    [{ compresion: 'none' }, 'writeTable has no option "compresion": did you mean compression?'],
    [{ signal: new AbortController() }, 'signal must be an AbortSignal, got an AbortController: pass its signal'],
    [{ onProgress: true }, 'onProgress must be a function, got boolean'],
    [5, 'the options of writeTable must be an object, got number'],
  ])('rejects %o by name, and writes nothing', async (options, message) => {
    expect(await rejection(writeTable(join(folder, 'x.ldb'), [], options as object))).toEqual(new TypeError(message));
    expect(await readdir(folder)).toEqual([]);
  });

  test('does not wait for an entry when it is aborted', async () => {
    const controller = new AbortController();
    const { opened: asked, open: ask } = gate();
    let returned = false;
    const entries = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          ask();
          return new Promise<never>(() => undefined);
        },
        return: async () => {
          returned = true;
          return { value: undefined, done: true as const };
        },
      }),
    };
    const writing = writeTable(join(folder, 'x.ldb'), entries, { signal: controller.signal });
    await asked;
    controller.abort();
    await expect(writing).rejects.toThrow('aborted');
    expect(returned).toBe(true);
    expect(await readdir(folder)).toEqual([]);
  });

  test('creates the target of a link that does not exist yet', async () => {
    await symlink('target.ldb', join(folder, 'link.ldb'));
    await writeTable(join(folder, 'link.ldb'), [[utf8('a'), utf8('b')]]);
    expect((await readdir(folder)).sort()).toEqual(['link.ldb', 'target.ldb']);
    expect((await readFile(join(folder, 'target.ldb'))).length).toBeGreaterThan(48);
  });

  test.runIf(hasNamedPipes)('replaces only regular files', async () => {
    makeNamedPipe(join(folder, 'pipe'));
    await expect(writeTable(join(folder, 'pipe'), [])).rejects.toMatchObject({ code: 'EINVAL' });
    await expect(writeTable(folder, [])).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await readdir(folder)).toEqual(['pipe']);
  });

  test('rejects a cycle of links', async () => {
    await symlink('b', join(folder, 'a'));
    await symlink('a', join(folder, 'b'));
    await expect(writeTable(join(folder, 'a'), [])).rejects.toMatchObject({ code: 'ELOOP' });
  });

  test('throws the error of opening the file, not one of cleaning up', async () => {
    await writeTable(join(folder, 'file'), []);
    await expect(writeTable(join(folder, 'file', 'x.ldb'), [])).rejects.toMatchObject({ code: 'ENOTDIR', syscall: 'open' });
  });
});

test('closing a file twice does not close another one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'bloom-'));
  const path = join(folder, 'x.ldb');
  await writeTable(path, [[utf8('a'), utf8('b')]]);
  const first = SyncFileSource.open(path);
  first.close();
  const second = SyncFileSource.open(path);
  first.close();
  expect(SyncTable.open(second).get(utf8('a'))).toEqual(utf8('b'));
  expect(() => first.read(0, 1)).toThrow('the file is closed');
  second.close();
  await rm(folder, { recursive: true });
});
