// AssemblyScript. Sorts 64-bit hashes and leaves each once, for the kernels of `@bloom/policy-ribbon` and `@bloom/policy-fuse`.

const DIGIT_BITS: u32 = 11;

/** One pass of a radix sort, by the digit of `bits` bits from `shift` on. */
function sortByDigit(from: usize, to: usize, counts: usize, n: u32, shift: u64, bits: u32): void {
  const mask = (u64(1) << bits) - 1;
  memory.fill(counts, 0, usize(4) << bits);
  const end = from + (usize(n) << 3);
  for (let at = from; at < end; at += 8) {
    const count = counts + (usize((load<u64>(at) >> shift) & mask) << 2);
    store<u32>(count, load<u32>(count) + 1);
  }
  let sum = u32(to);
  for (let at = counts, last = counts + (usize(4) << bits); at < last; at += 4) {
    const count = load<u32>(at);
    store<u32>(at, sum);
    sum += count << 3;
  }
  for (let at = from; at < end; at += 8) {
    const hash = load<u64>(at);
    const place = counts + (usize((hash >> shift) & mask) << 2);
    const target = load<u32>(place);
    store<u64>(target, hash);
    store<u32>(place, target + 8);
  }
}

/** Sorts the `bits` bits from `shift` on, in `passes` passes. */
function sortBits(hashes: usize, scratch: usize, counts: usize, n: u32, shift: u64, bits: u32, passes: u32): void {
  let from = hashes;
  let to = scratch;
  for (let pass: u32 = 0; pass < passes; pass++) {
    sortByDigit(from, to, counts, n, shift + u64(pass * bits), bits);
    const other = from;
    from = to;
    to = other;
  }
  if (from != hashes) memory.copy(hashes, from, usize(n) << 3);
}

/** Insertion sort. @returns false when it takes more than some moves per hash, as it can when someone chose the keys. */
function insertAll(hashes: usize, n: u32): bool {
  const end = hashes + (usize(n) << 3);
  let left = i64(n) * 8 + 4096;
  for (let at = hashes + 8; at < end; at += 8) {
    const hash = load<u64>(at);
    let to = at;
    while (to > hashes && load<u64>(to - 8) > hash) {
      store<u64>(to, load<u64>(to - 8));
      to -= 8;
    }
    store<u64>(to, hash);
    left -= i64((at - to) >> 3);
    if (left < 0) return false;
  }
  return true;
}

/**
 * Sorts `n` hashes and leaves each once. `scratch` has room for as many, `counts` for 2,048 uint32.
 *
 * By about as many of the highest bits as leave one hash to a bucket; the rest is nearly in order.
 *
 * @returns how many are left.
 */
export function sortDistinct(hashes: usize, scratch: usize, counts: usize, n: u32): u32 {
  if (n == 0) return 0;
  if (n > 32) {
    const needed = 32 - u32(clz<u32>(n));
    const passes = (needed + DIGIT_BITS - 1) / DIGIT_BITS;
    const bits = (needed + passes - 1) / passes;
    sortBits(hashes, scratch, counts, n, u64(64 - bits * passes), bits, passes);
  }
  if (!insertAll(hashes, n)) {
    sortBits(hashes, scratch, counts, n, 0, 8, 8);
  }
  let to = hashes;
  const end = hashes + (usize(n) << 3);
  for (let at = hashes + 8; at < end; at += 8) {
    const hash = load<u64>(at);
    if (hash == load<u64>(to)) continue;
    to += 8;
    store<u64>(to, hash);
  }
  return u32((to - hashes) >> 3) + 1;
}
