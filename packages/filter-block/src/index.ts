export { FILTER_BASE, FILTER_BASE_LG, FilterBlockBuilder, FilterBlockReader } from './filter-block.js';
