// pnpm writes files into a tarball in the order in which it finds them, which varies. This sorts them by name, so that the same files give
// the same bytes.
import { readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';

const BLOCK = 512;

/** Offsets in a header: the size, in octal digits, and the type of the entry. */
const SIZE = { start: 124, end: 136 };
const TYPE = 156;

/** Types of headers that describe the next file. */
const EXTENDED = new Set(['x', 'g', 'L']);

/** @param {string} file a .tgz, which is replaced */
export function sortTarball(file) {
  const tar = gunzipSync(readFileSync(file));
  /** @type {{ name: string, bytes: Buffer }[]} */
  const entries = [];
  let start = 0;
  for (let at = 0; at < tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(tar.toString('latin1', at + SIZE.start, at + SIZE.end), 8);
    const end = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    if (!EXTENDED.has(String.fromCharCode(tar[at + TYPE] ?? 0))) {
      const name = tar.toString('utf8', at, tar.indexOf(0, at));
      entries.push({ name, bytes: tar.subarray(start, end) });
      start = end;
    }
    at = end;
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const sorted = gzipSync(Buffer.concat([...entries.map(({ bytes }) => bytes), Buffer.alloc(2 * BLOCK)]), { level: 9 });
  // The byte for the operating system is 255, "unknown".
  sorted[9] = 255;
  writeFileSync(file, sorted);
}
