import { expect, test } from 'vitest';
import { jsonOf } from '../src/storage/json-of-text.js';

test.each(['{}', '[]', ' {"a": [1, -2.50, 0.1, 1e21, 1.20E+2, -0, 0.0, 5e-324, 9007199254740992], "b": {"a": "12345678901234567890: \\" \\\\"}}', '{"__proto__": {"x": 1}}', '{"1": 1, "": [[]]}'])('%s is shown as JSON', (text) => {
  expect(jsonOf(text)).toEqual(JSON.parse(text));
});

test.each([
  ['a number that JavaScript rounds', '{"id": 1234567890123456789}'],
  ['a number with more digits than JavaScript keeps', '[0.1000000000000000000001]'],
  ['a number that is too large', '[1e400]'],
  ['a number that is too small', '[1e-400]'],
  ['a name that occurs twice', '{"a": 1, "b": {"a": 2, "a": 3}}'],
  ['a name that occurs twice, once with an escape', '{"a": 1, "\\u0061": 2}'],
])('a text with %s is not shown as JSON', (_, text) => {
  expect(jsonOf(text)).toBeUndefined();
});

test.each(['', '12', '"a"', 'null', '{', '{"a":', '[1] 2'])('%j is no JSON text of an object or array', (text) => {
  expect(jsonOf(text)).toBeUndefined();
});
