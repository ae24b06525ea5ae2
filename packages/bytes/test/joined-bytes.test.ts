import { expect, test } from 'vitest';
import { joinedBytes } from '../src/joined-bytes.js';

test('parts are joined in order, those without bytes included, in a new array', () => {
  const only = Uint8Array.of(1, 2);
  expect([...joinedBytes([only, [], Uint8Array.of(), [3], only])]).toEqual([1, 2, 3, 1, 2]);
  expect([...joinedBytes([])]).toEqual([]);
  const copy = joinedBytes([only]);
  only.fill(0);
  expect([...copy]).toEqual([1, 2]);
});

test('only the bytes of a view are joined', () => {
  expect([...joinedBytes([Uint8Array.of(1, 2, 3).subarray(1, 2), Buffer.from([0, 4, 5]).subarray(1)])]).toEqual([2, 4, 5]);
});
