export { FILTER_BASE, FILTER_BASE_LG, FilterBlockBuilder, filterBlockLayout, FilterBlockReader } from './filter-block.js';
