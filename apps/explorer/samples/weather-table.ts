import { BloomFilterPolicy } from '@bloom/policy';
import { MemorySink, TableBuilder } from '@bloom/sstable';
import { CITIES, weatherKey, weatherReport } from './weather.js';

const DAYS = 90;
/** Longer than the 2 KiB that a filter is for, so that some filters are empty. */
const MAP_BYTES = 9000;

/** A table as LevelDB would write it: 30 cities, 90 days each, and a few large values. */
export function weatherTable(): Uint8Array {
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { filterPolicy: new BloomFilterPolicy(10) });
  const encoder = new TextEncoder();
  for (const city of CITIES) {
    for (let day = 0; day < DAYS; day++) builder.add(encoder.encode(weatherKey(city, day)), encoder.encode(weatherReport(city, day)));
  }
  for (const [i, city] of CITIES.entries()) {
    if (i % 6 === 5) builder.add(encoder.encode(`world-map/${city}`), mapOf(i));
  }
  builder.finish();
  return sink.toBytes();
}

/** Bytes that are not text, and do not compress. */
function mapOf(seed: number): Uint8Array {
  const bytes = new Uint8Array(MAP_BYTES);
  let state = seed + 1;
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}
