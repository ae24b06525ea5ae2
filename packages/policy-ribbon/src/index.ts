export { type RibbonFilterOptions, RibbonFilterPolicy } from './ribbon-filter-policy.js';
export type { RibbonWidth } from './ribbon-filter.js';
