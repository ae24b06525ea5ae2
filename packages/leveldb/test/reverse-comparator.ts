import { bytewiseComparator, type Comparator } from '@bloom/sstable';

/** `test.ReverseBytewiseComparator` of the golden databases: bytewise order, turned around. */
export const reverseComparator: Comparator = {
  name: 'test.ReverseBytewiseComparator',
  compare: (a, b) => bytewiseComparator.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};
