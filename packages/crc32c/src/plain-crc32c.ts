/** The CRC-32C of the first `length` bytes of `bytes`, a uint32. `seed` is the CRC-32C of the bytes before them. */
export type Crc32c = (bytes: Uint8Array, seed: number, length: number) => number;

/**
 * CRC-32C in plain TypeScript, from the tables of `crc-tables.ts`: sixteen bytes at a time, because their sixteen look-ups do
 * not wait for each other.
 *
 * Source: Michael E. Kounavis and Frank L. Berry, Novel Table Lookup-Based Algorithms for High-Performance CRC Generation, IEEE
 * Transactions on Computers 57 (11), 2008.
 */
export function plainCrc32c(tables: Int32Array): Crc32c {
  return (bytes, seed, length) => {
    let register = ~seed;
    let i = 0;
    for (const lastStart = length - 16; i <= lastStart; i += 16) {
      register =
        tables[0xf00 + (bytes[i]! ^ (register & 0xff))]! ^
        tables[0xe00 + (bytes[i + 1]! ^ ((register >>> 8) & 0xff))]! ^
        tables[0xd00 + (bytes[i + 2]! ^ ((register >>> 16) & 0xff))]! ^
        tables[0xc00 + (bytes[i + 3]! ^ (register >>> 24))]! ^
        tables[0xb00 + bytes[i + 4]!]! ^
        tables[0xa00 + bytes[i + 5]!]! ^
        tables[0x900 + bytes[i + 6]!]! ^
        tables[0x800 + bytes[i + 7]!]! ^
        tables[0x700 + bytes[i + 8]!]! ^
        tables[0x600 + bytes[i + 9]!]! ^
        tables[0x500 + bytes[i + 10]!]! ^
        tables[0x400 + bytes[i + 11]!]! ^
        tables[0x300 + bytes[i + 12]!]! ^
        tables[0x200 + bytes[i + 13]!]! ^
        tables[0x100 + bytes[i + 14]!]! ^
        tables[bytes[i + 15]!]!;
    }
    for (; i < length; i++) register = (register >>> 8) ^ tables[(register ^ bytes[i]!) & 0xff]!;
    return ~register >>> 0;
  };
}
