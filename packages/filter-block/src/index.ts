export { FILTER_BASE, FILTER_BASE_LG, FilterBlockBuilder, filterBlockLayout, FilterBlockReader, MAX_FILTER_RANGE, mustBeFilterRange } from './filter-block.js';
