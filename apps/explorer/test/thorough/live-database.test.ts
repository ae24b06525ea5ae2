import { expect, test } from 'vitest';
import { LiveDatabase } from '../../src/live/live-database.js';
import type { LiveEvent, LiveState } from '../../src/live/live-facts.js';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The first state from now on that `isWanted`. */
async function stateWhere(live: LiveDatabase, isWanted: (state: LiveState) => boolean): Promise<LiveState> {
  for (let number = -1; ; ) {
    const state = await live.state(number, 0);
    if (isWanted(state)) return state;
    number = state.number;
  }
}

/** Cuts the power when `steps` steps of a flush were taken. @returns what the reopened database reports, or undefined where the flush has fewer steps. */
async function cutPowerDuringFlush(steps: number): Promise<LiveEvent | undefined> {
  const live = new LiveDatabase('at-once');
  await stateWhere(live, ({ facts }) => facts !== undefined);
  const [key, value] = [utf8('key'), utf8(`cut after ${steps} steps`)];
  await live.put(key, value, true);
  live.setPace('step');
  const flushing = live.flush();
  let hasEnded = false;
  void flushing.then(() => (hasEnded = true));
  for (let step = 0; step < steps; step++) {
    const { waiting } = await stateWhere(live, (state) => state.waiting.length > 0 || hasEnded);
    if (waiting.length === 0) return undefined;
    live.step();
  }
  const crashed = live.crash('power');
  live.setPace('at-once');
  await crashed;
  const { events } = await live.state(-1, 0);
  const { trace } = await live.lookup(key, undefined);
  expect([trace.outcome, trace.value?.bytes], `after ${steps} steps`).toEqual(['found', value]);
  return events.map(({ event }) => event).find(({ kind }) => kind === 'reopened');
}

test('a power failure in any step of a flush loses no synced write', async () => {
  let steps = 0;
  for (let reopened = await cutPowerDuringFlush(0); reopened !== undefined; reopened = await cutPowerDuringFlush(++steps)) {
    expect(reopened, `after ${steps} steps`).toEqual({ kind: 'reopened', lost: 0 });
  }
  // Those that "step by step, each change of the folder waits" of the view lists, and cleaning up.
  expect(steps).toBeGreaterThanOrEqual(8);
});
