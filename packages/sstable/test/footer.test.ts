import { fromHex } from '@bloom/fixtures';
import { CorruptionError, UnsupportedError } from '@bloom/sstable';
import { expect, test } from 'vitest';
import type { Place } from '@bloom/bytes';
import { decodeFooter, encodeFooter, engineOfTable, FOOTER_LENGTH, footerLayout } from '../src/format/footer.js';
import { caught } from '@bloom/fixtures/caught';
import { hex } from './entries.js';

const place: Place = { structure: 'footer', offset: 26, file: 'a.ldb' };
const magic = '57fb808b247547db';

// The last 48 bytes of LevelDB's empty table without a filter.
const ofEmptyTable = `00080d08${'00'.repeat(36)}${magic}`;

test('the footer of an empty table has the bytes that LevelDB writes', () => {
  const footer = { metaindex: { offset: 0, size: 8 }, index: { offset: 13, size: 8 } };
  expect(hex(encodeFooter(footer))).toBe(ofEmptyTable);
  expect(decodeFooter(fromHex(ofEmptyTable), place)).toEqual(footer);
});

test('the largest handles leave room for the magic number', () => {
  const handle = { offset: Number.MAX_SAFE_INTEGER, size: Number.MAX_SAFE_INTEGER };
  const bytes = encodeFooter({ metaindex: handle, index: handle });
  expect(bytes).toHaveLength(FOOTER_LENGTH);
  expect(decodeFooter(bytes, place)).toEqual({ metaindex: handle, index: handle });
});

// RocksDB's magic numbers are the first 64 bits of a SHA-1, such as that of `echo rocksdb.table.plain`. Those of block_based and
// cuckoo are made in the same way.
test.each([
  ['f7cff485b741e288', 'RocksDB'],
  ['6495bf6396224282', 'RocksDB plain'],
  ['b8138f7aeb18344f', 'RocksDB plain'],
  ['7378f1c5d0896792', 'RocksDB cuckoo'],
  ['f09faab3f09faab3', 'Pebble'],
  ['f09faab3f09fa680', 'Pebble blob file'],
])('the magic number %s is reported as that of %s', (other, name) => {
  const error = caught(() => decodeFooter(fromHex('00'.repeat(40) + other), place));
  expect(error).toBeInstanceOf(UnsupportedError);
  expect(error).toMatchObject({ code: 'BLOOM_UNSUPPORTED_FORMAT', structure: 'footer', offset: 26, file: 'a.ldb' });
  expect((error as UnsupportedError).message).toContain(name);
});

test.each(['57fb808b247547da', '000102030405060f'])('any other magic number is reported as not a table: %s', (other) => {
  const error = caught(() => decodeFooter(fromHex(`00080d08${'00'.repeat(36)}${other}`), place));
  expect(error).toBeInstanceOf(CorruptionError);
  expect(error).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', structure: 'footer', offset: 26, file: 'a.ldb' });
  expect((error as CorruptionError).message).toContain(`it ends in ${other}, not in ${magic}`);
});

test('the last eight bytes of a file tell whose table it is', () => {
  expect(engineOfTable(fromHex(magic))).toBe('LevelDB');
  expect(engineOfTable(fromHex('f7cff485b741e288'))).toMatchObject({ engine: 'RocksDB' });
  expect(engineOfTable(fromHex('f09faab3f09faab3'))).toMatchObject({ engine: 'Pebble' });
  for (const other of ['57fb808b247547da', magic.slice(2), '']) expect(engineOfTable(fromHex(other))).toBeUndefined();
});

const textual = (end: string): Uint8Array => new TextEncoder().encode(end.padStart(FOOTER_LENGTH, 'a'));

test.each(['</html>', '</HTML>\r\n\t ', '<body></body></html>\n'])('the end of an HTML page is reported as one: %j', (end) => {
  expect(caught(() => decodeFooter(textual(end), place))).toMatchObject({
    code: 'BLOOM_NOT_A_TABLE',
    message: expect.stringContaining('not a LevelDB table but an HTML page, which a server may have sent in its place') as string,
  });
});

test('the end of a Git LFS pointer is reported as one', () => {
  expect(caught(() => decodeFooter(textual(`oid sha256:${'4d'.repeat(32)}\nsize 12345\n`).slice(-FOOTER_LENGTH), place))).toMatchObject({
    code: 'BLOOM_NOT_A_TABLE',
    message: expect.stringContaining('not a LevelDB table but a Git LFS pointer, not the file itself: run git lfs pull') as string,
  });
});

test('the end of another text is not reported as that of an HTML page, and neither are bytes that only end like one', () => {
  const binary = textual('</html>');
  binary[0] = 1;
  for (const end of [textual('</html> text'), textual('</html>.'), textual('</xhtml'), binary]) {
    expect(caught(() => decodeFooter(end, place))).toMatchObject({ code: 'BLOOM_NOT_A_TABLE', message: expect.stringContaining('not a LevelDB table: it ends in ') as string });
  }
});

test.each([
  ['the metaindex', 'ff'.repeat(40)],
  ['the index', `0008${'ff'.repeat(38)}`],
  ['an index that runs into the magic number', `${'8080808080808080807f'.repeat(3)}${'80'.repeat(10)}`],
])('a handle of %s that cannot be read is reported as damage', (_, handles) => {
  const error = caught(() => decodeFooter(fromHex(handles + magic), place));
  expect(error).toBeInstanceOf(CorruptionError);
  expect(error).toMatchObject({ code: 'BLOOM_BAD_HANDLE', structure: 'footer', offset: 26 });
  expect((error as CorruptionError).message).toContain('the handles of metaindex and index cannot be read');
});

test('the layout of a footer has its handles, padding and magic number, with their offsets in the file', () => {
  expect(footerLayout(encodeFooter({ metaindex: { offset: 300, size: 8 }, index: { offset: 13, size: 9 } }), 100)).toEqual([
    { offset: 100, byteLength: 3, label: 'metaindex handle', value: 'offset 300, size 8' },
    { offset: 103, byteLength: 2, label: 'index handle', value: 'offset 13, size 9' },
    { offset: 105, byteLength: 35, label: 'padding' },
    { offset: 140, byteLength: 8, label: 'magic number' },
  ]);
});

test('the layout of a footer whose handles leave no padding has no range for it', () => {
  const longest = 'ffffffffffffffffff00'.repeat(4);
  const labels = footerLayout(fromHex(longest + magic), 0).map(({ label, byteLength }) => `${label}: ${byteLength}`);
  expect(labels).not.toContain('padding: 0');
  expect(labels.at(-1)).toBe('magic number: 8');
});

test('the layout of a footer labels handles that cannot be read as padding', () => {
  const layout = (handles: string): string[] => footerLayout(fromHex(handles + magic), 10).map(({ offset, byteLength, label }) => `${offset} + ${byteLength}: ${label}`);
  expect(layout('ff'.repeat(40))).toEqual(['10 + 40: padding', '50 + 8: magic number']);
  expect(layout(`0008${'ff'.repeat(38)}`)).toEqual(['10 + 2: metaindex handle', '12 + 38: padding', '50 + 8: magic number']);
});
