// writing-memory.test.ts runs this in a separate process. It writes a table of 300 MB to the path in its first argument, and
// prints how many bytes of memory that took.
import process from 'node:process';
import { peakMemory } from '@bloom/fixtures/peak-memory';
import { writeTable } from '@bloom/sstable/node';

const ENTRIES = 300_000;
const VALUE_LENGTH = 1000;

function* entries(): Generator<[Uint8Array, Uint8Array]> {
  const encoder = new TextEncoder();
  const value = new Uint8Array(VALUE_LENGTH);
  for (let i = 0; i < ENTRIES; i++) {
    value.fill(i);
    yield [encoder.encode(`key ${String(i).padStart(8, '0')}`), value];
  }
}

globalThis.gc?.();
const before = process.memoryUsage.rss();
const { byteLength } = await writeTable(process.argv[2]!, entries(), { compression: 'none' });
const growth = peakMemory() - before;
process.stdout.write(JSON.stringify({ byteLength, growth }));
