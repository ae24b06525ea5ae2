#!/usr/bin/env bash
# Versions: classic-level 3.0.0 and memory-level 3.1.0, two implementations of abstract-level 3.
#
# Expected: a range with `limit` returns, or with `clear` deletes, at most that many entries, and all of them if there are fewer, as
# abstract-level's documentation says and as memory-level does. A cache of 4 GiB holds at least what a cache of 8 MiB holds.
#
# Actual: classic-level keeps only the lower 32 bits of the number, without an error. With a limit of 2**32, iterators find the database
# empty and `clear` deletes nothing; with 2**32 + 1, they return and delete one entry. Programs that mean “practically all” by such a limit
# miss entries. Infinity, -1 and Number.MAX_SAFE_INTEGER work, the last one because its lower 32 bits are -1. The iterator's `limit` property
# still has the whole number. `cacheSize` is read in the same way: a cache of 4 GiB holds nothing.
#
#   memory-level: -1 returns 4, 4294967295 returns 4, 4294967296 returns 4, 4294967297 returns 4, 9007199254740991 returns 4, Infinity returns 4
#   memory-level: `limit` of an iterator with 4294967296: 4294967296
#   memory-level: clear({ limit: 4294967296 }) leaves 0 of 4
#   memory-level: clear({ limit: 4294967297 }) leaves 0 of 4
#   classic-level: -1 returns 4, 4294967295 returns 4, 4294967296 returns 0, 4294967297 returns 1, 9007199254740991 returns 4, Infinity returns 4
#   classic-level: `limit` of an iterator with 4294967296: 4294967296
#   classic-level: clear({ limit: 4294967296 }) leaves 4 of 4
#   classic-level: clear({ limit: 4294967297 }) leaves 3 of 4
#   classic-level: a cache of 8388608 bytes keeps a block: true
#   classic-level: a cache of 4294967295 bytes keeps a block: true
#   classic-level: a cache of 4294967296 bytes keeps a block: false
#
# How the cache is seen: a compressed block is read, then bytes of it are overwritten in the file, and then it is read again. That succeeds
# only if the block is in the cache.
#
# Needs: Node.js 20 or later with npm.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund classic-level@3.0.0 memory-level@3.1.0

cat > finding.cjs <<'JS'
const { readdirSync, writeFileSync } = require('node:fs');
const { ClassicLevel } = require('classic-level');
const { MemoryLevel } = require('memory-level');

async function showLimits(name, db) {
  const fill = () => db.batch(['a', 'b', 'c', 'd'].map((key) => ({ type: 'put', key, value: 'value' })));
  await fill();
  const counts = [];
  for (const limit of [-1, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER, Infinity]) {
    counts.push(`${limit} returns ${(await db.keys({ limit }).all()).length}`);
  }
  console.log(`${name}: ${counts.join(', ')}`);
  const iterator = db.keys({ limit: 2 ** 32 });
  console.log(`${name}: \`limit\` of an iterator with ${2 ** 32}: ${iterator.limit}`);
  await iterator.close();
  for (const limit of [2 ** 32, 2 ** 32 + 1]) {
    await fill();
    await db.clear({ limit });
    console.log(`${name}: clear({ limit: ${limit} }) leaves ${(await db.keys().all()).length} of 4`);
  }
  await db.close();
}

async function showCache(cacheSize) {
  const folder = `cache-${cacheSize}`;
  const db = new ClassicLevel(folder, { cacheSize });
  const value = 'x'.repeat(1000);
  for (let i = 0; i < 20; i++) await db.put(`key${i}`, value);
  await db.compactRange('key', 'key~');
  await db.get('key0');
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.ldb'))) {
    // In place, because LevelDB has the file mapped. The first block starts at the first byte.
    writeFileSync(`${folder}/${file}`, Buffer.alloc(100, 0xff), { flag: 'r+' });
  }
  const again = await db.get('key0').catch(() => undefined);
  console.log(`classic-level: a cache of ${cacheSize} bytes keeps a block: ${again === value}`);
  await db.close();
}

(async () => {
  await showLimits('memory-level', new MemoryLevel());
  await showLimits('classic-level', new ClassicLevel('limits'));
  for (const cacheSize of [8 * 2 ** 20, 2 ** 32 - 1, 2 ** 32]) await showCache(cacheSize);
})();
JS

node finding.cjs | tee seen
diff - seen <<'EXPECTED'
memory-level: -1 returns 4, 4294967295 returns 4, 4294967296 returns 4, 4294967297 returns 4, 9007199254740991 returns 4, Infinity returns 4
memory-level: `limit` of an iterator with 4294967296: 4294967296
memory-level: clear({ limit: 4294967296 }) leaves 0 of 4
memory-level: clear({ limit: 4294967297 }) leaves 0 of 4
classic-level: -1 returns 4, 4294967295 returns 4, 4294967296 returns 0, 4294967297 returns 1, 9007199254740991 returns 4, Infinity returns 4
classic-level: `limit` of an iterator with 4294967296: 4294967296
classic-level: clear({ limit: 4294967296 }) leaves 4 of 4
classic-level: clear({ limit: 4294967297 }) leaves 3 of 4
classic-level: a cache of 8388608 bytes keeps a block: true
classic-level: a cache of 4294967295 bytes keeps a block: true
classic-level: a cache of 4294967296 bytes keeps a block: false
EXPECTED
