import { seeded } from '@bloom/fixtures';
import { expect, test } from 'vitest';
import type { Version } from '../src/format/version.js';
import type { Memtable } from '../src/memtable/memtable.js';
import type { View } from '../src/read/view.js';
import { LiveTables } from '../src/write/live-tables.js';

/** A version with these tables, for what only asks for their numbers. */
function versionOf(numbers: Iterable<bigint>): Version {
  return { files: [...numbers].map((number) => ({ number })) } as unknown as Version;
}

test.each([1, 2, 3, 4, 5])('the tables that are needed are those of the current version and of all views in use, in any order of changes and releases (seed %i)', (seed) => {
  const random = seeded(seed);
  const live = new LiveTables();
  const views: { readonly version: Version; isReleased: boolean }[] = [];
  let numbers = new Set<bigint>();
  let next = 1n;
  let current = versionOf(numbers);
  for (let step = 0; step < 2000; step++) {
    if (random.below(3) > 0) {
      numbers = new Set([...numbers].filter(() => random.below(8) > 0));
      for (let i = random.below(4); i > 0; i--) numbers.add(next++);
      current = versionOf(numbers);
    }
    const view = { version: current, isReleased: false };
    views.push(view);
    live.add(view as unknown as View);
    // Some views are in use for long.
    for (const one of views) if (one !== view && random.below(one === views[0] ? 500 : 4) === 0) one.isReleased = true;
    for (let i = views.length - 1; i >= 0; i--) if (views[i]!.isReleased) views.splice(i, 1);
    if (random.below(2) === 0) live.forgetReleased();
    else continue;
    const needed = new Set(views.flatMap(({ version }) => version.files.map(({ number }) => number)));
    for (let number = 1n; number < next; number++) if (live.has(number) !== needed.has(number)) expect.unreachable(`table ${number} in step ${step}: ${live.has(number)}`);
  }
  expect(next).toBeGreaterThan(1000n);
});

test('a memtable is shown as long as a view that has it is in use', () => {
  const live = new LiveTables();
  const [first, second] = [{}, {}] as unknown as [Memtable, Memtable];
  const view = { version: versionOf([]), isReleased: false, logs: [{ memtable: first }, { memtable: second }] };
  const later = { version: versionOf([]), isReleased: false, logs: [{ memtable: second }] };
  for (const one of [view, later]) live.add(one as unknown as View);
  expect([live.shows(first), live.shows(second)]).toEqual([true, true]);
  view.isReleased = true;
  expect([live.shows(first), live.shows(second)]).toEqual([false, true]);
  later.isReleased = true;
  expect([live.shows(first), live.shows(second)]).toEqual([false, false]);
});
