import { join } from 'node:path';
import { readmeErrorCodes, sourceErrorCodes } from '@bloom/fixtures/readme';
import { expect, test } from 'vitest';

test("the table of errors has every code of BulkError, once, and no other", () => {
  // The rest of the source also names codes of other packages.
  const codes = sourceErrorCodes(join(import.meta.dirname, '../src/part'));
  expect(readmeErrorCodes(join(import.meta.dirname, '../docs/errors.md')).sort()).toEqual([...codes].sort());
});
