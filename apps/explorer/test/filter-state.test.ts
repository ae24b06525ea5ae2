import { expect, test } from 'vitest';
import { type FilterState, INITIAL, paramsFromState, stateFromParams } from '../src/filter/filter-state.js';

test.each([
  ['fit=38', { fitKeys: 38 }],
  ['fit=128&pattern=bytes', { fitKeys: 128, fitPattern: 'bytes' }],
  ['pattern=random', { fitPattern: 'random' }],
] as const)('a link with %s leads back to the keys of the comparison with fitted filters', (link, part: Partial<FilterState>) => {
  const state = { ...INITIAL, ...part };
  expect(paramsFromState(state).params.toString()).toBe(link);
  expect(stateFromParams(new URLSearchParams(link))).toEqual(state);
});

test.each(['fit=7', 'fit=129', 'fit=19.5', 'fit=', 'pattern=words'])('a link with %s is taken for one without', (link) => {
  expect(stateFromParams(new URLSearchParams(link))).toEqual(INITIAL);
});
