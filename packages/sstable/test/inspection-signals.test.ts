import { seeded } from '@bloom/fixtures';
import { MemorySource, type Source } from '@bloom/sstable';
import { profileTable, salvagedEntries, salvageTable, tableLayout, verifyTable } from '@bloom/sstable/inspect';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { collect, numberedEntries } from './entries.js';

const bytes = buildTable(numberedEntries(30_000), { compression: 'none' });

type Run = (source: Source, signal: AbortSignal) => Promise<unknown>;

const inspections: [string, Run][] = [
  ['verifyTable', (source, signal) => verifyTable(source, { signal })],
  ['profileTable', (source, signal) => profileTable(source, { signal })],
  ['tableLayout', (source, signal) => collect(tableLayout(source, { signal }))],
  ['salvageTable', (source, signal) => salvageTable(source, () => undefined, { signal })],
  ['salvagedEntries', (source, signal) => collect(salvagedEntries(source, { signal }))],
];

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

describe.each(inspections)('%s', (_, run) => {
  // A source in memory answers without letting timers run.
  test('can be aborted by a timer even if its source answers at once', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const memory = new MemorySource(bytes);
    const controller = new AbortController();
    const reason = new Error('enough');
    let reads = 0;
    const source: Source = {
      byteLength: bytes.length,
      read(offset, length) {
        if (++reads === 1) setTimeout(() => controller.abort(reason), 0);
        // As if each read took 60 ms.
        vi.setSystemTime(Date.now() + 60);
        return memory.read(offset, length);
      },
    };
    expect(await rejection(run(source, controller.signal))).toBe(reason);
    // Timers run after 50 ms of an inspection. There would be 9 to 12 reads.
    expect(reads).toBeLessThan(7);
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
        setImmediate(() => controller.abort(reason));
        return new Promise<never>(() => undefined);
      },
    };
    expect(await rejection(run(source, controller.signal))).toBe(reason);
  });
});

test('the search for blocks can be aborted by a timer', async () => {
  const junk = seeded(5).bytes(3 * 2 ** 20);
  const memory = new MemorySource(junk);
  const controller = new AbortController();
  const reason = new Error('enough');
  let whole = 0;
  const source: Source = {
    byteLength: junk.length,
    read(offset, length) {
      // Once for the index and once, at last, for blocks, all of it is searched in three steps.
      if (length === junk.length && ++whole === 2) setTimeout(() => controller.abort(reason), 0);
      return memory.read(offset, length);
    },
  };
  // As if 25 ms passed between each two looks at the clock.
  let now = 0;
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 25));
  expect(await rejection(salvageTable(source, () => undefined, { signal: controller.signal }))).toBe(reason);
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
