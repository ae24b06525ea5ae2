// Uses each published package once, as it is installed from npm: bytes that LevelDB writes, a table, a database, a level.
import { deepStrictEqual, strictEqual } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble, MemoryStore, publish, writeParts } from '@bloom/bulk';
import { putVarint } from '@bloom/bytes';
import { zlibCodec } from '@bloom/codecs';
import { crc32c } from '@bloom/crc32c';
import { FilterBlockBuilder } from '@bloom/filter-block';
import { bloomHash } from '@bloom/hash';
import { BloomLevel } from '@bloom/level';
import { Database, DatabaseReader } from '@bloom/leveldb';
import { NodeFolder, WritableNodeFolder } from '@bloom/leveldb/node';
import { readLog } from '@bloom/log';
import { BloomFilterPolicy, buildFilter } from '@bloom/policy';
import { BlockedBloomFilterPolicy } from '@bloom/policy-blocked';
import { FuseFilterPolicy } from '@bloom/policy-fuse';
import { RibbonFilterPolicy } from '@bloom/policy-ribbon';
import { openTable, writeTable } from '@bloom/sstable/node';

/** @param {string} text */
const utf8 = (text) => new TextEncoder().encode(text);
const folder = mkdtempSync(join(tmpdir(), 'bloom-installed-'));
try {
  strictEqual(putVarint(new Uint8Array(10), 0, 300), 2);
  strictEqual(crc32c(utf8('123456789')), 0xe3069283);
  strictEqual(bloomHash(utf8('foo')), 0x9dfabe14);
  deepStrictEqual(readLog(new Uint8Array(0)).records, []);
  strictEqual(new FilterBlockBuilder(new BloomFilterPolicy(10)).finish().length, 5);
  const keys = Array.from({ length: 10_000 }, (_, i) => utf8(`key${i}`));
  for (const policy of [new BloomFilterPolicy(10), new BlockedBloomFilterPolicy(10), new FuseFilterPolicy(8), new RibbonFilterPolicy()]) {
    const filter = buildFilter(policy, keys);
    strictEqual(keys.every((key) => policy.keyMayMatch(key, filter)), true, policy.name);
  }

  const file = join(folder, 'fruit.ldb');
  await writeTable(file, [[utf8('apple'), utf8('red')], [utf8('pear'), utf8('green')]], { compression: zlibCodec });
  const table = await openTable(file, { codecs: [zlibCodec] });
  deepStrictEqual(await table.get(utf8('pear')), utf8('green'));
  strictEqual(table.filterStatus.state, 'used');
  await table.close();

  const path = join(folder, 'database');
  const database = await Database.open(new WritableNodeFolder(path));
  for (const key of keys) await database.put(key, key);
  await database.compactRange();
  await database.close();
  const reader = await DatabaseReader.open(new NodeFolder(path));
  deepStrictEqual(await reader.get(keys[4321]), keys[4321]);
  await reader.close();

  const store = new MemoryStore();
  const parts = [];
  for await (const part of writeParts(store, [[[utf8('apple'), utf8('red')]]], { sequence: 1n })) parts.push(part);
  await publish(store, await assemble(store, parts));
  const published = await DatabaseReader.open(store.folder());
  deepStrictEqual(await published.get(utf8('apple')), utf8('red'));
  await published.close();

  const level = new BloomLevel(join(folder, 'level'), { valueEncoding: 'json' });
  await level.put('hello', { to: 'world' });
  deepStrictEqual(await level.get('hello'), { to: 'world' });
  await level.close();
  console.log('ok');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
