// What `load-fitted-policy.ts` loads.
export { FittedBloomFilterPolicy } from '@bloom/policy';
