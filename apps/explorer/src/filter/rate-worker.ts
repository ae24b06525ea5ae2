import { bloomBitsPerKey, bloomFalsePositiveRate } from '@bloom/policy';
import { serveCalls } from '../worker/serve-calls.js';
import type { Work } from '../worker/calls.js';

// They make filters and ask them, up to a second long.
serveCalls({
  rate: (_: Work, bitsPerKey: number, keys: number) => bloomFalsePositiveRate({ bitsPerKey, keys }),
  bitsPerKey: (_: Work, rate: number, keys: number) => bloomBitsPerKey(rate, keys),
});
