// What is published is a LevelDB database, whose parts are named by their bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble, BulkError, type BulkEntry, decodePart, encodePart, ensureParts, MemoryStore, partName, publish, PartWriter, readManifest, readPublication, verifyPublished, writeParts } from '@bloom/bulk';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { WritableNodeFolder } from '@bloom/leveldb/node';
import { nativeDatabase } from '@bloom/native';
import { BloomFilterPolicy, type FilterPolicy } from '@bloom/policy';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { collected, deliver, entriesOf, keyAt, mergeLevels, Model, partsOf, range, SMALL, textOf, utf8 } from './model.js';

const ENTRIES = 3000;
const base = entriesOf(range(0, 2 * ENTRIES, 2));
/** Every 30th key is deleted, one after it is new, and some keys have other values. */
const changes: BulkEntry[] = range(0, 2 * ENTRIES, 30).flatMap((i): BulkEntry[] => [
  [keyAt(i), undefined],
  [keyAt(i + 1), utf8(`new ${i}`)],
  [keyAt(i + 2), utf8(`changed ${i}`)],
]);
const model = new Model();
model.apply(base);
model.apply(changes);

let folder = '';
let copies = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bloom-bulk-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** A folder with the files of a store. */
function copyOf(store: MemoryStore): string {
  const path = join(folder, String(++copies));
  mkdirSync(path);
  for (const [name, bytes] of store.files()) writeFileSync(join(path, name), bytes);
  return path;
}

async function twoDeliveries(): Promise<MemoryStore> {
  const store = new MemoryStore();
  await deliver(store, base, 1n);
  await deliver(store, changes, 2n);
  return store;
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof BulkError ? error.code : String(error);
}

describe('a base and a delivery', () => {
  test('are read as a sorted map that was changed in the same way', async () => {
    const store = await twoDeliveries();
    const reader = await DatabaseReader.open(store.folder());
    expect(textOf(await collected(reader.entries()))).toBe(String(model));
    expect(await reader.get(keyAt(30))).toBeUndefined();
    expect(new TextDecoder().decode(await reader.get(keyAt(31)))).toBe('new 30');
    await reader.close();
    const { levels, lastSequence } = (await readPublication(store))!;
    expect(levels.map((parts) => parts.length > 0)).toEqual([false, false, false, false, false, true, true]);
    expect(levels[6]!.length).toBeGreaterThan(3);
    expect(lastSequence).toBe(2n);
  });

  test('have parts and a MANIFEST whose numbers are the first 62 bits of the SHA-256 of their bytes', async () => {
    const store = await twoDeliveries();
    const files = [...store.files()].filter(([name]) => /^[0-9]+\.ldb$|^MANIFEST-[0-9]+$/.test(name));
    expect(files.length).toBeGreaterThan(5);
    for (const [name, bytes] of files) {
      const number = createHash('sha256').update(bytes).digest().readBigUInt64BE() >> 2n;
      expect(name).toContain(number.toString());
    }
  });

  test('have the same bytes under the same names when they are made again', async () => {
    const [one, another] = [(await twoDeliveries()).files(), (await twoDeliveries()).files()];
    expect([...one.keys()].sort()).toEqual([...another.keys()].sort());
    for (const [name, bytes] of one) expect(Buffer.compare(bytes, another.get(name)!), name).toBe(0);
  });

  test('are found sound by verifyPublished, which counts each entry', async () => {
    const store = await twoDeliveries();
    expect(await verifyPublished(store)).toMatchObject({ findings: [], entries: base.length + changes.length });
  });

  test('report filters of an unknown policy, and an unknown order, as not checked', async () => {
    const bloom = new BloomFilterPolicy();
    const policy: FilterPolicy = { name: 'test.Renamed', createFilter: (keys, dst) => bloom.createFilter(keys, dst), keyMayMatch: (key, filter) => bloom.keyMayMatch(key, filter) };
    const store = new MemoryStore();
    const parts = await collected(writeParts(store, [base], { ...SMALL, sequence: 1n, filterPolicy: policy }));
    await publish(store, await assemble(store, parts));
    const names = parts.map(({ number }) => partName(number)).sort();
    expect(names.length).toBeGreaterThan(1);
    const { findings, unchecked } = await verifyPublished(store);
    expect(findings).toEqual([]);
    expect(unchecked).toEqual(names.map((file) => ({ file, part: 'filters', reason: expect.stringContaining('test.Renamed') as string })));
    expect(await verifyPublished(store, { filterPolicies: [policy] })).toMatchObject({ findings: [], unchecked: [] });
    expect((await verifyPublished(store, { filterPolicies: [policy], comparator: null })).unchecked).toEqual(names.map((file) => ({ file, part: 'key order', reason: 'the comparator is unknown' })));
    expect(await verifyPublished(store, { depth: 'bytes' })).toMatchObject({ findings: [], unchecked: [] });
  });

  test('can be copied, written to and compacted by Database', async () => {
    const path = copyOf(await twoDeliveries());
    const database = await Database.open(new WritableNodeFolder(path));
    expect(textOf(await collected(database.entries()))).toBe(String(model));
    await database.put(keyAt(31), utf8('written later'));
    await database.delete(keyAt(2));
    await database.compactRange();
    await database.close();
    const reader = await Database.open(new WritableNodeFolder(path));
    const expected = new Model();
    for (const entries of [base, changes, [[keyAt(31), utf8('written later')], [keyAt(2), undefined]] as BulkEntry[]]) expected.apply(entries);
    expect(textOf(await collected(reader.entries()))).toBe(String(expected));
    await reader.close();
  });

  test('can be copied, written to and compacted by classic-level', async () => {
    const path = copyOf(await twoDeliveries());
    const open = () => new ClassicLevel<Uint8Array, Uint8Array>(path, { keyEncoding: 'view', valueEncoding: 'view' });
    let level = open();
    expect(textOf(await level.iterator().all())).toBe(String(model));
    const values = await level.getMany(base.map(([key]) => key));
    expect(values.filter((value) => value !== undefined)).toHaveLength(base.length - changes.length / 3);
    await level.put(keyAt(31), utf8('written later'));
    await level.compactRange(keyAt(0), keyAt(2 * ENTRIES));
    await level.close();
    level = open();
    const expected = new Model();
    for (const entries of [base, changes, [[keyAt(31), utf8('written later')]] as BulkEntry[]]) expected.apply(entries);
    expect(textOf(await level.iterator().all())).toBe(String(expected));
    await level.close();
  });
});

const native = nativeDatabase();
if (native === undefined) test.skip('cannot compare with LevelDB itself: it is not installed', () => {});

test.runIf(native !== undefined)('LevelDB with paranoid checks opens a copy, sees each entry, finds each key through the filters, and writes on', async () => {
  const path = copyOf(await twoDeliveries());
  const dumped = native!.dump(path, { paranoid: true, bitsPerKey: 10 });
  expect(dumped.status).toBe('OK');
  expect(textOf(dumped.entries)).toBe(String(model));
  const found = native!.get(path, base.map(([key]) => key), { paranoid: true, bitsPerKey: 10 });
  expect(found.filter((value) => value !== undefined)).toHaveLength(base.length - changes.length / 3);
  native!.fill(path, [[keyAt(31), utf8('written later')]], { compact: true, paranoid: true });
  const expected = new Model();
  for (const entries of [base, changes, [[keyAt(31), utf8('written later')]] as BulkEntry[]]) expected.apply(entries);
  expect(textOf(native!.dump(path, { paranoid: true }).entries)).toBe(String(expected));
});

describe('PartWriter', () => {
  test('makes parts of about the size that is wanted, disjoint and in order, with all entries', async () => {
    const parts = await partsOf(new MemoryStore(), base, 7n);
    for (const { byteLength } of parts.slice(0, -1)) expect(byteLength).toBeGreaterThan(SMALL.partBytes);
    for (const { byteLength } of parts) expect(byteLength).toBeLessThan(1.5 * SMALL.partBytes);
    expect(parts.reduce((sum, { entries }) => sum + entries, 0)).toBe(base.length);
    for (const [i, { first }] of parts.slice(1).entries()) expect(Buffer.compare(parts[i]!.last, first)).toBeLessThan(0);
  });

  test('refuses a key that is not after the previous one, also across parts and for another kind, and continues', async () => {
    const writer = new PartWriter({ sequence: 1n });
    writer.put(keyAt(5), utf8('five'));
    expect(() => writer.put(keyAt(5), utf8('again'))).toThrow(RangeError);
    expect(() => writer.delete(keyAt(5))).toThrow('is equal to');
    expect(() => writer.put(keyAt(4), utf8('four'))).toThrow('is before');
    expect((await writer.take()).part.entries).toBe(1);
    expect(() => writer.put(keyAt(5), utf8('again'))).toThrow(RangeError);
    writer.delete(keyAt(6));
    expect((await writer.take()).part).toMatchObject({ entries: 1, deletions: 1, firstKind: 'deletion', lastKind: 'deletion' });
    await expect(writer.take()).rejects.toThrow(TypeError);
  });

  test.each([
    [{}, 'sequence must be a bigint'],
    [{ sequence: 2n ** 56n }, '2^56 - 1'],
    [{ sequence: 1n, partBytes: 0 }, 'partBytes'],
    [{ sequence: 1n, partSize: 1 }, 'partSize'],
  ])('refuses the options %o', (options, problem) => {
    expect(() => new PartWriter(options as never)).toThrow(problem);
  });
});

describe('the line that describes a part', () => {
  test('says the same when it is decoded', async () => {
    for (const part of await partsOf(new MemoryStore(), changes, 9n)) expect(decodePart(encodePart(part))).toEqual(part);
  });

  test('is refused with a code when anything of it is missing or wrong', async () => {
    const [part] = await partsOf(new MemoryStore(), changes, 9n);
    const fields = JSON.parse(encodePart(part!)) as Record<string, unknown>;
    for (const name of Object.keys(fields)) {
      for (const value of [undefined, null, -1, 'x']) {
        if (name === 'comparator' && value === 'x') continue;
        expect(() => decodePart(JSON.stringify({ ...fields, [name]: value })), `${name}: ${String(value)}`).toThrow(BulkError);
      }
    }
    for (const line of ['', '[]', 'null', '{', '"x"']) expect(() => decodePart(line)).toThrow('not the description of a part');
  });
});

describe('assemble', () => {
  test('refuses parts that overlap, or one twice', async () => {
    const store = new MemoryStore();
    const some = await partsOf(store, entriesOf(range(0, 100)), 1n);
    const others = await partsOf(store, entriesOf(range(50, 150)), 1n);
    expect(await codeOf(assemble(store, [...some, ...others]))).toBe('BLOOM_OVERLAP');
    expect(await codeOf(assemble(store, [...some, ...some]))).toBe('BLOOM_OVERLAP');
  });

  test('refuses a part that is missing, or has other bytes', async () => {
    const store = new MemoryStore();
    const [part] = await partsOf(store, entriesOf(range(0, 100)), 1n);
    expect(await codeOf(assemble(new MemoryStore(), [part!]))).toBe('BLOOM_MISSING_PART');
    const damaged = new MemoryStore();
    await damaged.put({ name: partName(part!.number), bytes: new Uint8Array(5), sha256: '' });
    expect(await codeOf(assemble(damaged, [part!]))).toBe('BLOOM_OTHER_BYTES');
  });

  test('refuses another order of keys, among the parts and different from the published one', async () => {
    const store = new MemoryStore();
    const [part] = await partsOf(store, entriesOf(range(0, 100)), 1n);
    expect(await codeOf(assemble(store, [{ ...part!, comparator: 'another' }]))).toBe('BLOOM_OTHER_COMPARATOR');
    await publish(store, await assemble(store, [part!]));
    const previous = (await readPublication(store))!;
    expect(await codeOf(assemble(store, [], { previous: { ...previous, comparator: 'another' } }))).toBe('BLOOM_OTHER_COMPARATOR');
  });

  test('refuses a delivery whose sequence is not above what is published, and a merge that is not between its neighbours', async () => {
    const store = await twoDeliveries();
    const previous = (await readPublication(store))!;
    for (const sequence of [0n, 1n, 2n]) {
      expect(await codeOf(assemble(store, await partsOf(store, entriesOf([1]), sequence), { previous })), String(sequence)).toBe('BLOOM_OLD_SEQUENCE');
    }
    expect(await codeOf(assemble(store, await partsOf(store, entriesOf([1]), 2n), { previous, replaces: previous.levels[6]! }))).toBe('BLOOM_OLD_SEQUENCE');
    expect(await codeOf(assemble(store, await partsOf(store, entriesOf([1]), 1n), { previous, replaces: previous.levels[5]! }))).toBe('BLOOM_OLD_SEQUENCE');
  });

  test('has room for five deliveries above the base, and then refuses', async () => {
    const store = new MemoryStore();
    for (let day = 1n; day <= 6n; day++) expect((await deliver(store, entriesOf([Number(day)]), day)).level).toBe(7 - Number(day));
    expect(await codeOf(deliver(store, entriesOf([7]), 7n))).toBe('BLOOM_NO_LEVEL');
  });

  test('takes a delivery without parts, which publishes the previous state, and a database without any', async () => {
    const store = await twoDeliveries();
    const previous = (await readPublication(store))!;
    const same = await assemble(store, [], { previous });
    expect(same).toMatchObject({ manifest: previous.manifest, lastSequence: 2n });
    expect(await publish(store, same)).toMatchObject({ isNew: false });
    for (const empty of [await assemble(store, [], { previous, replaces: previous.levels.flat() }), await assemble(store, [])]) {
      expect(empty.levels.flat()).toEqual([]);
      await publish(store, empty, { ifMatch: (await readPublication(store))!.etag });
      const reader = await DatabaseReader.open(store.folder());
      expect(await collected(reader.entries())).toEqual([]);
      expect(await reader.get(keyAt(0))).toBeUndefined();
      await reader.close();
    }
    await deliver(store, changes, 3n);
    expect(await verifyPublished(store)).toMatchObject({ findings: [], entries: changes.length });
  });

  describe('with a merge', () => {
    const [A, B, C, D] = ['A', 'B', 'C', 'D'].map(utf8) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];

    async function fourDeliveries(): Promise<MemoryStore> {
      const store = new MemoryStore();
      for (const [i, key] of [A, B, C, D].entries()) await deliver(store, [[key, utf8('value')]], BigInt(i + 1));
      return store;
    }

    async function keysIn(store: MemoryStore): Promise<string> {
      const reader = await DatabaseReader.open(store.folder());
      const entries = await collected(reader.entries());
      await reader.close();
      return entries.map(([key]) => new TextDecoder().decode(key)).join('');
    }

    test('takes its levels from where another merge has moved them', async () => {
      const store = await fourDeliveries();
      const before = (await readPublication(store))!;
      const upper = await partsOf(store, [[C, utf8('value')], [D, utf8('value')]], 4n);
      await mergeLevels(store, before, [5, 6]);
      expect(await codeOf(publish(store, await assemble(store, upper, { previous: before, replaces: [...before.levels[3]!, ...before.levels[4]!] })))).toBe('BLOOM_CONFLICT');
      const previous = (await readPublication(store))!;
      await publish(store, await assemble(store, upper, { previous, replaces: [...before.levels[3]!, ...before.levels[4]!] }));
      expect(await keysIn(store)).toBe('ABCD');
      expect((await readPublication(store))!.levels.map((parts) => parts.length)).toEqual([0, 0, 0, 0, 0, 1, 1]);
    });

    test('refuses one of whose levels another merge has replaced, or that was already published, with and without parts', async () => {
      const store = await fourDeliveries();
      const before = (await readPublication(store))!;
      const parts = await partsOf(store, [[B, utf8('value')], [C, utf8('value')]], 3n);
      await mergeLevels(store, before, [5, 6]);
      for (const merge of [parts, []]) {
        const again = assemble(store, merge, { previous: (await readPublication(store))!, replaces: [...before.levels[4]!, ...before.levels[5]!] });
        await expect(again).rejects.toMatchObject({ code: 'BLOOM_OLD_MERGE', file: partName(before.levels[5]![0]!.number) });
      }
      await mergeLevels(store, (await readPublication(store))!, [5, 6]);
      const previous = (await readPublication(store))!;
      expect(await codeOf(assemble(store, [], { previous, replaces: [...before.levels[5]!, ...before.levels[6]!] }))).toBe('BLOOM_OLD_MERGE');
      expect(await codeOf(assemble(store, [], { replaces: before.levels[6]! }))).toBe('BLOOM_OLD_MERGE');
      expect(await keysIn(store)).toBe('ABCD');
    });

    test('can equal the upper of its levels', async () => {
      const store = await twoDeliveries();
      const previous = (await readPublication(store))!;
      expect((await assemble(store, previous.levels[5]!, { previous, replaces: previous.levels.flat() })).levels[6]).toEqual(previous.levels[5]);
    });

    test('takes only whole levels that are neighbours', async () => {
      const store = await fourDeliveries();
      await deliver(store, entriesOf(range(0, 3000)), 5n);
      const previous = (await readPublication(store))!;
      await expect(assemble(store, [], { previous, replaces: [...previous.levels[4]!, ...previous.levels[6]!] })).rejects.toThrow('neighbouring levels');
      await expect(assemble(store, [], { previous, replaces: previous.levels[2]!.slice(1) })).rejects.toThrow('all parts of a level');
      await expect(assemble(store, [], { previous, replaces: [4, 5] as never })).rejects.toThrow('replaces[0] must be a published part');
    });
  });
});

describe('publish', () => {
  test('refuses a database that was not assembled from the current one, and overwrites nothing', async () => {
    const store = new MemoryStore();
    const parts = await partsOf(store, base, 1n);
    const first = await assemble(store, parts);
    expect(await publish(store, first)).toMatchObject({ isNew: true });
    expect(await publish(store, first)).toMatchObject({ isNew: false });
    const previous = await readPublication(store);
    const one = await assemble(store, await partsOf(store, changes, 2n), { previous });
    const another = await assemble(store, await partsOf(store, entriesOf([1]), 3n), { previous });
    await publish(store, one);
    expect(await codeOf(publish(store, another))).toBe('BLOOM_CONFLICT');
    expect((await readPublication(store))!.manifest).toBe(one.manifest);
    await publish(store, await assemble(store, await partsOf(store, entriesOf([1]), 3n), { previous: await readPublication(store) }));
  });

  test('refuses the database of another program, and writes nothing', async () => {
    const path = join(folder, String(++copies));
    const database = await Database.open(new WritableNodeFolder(path));
    await database.put('a', 'b');
    await database.close();
    const other = new MemoryStore();
    for (const name of readdirSync(path)) await other.put({ name, bytes: readFileSync(join(path, name)), sha256: '' });
    const assembly = await assemble(other, await partsOf(other, entriesOf([1]), 1n));
    const before = [...other.files()].map(([name]) => name);
    expect(await codeOf(publish(other, assembly))).toBe('BLOOM_NOT_PUBLISHED');
    expect([...other.files()].map(([name]) => name)).toEqual(before);
  });

  test('replaces what the caller names by its etag', async () => {
    const store = new MemoryStore();
    await deliver(store, base, 1n);
    const anew = await assemble(store, await partsOf(store, changes, 1n));
    const published = (await readPublication(store))!.manifest;
    await expect(publish(store, anew)).rejects.toMatchObject({
      code: 'BLOOM_CONFLICT',
      message: expect.stringMatching(new RegExp(`has a database, ${published}, and ${anew.manifest} was assembled without it.* as ifMatch; .* with previous$`)) as string,
    });
    expect(await codeOf(publish(store, anew, { ifMatch: null }))).toBe('BLOOM_CONFLICT');
    expect(await codeOf(publish(store, anew, { ifMatch: '"other"' }))).toBe('BLOOM_CONFLICT');
    const { etag } = (await readPublication(store))!;
    expect(await publish(store, anew, { ifMatch: etag })).toMatchObject({ isNew: true });
  });
});

describe('writeParts', () => {
  test('refuses a name under which there are other bytes', async () => {
    const store = new MemoryStore();
    const [part] = await partsOf(new MemoryStore(), base, 1n);
    await store.put({ name: partName(part!.number), bytes: new Uint8Array(part!.byteLength), sha256: '00' });
    expect(await codeOf(partsOf(store, base, 1n))).toBe('BLOOM_OTHER_BYTES');
  });

  test('writes again what is more than an hour old, so that it is not collected', async () => {
    let now = Date.now() - 2 * 3_600_000;
    const old = new MemoryStore('old', () => now);
    const [part] = await partsOf(old, entriesOf([1]), 1n);
    now = Date.now();
    let puts = 0;
    const put = old.put.bind(old);
    old.put = (object) => (puts++, put(object));
    expect(await collected(writeParts(old, [entriesOf([1])], { ...SMALL, sequence: 1n }))).toEqual([part]);
    expect(puts).toBe(1);
  });
});

describe('damage', () => {
  test('of any byte of CURRENT, the MANIFEST and a part is found by verifyPublished', async () => {
    const sound = await twoDeliveries();
    const names = ['CURRENT', (await readPublication(sound))!.manifest, partName((await readPublication(sound))!.levels[6]![1]!.number)];
    for (const name of names) {
      const bytes = sound.files().get(name)!;
      const step = Math.max(1, Math.floor(bytes.length / 40));
      for (let i = 0; i < bytes.length; i += step) {
        const store = new MemoryStore();
        for (const [other, contents] of sound.files()) {
          const changed = contents.slice();
          if (other === name) changed[i]! ^= 1;
          await store.put({ name: other, bytes: changed, sha256: '' });
        }
        const result = await verifyPublished(store, { depth: 'bytes' }).then(
          ({ findings }) => findings.map(({ file, code }) => `${file} ${code}`),
          (error: unknown) => [(error as { code: string }).code],
        );
        expect(result, `${name} at ${i}`).toHaveLength(1);
        expect(result[0], `${name} at ${i}`).toMatch(/BLOOM_(OTHER_BYTES|NOT_PUBLISHED|MISSING_FILE)/);
      }
    }
  });

  test('of a part that is gone, cut or another one is found by its name', async () => {
    const sound = await twoDeliveries();
    const [first, second] = (await readPublication(sound))!.levels[6]!.map(({ number }) => partName(number)) as [string, string];
    const findingsWhere = async (change: (store: MemoryStore) => Promise<unknown>) => {
      const store = new MemoryStore();
      for (const [name, bytes] of sound.files()) await store.put({ name, bytes, sha256: '' });
      await change(store);
      return (await verifyPublished(store)).findings.map(({ file, code }) => [file, code]);
    };
    const bytesOf = (name: string): Uint8Array => sound.files().get(name)!;
    expect(await findingsWhere((store) => store.delete(first))).toEqual([[first, 'BLOOM_MISSING_PART']]);
    expect(await findingsWhere((store) => store.put({ name: first, bytes: bytesOf(first).subarray(1), sha256: '' }))).toEqual([[first, 'BLOOM_OTHER_BYTES']]);
    expect(await findingsWhere((store) => store.put({ name: first, bytes: bytesOf(second), sha256: '' }))).toEqual([[first, 'BLOOM_OTHER_BYTES']]);
  });
});

describe('ensureParts', () => {
  /** An assembly in one store, on what is published in another. */
  async function inTwoStores() {
    const [from, store] = [new MemoryStore('from'), new MemoryStore('store')];
    await deliver(store, entriesOf(range(0, 300)), 1n);
    const previous = (await readPublication(store))!;
    const parts = await partsOf(from, entriesOf(range(0, 1200)), 2n);
    const both = {
      name: 'both',
      async *list() {
        yield* from.list();
        yield* store.list();
      },
    };
    return { from, store, previous, parts, assembly: await assemble(both, parts, { previous }) };
  }

  test('copies the parts that are new, which are then published as if they had been written there', async () => {
    const { from, store, previous, parts, assembly } = await inTwoStores();
    expect(parts.length).toBeGreaterThan(1);
    await expect(ensureParts(store, assembly, { previous })).rejects.toMatchObject({ code: 'BLOOM_MISSING_PART' });
    expect(await ensureParts(store, assembly, { from, previous })).toEqual({ parts: parts.length, byteLength: parts.reduce((sum, { byteLength }) => sum + byteLength, 0) });
    await publish(store, assembly);
    expect(await verifyPublished(store)).toMatchObject({ findings: [], parts: assembly.levels.flat().length });
    const { manifest, bytes, sha256, levels } = await readManifest(store, assembly.manifest);
    expect({ manifest, bytes, sha256, levels }).toEqual({ manifest: assembly.manifest, bytes: assembly.bytes, sha256: assembly.sha256, levels: assembly.levels });
  });

  test('copies no further part once one has failed', async () => {
    const job = new MemoryStore('job');
    const parts = await partsOf(job, entriesOf(range(0, 10_000)), 1n);
    const assembly = await assemble(job, parts);
    expect(parts.length).toBeGreaterThan(8);
    await job.delete(partName(parts[0]!.number));
    const store = new MemoryStore('published');
    let created = 0;
    const create = store.create.bind(store);
    store.create = async (...given) => {
      created++;
      return create(...given);
    };
    await expect(ensureParts(store, assembly, { from: job })).rejects.toMatchObject({ code: 'BLOOM_MISSING_PART' });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(created).toBeLessThan(4);
  });

  test('finds bytes that were changed, of parts that are copied and of those that are there, and parts that are gone', async () => {
    const { from, store, previous, parts, assembly } = await inTwoStores();
    await ensureParts(store, assembly, { from, previous });
    const name = partName(parts[0]!.number);
    const { bytes } = (await from.get(name))!;
    const changed = bytes.map((byte, i) => (i === 10 ? byte ^ 1 : byte));
    for (const damaged of [from, store]) {
      await damaged.put({ name, bytes: changed, sha256: '' });
      await expect(ensureParts(damaged, assembly)).rejects.toMatchObject({ code: expect.stringMatching(/BLOOM_(OTHER_BYTES|MISSING_PART)/) as string });
    }
    await expect(ensureParts(store, assembly, { from, previous })).rejects.toMatchObject({ code: 'BLOOM_OTHER_BYTES', file: name });
    await store.put({ name, bytes, sha256: parts[0]!.sha256 });
    await ensureParts(store, assembly, { previous });
    const old = partName(previous.levels.flat()[0]!.number);
    await store.delete(old);
    await expect(ensureParts(store, assembly, { previous })).rejects.toMatchObject({ code: 'BLOOM_MISSING_PART', file: old });
  });
});
