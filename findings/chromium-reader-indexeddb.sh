#!/usr/bin/env bash
# Versions: chromium-reader 0.1.1 and dfindexeddb 20260210, from PyPI; Chromium 131, from @sparticuz/chromium 131.0.1 on npm.
#
# Expected: IndexedDbReader of chromium-reader returns the databases, object stores and records of a folder of IndexedDB, as its
# documentation shows.
#
# Actual: it returns no database, no store and no record for any folder, without an exception. The keys that it expects are not those that
# Chromium writes: it reads the id of a store as the kind of an entry, expects a key of type 0 after the id of the index, and ends the
# origin in the names of databases at the first zero byte, which is part of its first character. dfindexeddb finds the record.
#
#   chromium-reader: 0 databases, 0 stores, 0 records
#   dfindexeddb: 1 record, {'a': 1}
#
# Needs: Node.js 20 or later with npm, Python 3.11 or later with pip, on Linux with an x64 processor and the libraries that Chromium
# needs (libnss3).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check chromium-reader==0.1.1 dfindexeddb==20260210
npm pack --silent @sparticuz/chromium@131.0.1 > archive
tar xzf "$(cat archive)"

cat > store.mjs <<'JS'
// Stores { a: 1 } under "key" in a page of Chromium.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { brotliDecompressSync } from 'node:zlib';

writeFileSync('browser', brotliDecompressSync(readFileSync('package/bin/chromium.br')), { mode: 0o755 });
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
JS
node store.mjs

cat > finding.py <<'PYTHON'
import pathlib

from chromium_reader import IndexedDbReader
from dfindexeddb.indexeddb.chromium.record import FolderReader

(folder,) = pathlib.Path("profile/Default/IndexedDB").glob("*.leveldb")
(folder.parent / folder.name.replace(".leveldb", ".blob")).mkdir(exist_ok=True)
with IndexedDbReader(folder) as reader:
    found = [len(reader.databases), len(list(reader.object_stores())), len(list(reader.records(include_deletions=True, skip_undecodable=False)))]
print("chromium-reader: {} databases, {} stores, {} records".format(*found))
records = [record.value.value for record in FolderReader(folder).GetRecords() if type(record.value).__name__ == "ObjectStoreDataValue"]
print(f"dfindexeddb: {len(records)} record, {records[0]}")
PYTHON

python/bin/python finding.py | grep -v '^Ignoring' | tee seen
diff - seen <<'EXPECTED'
chromium-reader: 0 databases, 0 stores, 0 records
dfindexeddb: 1 record, {'a': 1}
EXPECTED
