import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { realTables } from '@bloom/fixtures';
import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySink, TableBuilder } from '@bloom/sstable';
import { expect, test } from 'vitest';
import { weatherTable } from '../../samples/weather-table.js';
import { describeInChromium } from '../in-chromium.js';

const command = join(import.meta.dirname, '../../../cli/dist/bloom.cjs');
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

function tableOf(keys: readonly Uint8Array[], policy: BloomFilterPolicy | null = new BloomFilterPolicy(10), value = new Uint8Array(0)): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { filterPolicy: policy, compression: 'none' });
  for (const key of keys) builder.add(key, value);
  builder.finish();
  return sink.toBytes();
}

/** What `bloom stat` prints, by the names of the rows. */
function printed(bytes: Uint8Array): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'bloom-stat-'));
  try {
    writeFileSync(join(folder, 'table.ldb'), bytes);
    const text = execFileSync(process.execPath, [command, 'stat', 'table.ldb'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    // Up to the histogram; lines that begin with spaces continue the row before.
    const rows = text.split('\n\n')[0]!.replaceAll(/\n {15,}/g, ' ').split('\n');
    return new Map(rows.map((line) => [line.slice(0, 15).trim(), line.slice(15).trim()] as const));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Tables of databases: with keys in bytewise order, and in Chromium's order for IndexedDB. */
const stored = ['bedrock-provider', 'dfindexeddb'].map((program) => realTables().find(({ file }) => file.startsWith(program))!);
const long = (i: number): Uint8Array => utf8(`${'x'.repeat(400)}${String(i).padStart(5, '0')}`);

describeInChromium('what the table view says of a whole table', ({ open, server }) => {
  const tables: readonly (readonly [string, Uint8Array])[] = [
    ['the sample', weatherTable()],
    ['a table with even numbers as keys', tableOf(Array.from({ length: 5000 }, (_, i) => utf8(`key ${String(2 * i).padStart(6, '0')}`)))],
    ['a table with all numbers up to one as keys', tableOf(Array.from({ length: 100 }, (_, i) => Uint8Array.of(i)))],
    ['a table with long keys', tableOf(Array.from({ length: 500 }, (_, i) => long(3 * i)))],
    ['a table without keys', tableOf([])],
    ...stored.map(({ file, bytes }) => [file, bytes()] as const),
  ];
  test.each(tables)('is what bloom stat prints of %s', async (_, bytes) => {
    const rows = printed(bytes);
    const explorer = await open('#/table');
    await explorer.give({ name: 'table.ldb', bytes });
    const contents = explorer.region('Contents');
    await contents.locator('[data-fact=entries]').waitFor();
    const saidOf = async (fact: string): Promise<string | undefined> => {
      const value = contents.locator(`[data-fact="${fact}"]`);
      if ((await value.count()) === 0) return undefined;
      const detail = (await contents.locator(`[data-fact="${fact}-detail"]`).textContent())!.trim();
      return `${await value.textContent()}: ${detail}`;
    };
    // The command quotes the example, and cuts it elsewhere.
    const upToExample = (text: string | undefined): string | undefined => text?.replace(/such as .*/s, 'such as');
    await expect.poll(() => saidOf('false-positives')).toBe(rows.get('false positives'));
    expect(upToExample(await saidOf('neighbours'))).toBe(upToExample(rows.get('of neighbours')));
    expect(`${await explorer.fact('entries')}:`).toBe(rows.get('entries')!.split(' ')[0]);
    const text = (await contents.textContent())!;
    for (const bytesOf of /: (.* bytes?) of keys, (.*) of values$/.exec(rows.get('entries')!)!.slice(1)) expect(text).toContain(bytesOf);
    const bits = rows.get('bits per key')?.split(',')[0];
    if (bits !== undefined && !bits.startsWith('none')) expect(await explorer.fact('bits-per-key')).toBe(bits);
    if (!rows.get('compression')!.startsWith('none')) expect(await explorer.fact('compression')).toBe(rows.get('compression'));
  });

  test('names an absent neighbour in the form of the other keys', async () => {
    const explorer = await open('#/table?sample=1');
    await expect.poll(() => explorer.fact('neighbours-detail')).toMatch(/absent keys next to stored keys passed, such as weather\/\w+\/\d{4}-\d\d-\d\d/);
    await explorer.choose('Hex');
    await expect.poll(() => explorer.fact('neighbours-detail')).toMatch(/such as 77 65 61 74 68 65 72/);
  });

  test('has no rate where there are no filters, and says where a table is too large for one', async () => {
    const without = await open('#/table');
    await without.give({ name: 'without.ldb', bytes: tableOf([utf8('a')], null) });
    await without.region('Contents').locator('[data-fact=entries]').waitFor();
    expect(await without.page.locator('[data-fact=false-positives]').count()).toBe(0);
    server().files.set('large.ldb', tableOf(Array.from({ length: 68 }, (_, i) => Uint8Array.of(i)), undefined, new Uint8Array(2 ** 20)));
    const large = await open(`#/table?url=${server().origin}/files/large.ldb`);
    await large.button('Check the whole file').click();
    await expect.poll(() => large.fact('false-positives-detail')).toContain('too large for this page');
  });
});
