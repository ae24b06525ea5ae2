#!/usr/bin/env bash
# Versions: undici 6.23.0 and 7.30.2, whose `fetch` is also that of Node.js: 20.20.2 has undici 6.24.1, which does the same as 6.23.0.
#
# Expected: `fetch` of a blob: URL with a Range header gives the bytes of the range, as the Fetch standard says ("blob" in "scheme fetch") and
# as browsers do. Readers of files in pieces, such as LevelDB tables that a page got as a Blob, rely on it.
#
# Actual: with undici 6, the status is 206 and Content-Range names the range that was asked for, but its last byte is missing, and
# Content-Length is one too small, so nothing shows it. bytes=0-0 gives no byte at all. undici 7 gives the bytes. In both versions a range
# without an end is a network error, although a range without a start is not. undici 8.13.1 gives the bytes of all of them.
#
#   6.23.0 bytes=0-0: 206 bytes 0-0/10 length 0 ""
#   6.23.0 bytes=0-4: 206 bytes 0-4/10 length 4 "0123"
#   6.23.0 bytes=-3: 206 bytes 7-9/10 length 2 "78"
#   6.23.0 bytes=7-: fetch failed
#   7.30.2 bytes=0-0: 206 bytes 0-0/10 length 1 "0"
#   7.30.2 bytes=0-4: 206 bytes 0-4/10 length 5 "01234"
#   7.30.2 bytes=-3: 206 bytes 7-9/10 length 3 "789"
#   7.30.2 bytes=7-: fetch failed
#
# Needs: npm, Node.js 20.18.1 or later.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

npm install --silent --no-audit --no-fund undici6@npm:undici@6.23.0 undici7@npm:undici@7.30.2

cat > ranges.mjs <<'JS'
const url = URL.createObjectURL(new Blob(['0123456789']));
for (const [name, version] of [['undici6', '6.23.0'], ['undici7', '7.30.2']]) {
  const { fetch } = await import(name);
  for (const range of ['bytes=0-0', 'bytes=0-4', 'bytes=-3', 'bytes=7-']) {
    try {
      const response = await fetch(url, { headers: { range } });
      const { status, headers } = response;
      console.log(`${version} ${range}: ${status} ${headers.get('content-range')} length ${headers.get('content-length')} ${JSON.stringify(await response.text())}`);
    } catch (error) {
      console.log(`${version} ${range}: ${error.message}`);
    }
  }
}
JS

node ranges.mjs | tee seen
diff - seen <<'EXPECTED'
6.23.0 bytes=0-0: 206 bytes 0-0/10 length 0 ""
6.23.0 bytes=0-4: 206 bytes 0-4/10 length 4 "0123"
6.23.0 bytes=-3: 206 bytes 7-9/10 length 2 "78"
6.23.0 bytes=7-: fetch failed
7.30.2 bytes=0-0: 206 bytes 0-0/10 length 1 "0"
7.30.2 bytes=0-4: 206 bytes 0-4/10 length 5 "01234"
7.30.2 bytes=-3: 206 bytes 7-9/10 length 3 "789"
7.30.2 bytes=7-: fetch failed
EXPECTED
