import { bytewiseComparator, type Comparator } from '@bloom/sstable';

/** `test.ReverseBytewiseComparator` of the golden databases: the reverse of bytewise order. */
export const reverseComparator: Comparator = {
  name: 'test.ReverseBytewiseComparator',
  compare: (a, b) => bytewiseComparator.compare(b, a),
  findShortestSeparator: (start) => start,
  findShortSuccessor: (key) => key,
};
