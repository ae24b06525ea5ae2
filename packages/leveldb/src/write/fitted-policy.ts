// What `fitted-filters.ts` loads.
export { FittedBloomFilterPolicy } from '@bloom/policy';
