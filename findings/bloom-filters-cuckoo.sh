#!/usr/bin/env bash
# Versions: bloom-filters 3.0.4 from npm, on Node.js 20 or later.
#
# Expected: CuckooFilter.has returns true for every element that was added and not removed. Its documentation says that false means
# that the element is definitely not in the filter.
#
# Seen: a filter that CuckooFilter.from makes of 100,000 elements denies a third of them. `add` returned true for all of them, and
# `length` counts them. An element may lie in one of two buckets, and a later `add` may move it to the other one. The number of the
# other bucket is that of its bucket XOR a hash, modulo the number of buckets, without the sign, which leads back to the first
# bucket only in some cases. So elements are moved to a third bucket, where `has` does not look, and `remove` does not either.
# At half of the elements for which a filter is made, few elements are moved, and few are lost.
#
#   CuckooFilter.from, 1000 elements: add refused 0, length 1000, has denies 267
#   CuckooFilter.from, 100000 elements: add refused 0, length 100000, has denies 33202
#   half of 100000 elements: add refused 0, length 50000, has denies 156
#   BloomFilter.from, 100000 elements: has denies 0
#
# Needs: Node.js 20 or later with npm.
