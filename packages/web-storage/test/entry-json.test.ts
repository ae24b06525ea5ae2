import { describe, expect, test } from 'vitest';
import { entryJson, type JsonEntry } from '../src/index.js';

const entry: JsonEntry = { place: { database: 'd', store: 1 }, key: 'k', value: [undefined], isComplete: true, error: undefined };
const version = { sequence: 2n ** 53n + 1n, type: 'value', file: '000003.log' };

describe('entryJson', () => {
  test.each<[string, JsonEntry, string]>([
    ['a record', entry, '{"database":"d","store":1,"key":"k","value":[{"$type":"undefined"}]}'],
    ['a version, whose sequence is exact', { ...entry, version }, '{"database":"d","store":1,"sequence":"9007199254740993","type":"value","file":"000003.log","key":"k","value":[{"$type":"undefined"}]}'],
    ['a deletion', { ...entry, place: undefined, value: undefined, version: { ...version, type: 'deletion' } }, '{"sequence":"9007199254740993","type":"deletion","file":"000003.log","key":"k"}'],
    ['a record of an index', { ...entry, place: {}, primaryKey: 3 }, '{"key":"k","primaryKey":3,"value":[{"$type":"undefined"}]}'],
    ['a record whose primary key is its key', { ...entry, place: {}, primaryKey: 'k' }, '{"key":"k","value":[{"$type":"undefined"}]}'],
    ['a key that cannot be read', { ...entry, place: {}, key: undefined, value: undefined, isComplete: false, error: { code: 'BLOOM_BAD_KEY', message: 'm' } }, '{"error":{"code":"BLOOM_BAD_KEY","message":"m"}}'],
    ['a value that is not complete', { ...entry, place: {}, isComplete: false }, '{"key":"k","value":[{"$type":"undefined"}],"complete":false}'],
  ])('writes %s', (_, given, line) => {
    expect(entryJson(given)).toBe(line);
  });

  test('leaves the value out on request', () => {
    expect(entryJson({ ...entry, place: undefined }, { omitValue: true })).toBe('{"key":"k"}');
  });
});
