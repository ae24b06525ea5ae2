#!/usr/bin/env bash
# Versions: Chromium 156.0.8078.108 of Debian 12.
#
# Expected: after Chromium was killed, it opens the IndexedDB of an origin with what was committed.
#
# Actual: if two transactions of one database were running, on different object stores, and each had changes in the folder,
# Chromium reports an error when it opens the folder, and deletes all databases of the origin. Both transactions hold the same
# shared lock on their database. When Chromium opens the folder, it requests each lock of an interrupted transaction as an
# exclusive one, so the second one is refused. With one transaction, everything that was committed is there.
#
#   1 transaction was running: d; then d
#   2 transactions were running: UnknownError; then nothing
#
# Needs: Node.js 20 or later, Chromium on the PATH as chromium (or its path in CHROMIUM).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat > finding.mjs <<'JS'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';

const store = `<script>
const count = Number(location.search.slice(1));
const request = indexedDB.open('d');
request.onupgradeneeded = () => {
  request.result.createObjectStore('0').put('committed', 'key');
  request.result.createObjectStore('1');
};
request.onsuccess = () => {
  let left = count;
  for (let i = 0; i < count; i++) {
    const store = request.result.transaction(String(i), 'readwrite').objectStore(String(i));
    store.put('not committed', 'other');
    let isFirst = true;
    // To read what was put, Chromium writes it to the folder. The transaction runs as long as it has requests.
    const read = () => {
      store.get('other').onsuccess = () => {
        if (isFirst && --left === 0) fetch('/report', { method: 'POST', body: 'ready' });
        isFirst = false;
        read();
      };
    };
    read();
  }
};
</script>`;
const look = `<script>
const names = () => indexedDB.databases().then((all) => all.map(({ name }) => name).join() || 'nothing', ({ name }) => name);
names().then(async (first) => fetch('/report', { method: 'POST', body: first + '; then ' + (await names()) }));
</script>`;

let report;
const server = createServer(async (request, response) => {
  if (request.method === 'POST') {
    let body = '';
    for await (const part of request) body += part;
    response.end();
    report(body);
  } else response.writeHead(200, { 'content-type': 'text/html' }).end(request.url.startsWith('/store') ? store : look);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

/** Opens a page, waits for its report, and kills the browser with all of its processes. */
async function reportOf(profile, path) {
  const reported = new Promise((resolve) => (report = resolve));
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
  const browser = spawn(process.env.CHROMIUM ?? 'chromium', [...flags, `http://127.0.0.1:${server.address().port}${path}`], { detached: true, stdio: 'ignore' });
  const result = await reported;
  process.kill(-browser.pid, 'SIGKILL');
  await once(browser, 'exit');
  return result;
}

for (const count of [1, 2]) {
  const profile = `${process.cwd()}/profile-${count}`;
  await reportOf(profile, `/store?${count}`);
  console.log(`${count} transaction${count === 1 ? ' was' : 's were'} running: ${await reportOf(profile, '/look')}`);
}
process.exit();
JS

node finding.mjs | tee seen
diff - seen <<'EXPECTED'
1 transaction was running: d; then d
2 transactions were running: UnknownError; then nothing
EXPECTED
