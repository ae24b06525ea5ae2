import { maskedCrc32c } from '@bloom/crc32c';
import { MemorySource } from '@bloom/sstable';
import { inspectBlock, outlineTable } from '@bloom/sstable/inspect';
import { expect, test } from 'vitest';
import { buildTable } from './build-table.js';
import { numberedEntries } from './entries.js';

const entries = numberedEntries(60, 20);
const bytes = buildTable(entries, { compression: 'none' });
const { offsets, sizes } = await outlineTable(new MemorySource(bytes));
const handle = { offset: offsets[0]!, size: sizes[0]! };

test('entries before and after a restart that points to an entry with shared bytes are given', async () => {
  const good = await inspectBlock(new MemorySource(bytes), 'data block', handle);
  expect(good.entries(0, 40).map(({ restart }, i) => [i, restart]).filter(([, restart]) => restart !== undefined)).toEqual([[0, 0], [16, 1], [32, 2]]);
  for (const [redirected, isSealed] of [[2, true], [2, false], [1, true]] as const) {
    const damaged = bytes.slice();
    const view = new DataView(damaged.buffer);
    const restartsStart = handle.offset + handle.size - 4 - good.restartCount * 4;
    view.setUint32(restartsStart + redirected * 4, good.entries(5, 6)[0]!.offset, true);
    if (isSealed) view.setUint32(handle.offset + handle.size + 1, maskedCrc32c(damaged.subarray(handle.offset, handle.offset + handle.size + 1)), true);
    const block = await inspectBlock(new MemorySource(damaged), 'data block', handle);
    expect(block.problem === undefined).toBe(isSealed);
    expect(block.entryCount).toBeGreaterThan(4);
    for (let start = 0; start < block.entryCount; start++) {
      for (const end of [start + 1, start + 3, 60]) {
        const found = block.entries(start, end);
        expect(found.map(({ key }) => key)).toEqual(entries.slice(start, Math.min(end, block.entryCount)).map(([key]) => key));
        if (start <= 5 && found.length > 5 - start) expect(found[5 - start]!.restart).toBe(redirected);
      }
    }
  }
});
