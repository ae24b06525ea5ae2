import { expect, test } from 'vitest';
import { namesIn, sizeProblems } from '../document-sizes.js';

test('a document within its limits has no problem', () => {
  expect(sizeProblems('A.md', 'one\ntwo\n', { minLines: 2, maxLines: 2, maxBytes: 8 })).toEqual([]);
});

test('too few lines, too many lines and too many bytes are reported with the limit', () => {
  expect(sizeProblems('A.md', 'one\n', { minLines: 2 })).toEqual(['A.md has 1 lines; the minimum is 2']);
  expect(sizeProblems('A.md', 'one\ntwo\n', { maxLines: 1 })).toEqual(['A.md has 2 lines; the limit is 1']);
  expect(sizeProblems('A.md', 'Ä\n', { maxBytes: 2 })).toEqual(['A.md has 3 bytes; the limit is 2']);
});

test('the names of a report are counted, each once', () => {
  const report = `
// @public
export abstract class A {
    export(): void;
}
export function f(a: string): void;
export function f(a: number): void;
export interface I {}
export type T = 1;
export const c: 1;
export { Imported }
`;
  expect(namesIn(report)).toBe(6);
});
