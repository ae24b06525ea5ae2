// Hosts that bind reads to the request which began them. The tests in tooling/host-tests run such a host, workerd.
import { turns } from '@bloom/fixtures/event-loop';
import { Table } from '@bloom/sstable';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { buildTable } from './build-table.js';
import { rejection } from '@bloom/fixtures/caught';
import { numberedEntries } from './entries.js';
import { gate, WatchedSource } from './sources.js';

const entries = numberedEntries(1_000, 90);
const [first] = entries[0]!;
const [second] = entries[1]!;

async function opened(): Promise<{ table: Table; source: WatchedSource; open: () => void }> {
  const source = new WatchedSource(buildTable(entries, { compression: 'none' }));
  const table = await Table.open(source, { cache: null, tailBytes: 4096 });
  source.reads.length = 0;
  const { opened: isOpen, open } = gate();
  source.answer = async (bytes) => {
    await isOpen;
    return bytes;
  };
  return { table, source, open };
}

// Only workerd has it.
beforeEach(() => vi.stubGlobal('WebSocketPair', () => {}));
afterEach(() => vi.unstubAllGlobals());

test('lookups of one turn share the read of their block, and lookups of another turn do not wait for it', async () => {
  const { table, source, open } = await opened();
  const here = [table.get(first), table.get(second)];
  await turns();
  const there = [table.get(first), table.get(second)];
  expect(source.reads).toHaveLength(2);
  open();
  expect((await Promise.all([...here, ...there])).map(String)).toEqual([0, 1, 0, 1].map((i) => String(entries[i]![1])));
});

test('a lookup is answered while the read of an earlier one never settles', async () => {
  const { table, source } = await opened();
  source.answer = () => new Promise(() => {});
  void table.get(first);
  await turns();
  source.answer = (bytes) => bytes;
  expect(await table.get(first)).toEqual(entries[0]![1]);
});

test('each read has a signal of its own, of the turn that began it', async () => {
  const { table, source } = await opened();
  source.answer = (bytes) => bytes;
  for (let i = 0; i < 3; i++) await table.get(first);
  const walk = table.entries();
  for await (const _ of walk) if (source.reads.length < 6) await turns();
  const signals = source.reads.map(({ signal }) => signal);
  expect(signals.length).toBeGreaterThan(6);
  expect(new Set(signals).size).toBe(signals.length);
});

test('closing ends no read of another turn from outside: it fails when its bytes are there', async () => {
  const { table, source, open } = await opened();
  const lookup = rejection(table.get(first));
  await turns();
  void table.close();
  expect(source.reads[0]!.signal!.aborted).toBe(false);
  expect(await Promise.race([lookup, turns()])).toBeUndefined();
  open();
  expect(await lookup).toEqual(new TypeError('the table was closed'));
});

test('elsewhere lookups of several turns share the read of a block, and closing ends it at once', async () => {
  vi.unstubAllGlobals();
  const { table, source } = await opened();
  const here = rejection(table.get(first));
  await turns();
  const there = rejection(table.get(second));
  expect(source.reads).toHaveLength(1);
  void table.close();
  expect([await here, await there]).toEqual([new TypeError('the table was closed'), new TypeError('the table was closed')]);
  expect(source.reads[0]!.signal!.aborted).toBe(true);
});
