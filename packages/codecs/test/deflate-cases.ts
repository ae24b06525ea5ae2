import { deflateRawSync, deflateSync, inflateRawSync, inflateSync } from 'node:zlib';
import * as elsewhere from '../src/deflate.default.js';
import * as inNode from '../src/deflate.node.js';

export const implementations = { 'in Node': inNode, elsewhere };
const formats = [
  { format: 'zlib', isRaw: false, write: deflateSync, reference: inflateSync },
  { format: 'raw deflate', isRaw: true, write: deflateRawSync, reference: inflateRawSync },
];
/** Each implementation with each format. */
export const cases = Object.entries(implementations).flatMap(([where, { inflate, deflate }]) => formats.map((each) => ({ where, inflate, deflate, ...each })));
