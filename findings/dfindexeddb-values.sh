#!/usr/bin/env bash
# Versions: dfindexeddb 20260210 from PyPI; Chromium 131, from @sparticuz/chromium 131.0.1 on npm.
#
# Expected: dfindexeddb, a tool for forensic analysis, returns the records that a page stored in IndexedDB, with their values.
#
# Actual: half of the unsigned 64-bit numbers have the wrong value as a BigInt, without an error: 2n ** 63n is returned as -2 ** 63, and
# 2n ** 64n - 1n as -1. The digits are read as a signed number, but in V8's format the sign has a bit of its own. A regular expression with
# flags is left out, with an error in the log, because the byte of the flags is looked up as the tag of a value.
#
#   stored 9223372036854775807n, returned 9223372036854775807
#   stored 9223372036854775808n, returned -9223372036854775808
#   stored 12345678901234567890n, returned -6101065172474983726
#   stored 18446744073709551615n, returned -1
#   stored 18446744073709551616n, returned 18446744073709551616
#   stored -9223372036854775808n, returned 9223372036854775808
#   stored /a+b/gi, not returned
#   errors in the log: 1
#
# Needs: Node.js 20 or later with npm, Python 3.11 or later with pip, on Linux with an x64 processor and the libraries that Chromium
# needs (libnss3).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check dfindexeddb==20260210
npm pack --silent @sparticuz/chromium@131.0.1 > archive
tar xzf "$(cat archive)"

cat > store.mjs <<'JS'
// Stores values in a page of Chromium. Their keys say what they are.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';

writeFileSync('browser', brotliDecompressSync(readFileSync('package/bin/chromium.br')), { mode: 0o755 });
const page = `<script>
const request = indexedDB.open('database');
request.onupgradeneeded = () => {
  const store = request.result.createObjectStore('store');
  for (const value of [2n ** 63n - 1n, 2n ** 63n, 12345678901234567890n, 2n ** 64n - 1n, 2n ** 64n, -(2n ** 63n)]) store.put(value, value + 'n');
  store.put(/a+b/gi, '/a+b/gi');
};
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
JS
node store.mjs

cat > finding.py <<'PYTHON'
import pathlib

from dfindexeddb.indexeddb.chromium.record import FolderReader

(folder,) = pathlib.Path("profile/Default/IndexedDB").glob("*.leveldb")
(folder.parent / folder.name.replace(".leveldb", ".blob")).mkdir(exist_ok=True)
bigints = [2**63 - 1, 2**63, 12345678901234567890, 2**64 - 1, 2**64, -(2**63)]
values = {}
for record in FolderReader(folder).GetRecords():
    if type(record.value).__name__ == "ObjectStoreDataValue":
        values[record.key.encoded_user_key.value] = record.value.value
for key in [*(f"{number}n" for number in bigints), "/a+b/gi"]:
    print(f"stored {key}, returned {values[key]}" if key in values else f"stored {key}, not returned")
PYTHON

python/bin/python finding.py 2> log | tee seen
echo "errors in the log: $(grep -c '^dfindexeddb.errors.ParserError: ' log)" | tee -a seen
diff - seen <<'EXPECTED'
stored 9223372036854775807n, returned 9223372036854775807
stored 9223372036854775808n, returned -9223372036854775808
stored 12345678901234567890n, returned -6101065172474983726
stored 18446744073709551615n, returned -1
stored 18446744073709551616n, returned 18446744073709551616
stored -9223372036854775808n, returned 9223372036854775808
stored /a+b/gi, not returned
errors in the log: 1
EXPECTED
