import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { readmeExamples } from '@bloom/fixtures/readme';
import { policyLaws } from '@bloom/policy/contract';
import { describe, expect, test } from 'vitest';
import { SortedHashPolicy } from '../sorted-hash-policy.js';

describe('the policy that docs/authors.md makes', () => {
  test('is the one that is tested here', () => {
    const root = join(import.meta.dirname, '../..');
    const codes = readmeExamples(join(root, 'docs/authors.md')).map(({ code }) => code);
    expect(codes).toContain(readFileSync(join(root, 'test/sorted-hash-policy.ts'), 'utf8'));
  });

  for (const law of policyLaws(() => new SortedHashPolicy(), { maxFalsePositiveRate: 0.007 })) test(law.name, law.run, 120_000);
});
