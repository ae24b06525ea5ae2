import { MemorySource, type Source } from '@bloom/sstable';
import { profileTable, salvagedEntries, salvageTable, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { describe, expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from './caught.js';
import { collect, numberedEntries } from './entries.js';

const bytes = buildTable(numberedEntries(30_000), { compression: 'none' });
/** A file with a hole and without index and footer, so that blocks are searched for. */
const cut = bytes.slice(0, bytes.length - 30_000).fill(0, 10_000, 100_000);

type Run = (source: Source, signal: AbortSignal) => Promise<unknown>;

const inspections: [string, Run][] = [
  ['verifyTable', (source, signal) => verifyTable(source, { signal })],
  ['profileTable', (source, signal) => profileTable(source, { signal })],
  ['tableLayout', (source, signal) => collect(tableLayout(source, { signal }))],
  ['salvageTable', (source, signal) => salvageTable(source, () => undefined, { signal })],
  ['salvagedEntries', (source, signal) => collect(salvagedEntries(source, { signal }))],
];

describe.each(inspections)('%s', (_, run) => {
  // A source in memory answers without letting timers run.
  test('can be aborted by a timer even if its source answers at once', async () => {
    const memory = new MemorySource(bytes);
    let reads = 0;
    const source: Source = {
      byteLength: bytes.length,
      read(offset, length) {
        reads++;
        for (const until = performance.now() + 5; performance.now() < until; );
        return memory.read(offset, length);
      },
    };
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 20);
    expect(await rejection(run(source, controller.signal))).toBe(reason);
    // All of the reads would take more than a second.
    expect(reads).toBeLessThan(60);
  });

  test('is ended by its signal at once even if its source never answers', async () => {
    const memory = new MemorySource(bytes);
    let reads = 0;
    const controller = new AbortController();
    const reason = new Error('enough');
    const source: Source = {
      byteLength: bytes.length,
      read(offset, length) {
        if (++reads < 8) return memory.read(offset, length);
        setTimeout(() => controller.abort(reason), 1);
        return new Promise<never>(() => undefined);
      },
    };
    expect(await rejection(run(source, controller.signal))).toBe(reason);
  });
});

test('the search for blocks can be aborted by a timer', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  setTimeout(() => controller.abort(reason), 1);
  const many = new Uint8Array(Buffer.concat(Array.from({ length: 40 }, () => cut)));
  const started = performance.now();
  const all = await rejection(salvageTable(new MemorySource(many), () => undefined, { signal: controller.signal }));
  expect(all).toBe(reason);
  expect(performance.now() - started).toBeLessThan(2000);
});

test('rejects a wrong argument by name', async () => {
  const source = new MemorySource(bytes);
  const refused = async (run: () => Promise<unknown>): Promise<string> => String(await rejection(run()));
  expect(await refused(() => verifyTable('x.ldb' as unknown as Source))).toMatch(/^TypeError: source must be a source/);
  expect(await refused(() => verifyTable(source, { maxFinding: 3 } as object))).toMatch(/^TypeError: .*maxFinding.*maxFindings/);
  expect(await refused(() => profileTable(source, { cache: null } as object))).toMatch(/^TypeError: profileTable has no option "cache"/);
  expect(await refused(() => collect(tableLayout(source, { details: 'blocks' } as object)))).toMatch(/^TypeError: .*details.*detail/);
  expect(await refused(() => salvageTable(source, undefined as unknown as () => void))).toMatch(/^TypeError: take must be a function/);
  expect(await refused(() => verifyTable(source, { signal: new AbortController() as unknown as AbortSignal }))).toMatch(/^TypeError: signal must be an AbortSignal/);
  expect(await refused(() => verifyTable(source, { maxFindings: -1 }))).toMatch(/^RangeError: maxFindings/);
});
