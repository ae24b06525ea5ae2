import { fileURLToPath } from 'node:url';
import { readmeErrorCodes, sourceErrorCodes } from '@bloom/fixtures/readme';
import { expect, test } from 'vitest';

const readme = fileURLToPath(new URL('../docs/errors.md', import.meta.url));

test("the tables of errors have every code of the source, once, and no other", () => {
  const codes = [...sourceErrorCodes(fileURLToPath(new URL('../src', import.meta.url)))];
  expect(readmeErrorCodes(readme).sort()).toEqual(codes.sort());
});
