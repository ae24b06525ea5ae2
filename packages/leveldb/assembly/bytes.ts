// AssemblyScript. Bytes copied and compared, for the kernel of this folder.
//
// TypeScript, with which editors check this file, does not allow AssemblyScript's decorators on functions: hence each @ts-ignore.

/** Copies 16 bytes at a time: it may read and write up to 15 bytes past the ends. */
// @ts-ignore: decorator
@inline
export function copy(to: usize, from: usize, length: u32): void {
  const end = to + usize(length);
  if (length > 256) {
    memory.copy(to, from, length);
    return;
  }
  for (; to < end; to += 16, from += 16) v128.store(to, v128.load(from));
}

/** How many bytes, of `most`, are the same from the start. It may read up to 7 bytes past the ends. */
export function commonLength(a: usize, b: usize, most: u32): u32 {
  for (let i: u32 = 0; i < most; i += 8) {
    const difference = load<u64>(a + i) ^ load<u64>(b + i);
    if (difference) return min(most, i + u32(ctz(difference) >> 3));
  }
  return most;
}

/** Writes a varint32. @returns where it ends. */
// @ts-ignore: decorator
@inline
export function putVarint(at: usize, value: u32): usize {
  for (; value >= 0x80; value >>= 7) store<u8>(at++, value | 0x80);
  store<u8>(at, value);
  return at + 1;
}

/** Where the varint32 that was read last ends; 0 when it could not be read. */
export let varintEnd: usize = 0;

/** Reads the varint32 at [at, end). As in LevelDB, bits above the 32nd are dropped. */
export function varint(at: usize, end: usize): u32 {
  let value: u32 = 0;
  varintEnd = 0;
  for (let shift: u32 = 0; shift < 35 && at < end; shift += 7) {
    const byte = u32(load<u8>(at++));
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      varintEnd = at;
      return value;
    }
  }
  return 0;
}
