import { expect, test } from 'vitest';
import { addedKeys, type FilterState, INITIAL, MAX_KEYS, paramsFromState, stateFromParams } from '../src/filter/filter-state.js';

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

test('keys are added once each, up to the limit, which is named when it is reached', () => {
  expect(addedKeys(['a'], ['b', 'a', 'b', ''])).toEqual({ keys: ['a', 'b'], message: '' });
  expect(addedKeys(['a', 'b'], ['b'])).toEqual({ keys: ['a', 'b'], message: 'These keys have already been added.' });
  const many = Array.from({ length: MAX_KEYS - 1 }, (_, i) => `key ${i}`);
  expect(addedKeys(many, ['last']).message).toBe('');
  const full = addedKeys(many, ['last', 'one more']);
  expect([full.keys.length, full.keys.at(-1), full.message]).toEqual([100_000, 'last', 'At most 100,000 keys can be added. 1 key was left out.']);
  expect(addedKeys(full.keys, ['x', 'y', 'last'])).toEqual({ keys: full.keys, message: 'At most 100,000 keys can be added. 2 keys were left out.' });
});
