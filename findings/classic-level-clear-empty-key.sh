#!/usr/bin/env bash
# Versions: classic-level 3.0.0 and memory-level 3.1.0, two implementations of abstract-level 3.
#
# Expected: `clear` deletes every entry in its range, as abstract-level's documentation says, and as memory-level does.
#
# Actual: classic-level's `clear` deletes nothing when the only entry to delete has the empty key, which is a valid key: in a
# database that has only this entry, with a range that has only this entry, and with `limit: 1` where it comes first. The promise
# resolves, so a program that clears a database finds an old entry in it. `clear` does delete the empty key along with at least one
# other entry, and `del` deletes it too.
#
#   memory-level, only the empty key, clear(): left []
#   memory-level, also "a", clear({ lt: "a" }): left ["a"]
#   memory-level, also "a", clear({ limit: 1 }): left ["a"]
#   memory-level, also "a", clear(): left []
#   classic-level, only the empty key, clear(): left [""]
#   classic-level, also "a", clear({ lt: "a" }): left ["","a"]
#   classic-level, also "a", clear({ limit: 1 }): left ["","a"]
#   classic-level, also "a", clear(): left []
#
# Needs: Node.js 20 or later with npm.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund classic-level@3.0.0 memory-level@3.1.0

cat > finding.cjs <<'JS'
const { ClassicLevel } = require('classic-level');
const { MemoryLevel } = require('memory-level');

async function left(db, keys, range) {
  for (const key of await db.keys().all()) await db.del(key);
  for (const key of keys) await db.put(key, 'value');
  await db.clear(range);
  return JSON.stringify(await db.keys().all());
}

async function look(name, db) {
  console.log(`${name}, only the empty key, clear(): left ${await left(db, [''], {})}`);
  console.log(`${name}, also "a", clear({ lt: "a" }): left ${await left(db, ['', 'a'], { lt: 'a' })}`);
  console.log(`${name}, also "a", clear({ limit: 1 }): left ${await left(db, ['', 'a'], { limit: 1 })}`);
  console.log(`${name}, also "a", clear(): left ${await left(db, ['', 'a'], {})}`);
  await db.close();
}

look('memory-level', new MemoryLevel()).then(() => look('classic-level', new ClassicLevel('database')));
JS
node finding.cjs | tee seen.txt

diff - seen.txt <<'TXT'
memory-level, only the empty key, clear(): left []
memory-level, also "a", clear({ lt: "a" }): left ["a"]
memory-level, also "a", clear({ limit: 1 }): left ["a"]
memory-level, also "a", clear(): left []
classic-level, only the empty key, clear(): left [""]
classic-level, also "a", clear({ lt: "a" }): left ["","a"]
classic-level, also "a", clear({ limit: 1 }): left ["","a"]
classic-level, also "a", clear(): left []
TXT
echo "As described above."
