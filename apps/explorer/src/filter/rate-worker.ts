import { bloomBitsPerKey, bloomFalsePositiveRate } from '@bloom/policy';
import { serveCalls } from '../worker/serve-calls.js';
import type { Work } from '../worker/calls.js';

// The methods build and test filters, which takes up to a second.
const methods = {
  rate: (_: Work, bitsPerKey: number, keys: number) => bloomFalsePositiveRate({ bitsPerKey, keys }),
  bitsPerKey: (_: Work, rate: number, keys: number) => bloomBitsPerKey(rate, keys),
};

export type RateMethods = typeof methods;

serveCalls(methods);
