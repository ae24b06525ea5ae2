import { describe, expect, test } from 'vitest';
import { decodeCurrent, encodeCurrent } from '../src/format/current.js';
import { ManifestBuilder, mustBeManifestLength } from '../src/format/manifest.js';
import { encodeVersionEdit, type VersionEdit } from '../src/format/version-edit.js';
import { caught } from '@bloom/fixtures/caught';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const place = { structure: 'MANIFEST', offset: 7, file: 'MANIFEST-000002' } as const;

function manifestOf(...edits: VersionEdit[]): ManifestBuilder {
  const manifest = new ManifestBuilder();
  for (const edit of edits) manifest.add(encodeVersionEdit(edit), place);
  return manifest;
}

const first: VersionEdit = { comparator: 'leveldb.BytewiseComparator', logNumber: 3n, previousLogNumber: 2n, nextFileNumber: 5n, lastSequence: 100n };
const file = (number: bigint): { level: number; file: { number: bigint; size: number; smallest: Uint8Array; largest: Uint8Array } } => ({
  level: 1,
  file: { number, size: 10, smallest: utf8('a1234567'), largest: utf8('b1234567') },
});

describe('the edits of a MANIFEST', () => {
  test('add up: the last edit that has a field counts, and one without it changes nothing', () => {
    expect(manifestOf(first, {}).fields(place)).toEqual(first);
    for (const [name, value] of Object.entries({ logNumber: 4n, previousLogNumber: 0n, nextFileNumber: 9n, lastSequence: 7n })) {
      expect(manifestOf(first, { [name]: value }, {}).fields(place)).toEqual({ ...first, [name]: value });
    }
  });

  test('need neither a comparator nor a previous log', () => {
    const { comparator: _, previousLogNumber: __, ...needed } = first;
    const manifest = manifestOf(needed);
    expect(manifest.fields(place)).toEqual({ ...needed, comparator: undefined, previousLogNumber: 0n });
    expect(manifest.comparator).toBeUndefined();
    manifest.add(encodeVersionEdit({ comparator: 'later' }), place);
    expect([manifest.comparator, manifest.fields(place).comparator]).toEqual(['later', 'later']);
  });

  test.each([
    ['nextFileNumber', 'meta-nextfile'],
    ['logNumber', 'meta-lognumber'],
    ['lastSequence', 'last-sequence-number'],
  ])('without a %s are damaged', (name, entry) => {
    const manifest = manifestOf({ ...first, [name]: undefined });
    expect(caught(() => manifest.fields(place))).toMatchObject({ ...place, code: 'BLOOM_BAD_VERSION', problem: `no ${entry} entry in descriptor` });
    // The first one that LevelDB looks for is named.
    expect(caught(() => manifestOf({}).fields(place))).toMatchObject({ problem: 'no meta-nextfile entry in descriptor' });
  });

  test('with two comparators are damaged, and the same one twice is not', () => {
    const manifest = manifestOf(first, { comparator: first.comparator });
    expect(caught(() => manifest.add(encodeVersionEdit({ comparator: 'other' }), place))).toMatchObject({
      ...place,
      code: 'BLOOM_BAD_VERSION',
      problem: 'the comparator changes from "leveldb.BytewiseComparator" to "other"',
    });
  });

  test('keep the last compact pointer of each level', () => {
    const pointer = (level: number, key: string): VersionEdit => ({ compactPointers: [{ level, key: utf8(key) }] });
    const manifest = manifestOf(pointer(1, 'a'), pointer(3, 'b'), pointer(1, 'c'), {});
    expect([...manifest.compactPointers]).toEqual([
      [1, utf8('c')],
      [3, utf8('b')],
    ]);
  });

  test('that are added to a copy change neither fields, tables nor pointers of the original', () => {
    const manifest = manifestOf(first, { newFiles: [file(5n)], compactPointers: [{ level: 1, key: utf8('p') }] });
    const copy = manifest.copy();
    copy.add(encodeVersionEdit({ logNumber: 8n, newFiles: [file(6n)], compactPointers: [{ level: 2, key: utf8('q') }] }), place);
    const shown = ({ files, compactPointers }: ManifestBuilder): unknown => [files.levels.flat().map(({ number }) => number), [...compactPointers.keys()]];
    expect([shown(manifest), manifest.fields(place).logNumber]).toEqual([[[5n], [1]], 3n]);
    expect([shown(copy), copy.fields(place)]).toEqual([[[5n, 6n], [1, 2]], { ...first, logNumber: 8n }]);
  });
});

test('a MANIFEST has up to 1 GiB, and one byte more is refused by its length', () => {
  mustBeManifestLength({ byteLength: 2 ** 30 }, place);
  expect(caught(() => mustBeManifestLength({ byteLength: 2 ** 30 + 1 }, place))).toMatchObject({
    ...place,
    code: 'BLOOM_TOO_LARGE',
    problem: 'it has 1073741825 bytes, but a MANIFEST can be at most 1073741824 bytes: make a new one with Database.repair',
  });
});

describe('CURRENT', () => {
  test('is a name and a newline, and the name is not checked', () => {
    expect(encodeCurrent('MANIFEST-000002')).toEqual(utf8('MANIFEST-000002\n'));
    for (const name of ['MANIFEST-000002', '', 'any file', 'MANIFEST-000002\r', 'one\ntwo', '\ufeffname', 'ü']) {
      expect(decodeCurrent(encodeCurrent(name), place)).toBe(name);
    }
  });

  test.each(['', 'MANIFEST-000002', '\nMANIFEST-000002', 'MANIFEST-000002\n '])('%j is damaged: it does not end with a newline', (text) => {
    expect(caught(() => decodeCurrent(utf8(text), place))).toMatchObject({ ...place, code: 'BLOOM_BAD_CURRENT', problem: 'it does not end with a newline' });
  });
});
