export { type RibbonFilterOptions, RibbonFilterPolicy } from './ribbon-filter-policy.js';
export { type RibbonShape, ribbonShapeOf, type RibbonWidth } from './ribbon-filter.js';
