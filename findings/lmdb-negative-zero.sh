#!/usr/bin/env bash
# Versions: lmdb 3.5.6 from npm (lmdb-js).
#
# Expected: the order of keys that are numbers is that of the numbers, as the documentation says, and `getRange` and `getKeys` return the
# keys that were put. So -0 is either the same key as 0, or one next to it.
#
# Actual: -0 is a key of its own, after all other numbers, and `getKeys` returns it as the array ['\x18', null]. So an entry that was put with
# the result of Math.round(-0.4) or 0 * -1 is in no range of numbers around 0, and the key that `getKeys` returns for it is not found. As a
# bound, -0 makes a range up to 2 empty, and one that begins at -1 include all numbers. The encoding recognizes negative numbers by
# `key < 0`, which is false for -0, so the sign bit of -0 stays in the key as if it were part of a positive number.
#
#   put: -1, -0, 1, Infinity
#   getKeys(): [-1,1,Infinity,["\u0018",null]]
#   getKeys({ start: -1, end: 1 }): [-1]
#   get(-0): "minus zero", get(0): undefined, get of the returned key: undefined
#   getKeys({ start: -0, end: 2 }): []
#   getKeys({ start: -1, end: -0 }): [-1,1,Infinity]
#
# Needs: Node.js 20 or later with npm.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

echo '{ "private": true }' > package.json
npm install --silent --no-audit --no-fund lmdb@3.5.6

cat > finding.cjs <<'JS'
const { open } = require('lmdb');

const text = (value) => (Array.isArray(value) ? `[${value.map(text)}]` : value === Infinity ? 'Infinity' : JSON.stringify(value));

(async () => {
  const db = open({ path: 'database' });
  await db.put(-1, 'minus one');
  await db.put(-0, 'minus zero');
  await db.put(1, 'one');
  await db.put(Infinity, 'infinity');
  console.log('put: -1, -0, 1, Infinity');
  const keys = [...db.getKeys()];
  console.log(`getKeys(): ${text(keys)}`);
  console.log(`getKeys({ start: -1, end: 1 }): ${text([...db.getKeys({ start: -1, end: 1 })])}`);
  console.log(`get(-0): ${text(db.get(-0))}, get(0): ${text(db.get(0))}, get of the returned key: ${text(db.get(keys.at(-1)))}`);
  console.log(`getKeys({ start: -0, end: 2 }): ${text([...db.getKeys({ start: -0, end: 2 })])}`);
  console.log(`getKeys({ start: -1, end: -0 }): ${text([...db.getKeys({ start: -1, end: -0 })])}`);
  await db.close();
})();
JS

node finding.cjs | tee seen
diff - seen <<'EXPECTED'
put: -1, -0, 1, Infinity
getKeys(): [-1,1,Infinity,["\u0018",null]]
getKeys({ start: -1, end: 1 }): [-1]
get(-0): "minus zero", get(0): undefined, get of the returned key: undefined
getKeys({ start: -0, end: 2 }): []
getKeys({ start: -1, end: -0 }): [-1,1,Infinity]
EXPECTED
