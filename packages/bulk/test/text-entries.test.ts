import { MemoryStore, type BulkInputEntry, writeParts } from '@bloom/bulk';
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
