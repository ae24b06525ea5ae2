// Writes tooling/fixtures/data/streams, for tests on machines without the libraries: streams compressed by Google's Snappy
// and the reference implementation of zstd, and Snappy's verdicts on mutated and random streams.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mutatedStream, randomSnappyStream, sampleContents, seeded } from '@bloom/fixtures';
import { referenceCodec, ZSTD_CHECKSUM, ZSTD_SMALL_WINDOW, ZSTD_WITHOUT_SIZE } from './index.js';

const folder = fileURLToPath(new URL('data/streams/', import.meta.resolve('@bloom/fixtures/package.json')));
const snappy = referenceCodec('snappy');
const zstd = referenceCodec('zstd');
if (snappy === undefined || zstd === undefined) throw new Error('Snappy, zstd or a C++ compiler is missing');
mkdirSync(folder, { recursive: true });

const MAX_BYTES = 2 ** 20;
const random = seeded(1);

function row(what: string, stream: Uint8Array, contents: Uint8Array | undefined): string {
  const sha256 = contents && createHash('sha256').update(contents).digest('hex').slice(0, 16);
  return JSON.stringify({ what, stream: Buffer.from(stream).toString('hex'), byteLength: contents?.length ?? null, sha256: sha256 ?? null });
}

function write(codec: string, rows: readonly string[]): void {
  writeFileSync(`${folder}${codec}.json`, `[\n${rows.join(',\n')}\n]\n`);
}

const contents = Array.from({ length: 60 }, () => sampleContents(random, random.below(300)));
const streams = snappy.encode(contents);
const changed = [
  ...Array.from({ length: 150 }, () => ({ what: 'changed', stream: mutatedStream(random, random.pick(streams), random.pick(streams)) })),
  ...Array.from({ length: 150 }, () => ({ what: 'random elements', stream: randomSnappyStream(random) })).filter(({ stream }) => stream.length < 500),
];
const verdicts = snappy.decode(changed.map(({ stream }) => stream), MAX_BYTES);
write('snappy', [
  ...streams.map((stream, i) => row('valid', stream, contents[i])),
  ...changed.map(({ what, stream }, i) => row(what, stream, verdicts[i])),
]);

const rows: string[] = [];
for (const level of [1, 3, 9, 19]) {
  for (const settings of [0, ZSTD_CHECKSUM, ZSTD_WITHOUT_SIZE, ZSTD_SMALL_WINDOW, ZSTD_CHECKSUM + ZSTD_WITHOUT_SIZE + ZSTD_SMALL_WINDOW]) {
    const samples = [0, 1, 700, 3000].map((length) => sampleContents(random, length));
    zstd.encode(samples, level + settings).forEach((stream, i) => rows.push(row(`level ${level}, settings ${settings}`, stream, samples[i])));
  }
}
write('zstd', rows);
