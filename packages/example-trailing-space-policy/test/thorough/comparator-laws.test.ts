import { trailingSpaceComparator } from '@bloom/example-trailing-space-policy';
import { comparatorLaws } from '@bloom/sstable/contract';
import { describe, test } from 'vitest';

describe('the comparator keeps every law', () => {
  const keys = ['Emma', 'Emma  ', ' Emma', 'Emma\x1f', ' '].map((text) => new TextEncoder().encode(text));
  for (const law of comparatorLaws(trailingSpaceComparator, { keys })) test(law.name, law.run);
});
