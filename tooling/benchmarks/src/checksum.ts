// Measures the processor time of the checksum against other packages, in one process, in rounds that alternate:
// `npx pnpm@10 --filter @bloom/benchmarks checksum`. Prints the table of packages/crc32c/README.md.
import { createRequire } from 'node:module';
import { seeded } from '@bloom/bytes/internal';
import { crc32c } from '@bloom/crc32c';
import { spread } from './measure.js';
import { markdownTable } from './report.js';

type Checksum = (bytes: Uint8Array) => number;

const require = createRequire(import.meta.url);
const native = require('@node-rs/crc32') as { readonly crc32c: Checksum };
const javaScript = require('crc-32/crc32c') as { readonly buf: Checksum };

/** The checksum as it is in a host that forbids WebAssembly. */
async function withoutWebAssembly(): Promise<Checksum> {
  const host = globalThis as { WebAssembly?: unknown };
  const { WebAssembly } = host;
  // The query makes it a module of its own.
  const { crc32c: plain } = (await import(`${import.meta.resolve('@bloom/crc32c')}?plain`)) as { readonly crc32c: Checksum };
  delete host.WebAssembly;
  try {
    plain(new Uint8Array(1));
  } finally {
    host.WebAssembly = WebAssembly;
  }
  return plain;
}

const checksums: [string, Checksum][] = [
  ['@bloom/crc32c', crc32c],
  ['without WebAssembly', await withoutWebAssembly()],
  ['@node-rs/crc32', native.crc32c],
  ['crc-32', (bytes) => javaScript.buf(bytes) >>> 0],
];

const LENGTHS = [64, 256, 1024, 4096, 65_536, 1_048_576];
const ROUNDS = 21;
/** Bytes that one round sums up. */
const ROUND_BYTES = 2 ** 22;

const rows = LENGTHS.map((length) => {
  const random = seeded(length);
  const inputs = Array.from({ length: Math.min(16, ROUND_BYTES / length) }, () => random.bytes(length));
  for (const bytes of inputs) {
    if (new Set(checksums.map(([, checksum]) => checksum(bytes))).size > 1) throw new Error(`the checksums of ${length} bytes differ`);
  }
  const passes = Math.ceil(ROUND_BYTES / length / inputs.length);
  const times = checksums.map((): number[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, [, checksum]] of checksums.entries()) {
      const start = process.cpuUsage();
      for (let pass = 0; pass < passes; pass++) for (const bytes of inputs) checksum(bytes);
      const { user, system } = process.cpuUsage(start);
      times[i]!.push(((user + system) * 1000) / passes / inputs.length);
    }
  }
  return [length.toLocaleString('en'), ...times.map((nanoseconds) => Math.round(spread(nanoseconds).median).toLocaleString('en'))];
});
process.stdout.write(`${markdownTable(['bytes', ...checksums.map(([name]) => `${name}, ns`)], rows)}\n`);
