import { arrayRun, type BulkInputEntry, merge, MemoryStore, type Run, writeParts } from '@bloom/bulk';
import { expect, test } from 'vitest';
import { collected } from './model.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test('text stands for its UTF-8: the parts are the same as those of bytes', async () => {
  const texts: BulkInputEntry[] = [['a', '1'], ['é', undefined], ['𝄞', '€']];
  const bytes: BulkInputEntry[] = texts.map(([key, value]) => [utf8(key as string), value === undefined ? undefined : utf8(value as string)]);
  const [ofTexts, ofBytes] = await Promise.all([texts, bytes].map((entries) => collected(writeParts(new MemoryStore(), [entries], { sequence: 1n }))));
  expect(ofTexts).toEqual(ofBytes);
  expect(ofTexts![0]).toMatchObject({ entries: 3, deletions: 1, last: utf8('𝄞') });
});

test('half of a surrogate pair is refused', async () => {
  await expect(collected(writeParts(new MemoryStore(), [[['\ud800', '1']]], { sequence: 1n }))).rejects.toThrow(new RangeError('key must be well-formed text, got a string with half of a surrogate pair'));
});

test('text in an array of entries is merged as its UTF-8', async () => {
  const runs = [arrayRun([['b', 'new'], ['é', undefined]]), arrayRun([['a', '1'], ['b', 'old'], ['c', '2']])];
  const merged = (await collected(merge(runs, { gte: utf8('a'), lt: utf8('ê') }))).flat();
  expect(merged).toEqual([[utf8('a'), utf8('1')], [utf8('b'), utf8('new')], [utf8('c'), utf8('2')], [utf8('é'), undefined]]);
  await expect(collected(merge([arrayRun([['b', '1'], ['a', '2']])]))).rejects.toThrow(new RangeError('runs[0] is not in ascending order by leveldb.BytewiseComparator'));
  expect(() => arrayRun([['a', '1'], ['\ud800', '2']])).toThrow(new RangeError('the key of entries[1] must be well-formed text, got a string with half of a surrogate pair'));
  expect(() => arrayRun([['a', 'b', 'c'] as never])).toThrow(new TypeError('entries[0] must be a key and a value, got an array of 3'));
  expect(() => arrayRun([['a', null as never]])).toThrow(new TypeError('the value of entries[0] must be a Uint8Array or a string, got null'));
});

test('text that a run of its own yields is refused, as no comparator orders it', async () => {
  const run: Run = { async *entries() { yield [['b', '1'], ['a', '2']] as never; } };
  await expect(collected(merge([run]))).rejects.toThrow(new TypeError('a key of runs[0] must be a Uint8Array, got string'));
});
