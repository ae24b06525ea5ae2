// How many entries a move reads: the cost of a lookup in a block, and of a scan in either direction.
import { expect, test } from 'vitest';
import { BlockBuilder } from '../src/format/block-builder.js';
import { BlockSearch } from '../src/format/block-search.js';
import { compareBytes, compareInternalBytes, type CompareRange } from '../src/format/bytewise-order.js';
import { encodeInternalKey, MAX_SEQUENCE, VALUE } from '../src/format/internal-key.js';
import { utf8 } from './entries.js';

/** Counts the entries that are read. */
class CountingSearch extends BlockSearch {
  entriesRead = 0;

  protected override parse(position: number): void {
    this.entriesRead++;
    super.parse(position);
  }
}

function searchOver(keys: readonly Uint8Array[], restartInterval: number, compare: CompareRange): CountingSearch {
  const builder = new BlockBuilder(restartInterval);
  for (const key of keys) builder.add(key, utf8('value'));
  const search = new CountingSearch(compare, 'data block');
  search.reset(builder.finish(), 0);
  return search;
}

const userKeys = Array.from({ length: 1024 }, (_, i) => utf8(`key ${String(i).padStart(5, '0')}`));

test.each([1, 16, 1024])('moving backwards reads each entry at most twice, and those from the last restart three times (%d entries per restart)', (restartInterval) => {
  const search = searchOver(userKeys, restartInterval, compareBytes);
  expect(search.seekToLast()).toBe(true);
  expect(search.entriesRead).toBe(restartInterval);
  let moves = 0;
  while (search.prev()) moves++;
  expect(moves).toBe(userKeys.length - 1);
  expect(search.entriesRead).toBeLessThanOrEqual(2 * userKeys.length + restartInterval);
});

test('the first move backwards reads no entries but those from the restart before', () => {
  const search = searchOver(userKeys, 16, compareBytes);
  const tooMany: string[] = [];
  for (let restart = 1; restart < search.restartCount; restart++) {
    expect(search.seekToRestart(restart)).toBe(true);
    search.entriesRead = 0;
    expect(search.prev()).toBe(true);
    if (search.entriesRead > 16) tooMany.push(`${search.entriesRead} before restart ${restart}`);
  }
  expect(tooMany).toEqual([]);
});

/** Of 1024 entries with 16 to a restart: six for the steps of the binary search, then those up to the one that is found. */
function mostReadsOf(i: number): number {
  const restart = Math.max(0, Math.floor((i - 1) / 16));
  return 6 + (i - restart * 16) + 1;
}

test('a seek reads at most one entry for each step of the binary search, and those from the restart before the key up to it', () => {
  // The newest version of a user key is sought from before all of its versions.
  const versions = userKeys.map((userKey) => encodeInternalKey({ userKey, sequence: 7n, type: VALUE }));
  const targets = userKeys.map((userKey) => encodeInternalKey({ userKey, sequence: MAX_SEQUENCE, type: VALUE }));
  const otherOrder: CompareRange = (...ranges) => compareBytes(...ranges);
  const searches = [
    [searchOver(userKeys, 16, compareBytes), userKeys],
    [searchOver(userKeys, 16, otherOrder), userKeys],
    [searchOver(versions, 16, compareInternalBytes), targets],
  ] as const;
  for (const [search, sought] of searches) {
    const tooMany: string[] = [];
    for (const [i, key] of sought.entries()) {
      search.entriesRead = 0;
      expect(search.seek(key)).toBe(true);
      if (search.entriesRead > mostReadsOf(i)) tooMany.push(`${search.entriesRead} for entry ${i}`);
    }
    expect(tooMany).toEqual([]);
  }
});
