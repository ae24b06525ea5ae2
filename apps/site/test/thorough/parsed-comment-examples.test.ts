import { describe, expect, test } from 'vitest';
import { claimHolds, examplesIn, programOf } from '../comment-examples.js';

const SOURCE = `
/**
 * A thing.
 *
 * @example
 * \`\`\`ts
 * const thing = new Thing();
 * for (const part of thing) …
 * \`\`\`
 */
export class Thing {
  /**
   * Adds.
   *
   * @example
   * Two numbers.
   * \`\`\`ts
   * thing.add(1, two); // 3
   * \`\`\`
   */
  add(a: number, b: number): number {
    return a + b;
  }
}
`;
const [ofClass, ofMember] = examplesIn('things', 'things/src/thing.ts', SOURCE);
const EXPORTS = new Map([['Thing', ['@bloom/other', '@bloom/things/node']]]);

test('examples are found with their lines and the class that they are about', () => {
  expect(ofClass).toEqual({ package: 'things', file: 'things/src/thing.ts', line: 7, subject: 'Thing', code: 'const thing = new Thing();\nfor (const part of thing) …\n' });
  expect(ofMember).toMatchObject({ line: 18, subject: 'Thing', code: 'thing.add(1, two); // 3\n' });
});

test('a program imports what its own package exports, and an ellipsis stands for an empty body', () => {
  expect(programOf(ofClass!, EXPORTS, {})).toEqual({
    code: "import { Thing } from '@bloom/things/node';\nconst thing = new Thing();\nfor (const part of thing) {}\n\nexport {};\n",
    isRunnable: true,
  });
});

test('a program has the stand-ins of its names, and claims the results in comments', () => {
  const { code } = programOf(ofMember!, EXPORTS, { two: 'const two = 2;', thing: 'const thing = 0;', 'Thing.thing': 'const thing = new Thing();' });
  expect(code.split('\n').filter((line) => line !== '')).toEqual([
    "import { Thing } from '@bloom/things/node';",
    'const thing = new Thing();',
    'const two = 2;',
    'declare const claim: (comment: string, value: unknown) => void;',
    'claim("3", thing.add(1, two)); // 3',
    'export {};',
  ]);
});

test('a program does not run if a name has no value, or another package is needed', () => {
  expect(programOf(ofMember!, EXPORTS, { two: 'declare const two: number;' }).isRunnable).toBe(false);
  expect(programOf({ ...ofClass!, code: "import { test } from 'vitest';\n" }, EXPORTS, {}).isRunnable).toBe(false);
  expect(programOf({ ...ofClass!, code: "import { open } from 'node:fs';\n" }, EXPORTS, {}).isRunnable).toBe(true);
});

describe('a comment', () => {
  const bytes = Uint8Array.of(1, 0, 1);
  test.each([
    ['true', true, false],
    ['0x10', 16, 17],
    ['10n', 10n, 10],
    ['0.0217', 0.02168, 0.0218],
    ['7; LevelDB uses 6', 7, 6],
    ['0.0087, where an ideal filter has 0.0084', 0.00871, 0.0084],
    ['[1, 0, 1]', bytes, [1, 0, 0]],
    ['Uint8Array [1, 0, …]', bytes, [1, 1, 1]],
    ["{ to: ['world'] }", { to: ['world'] }, { to: 'world' }],
    ['3 bytes', bytes, new Uint8Array(4)],
    ['user:1', new TextEncoder().encode('user:1'), 'user:1'.length],
    ['Uint8Array, or undefined', undefined, 'text'],
  ])('that says %s is true of %s and not of %s', (comment, is, isNot) => {
    expect(claimHolds(comment, is)).toBe(true);
    expect(claimHolds(comment, isNot)).not.toBe(true);
  });

  test('in other words is neither true nor false', () => {
    for (const comment of ['a copy', 'process.exit()', '{ key, value }', '1 + 1']) expect(claimHolds(comment, 2)).toBe(undefined);
  });
});
