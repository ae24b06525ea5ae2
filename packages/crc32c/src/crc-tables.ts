/** Castagnoli's polynomial, the highest power in the lowest bit. */
const POLYNOMIAL = 0x82f63b78;

/** How many tables there are. */
const TABLES = 16;

/**
 * Makes the tables, each of 256 numbers, one after another: table `k` has, for each byte, the remainder of that byte when `k`
 * bytes follow it.
 */
export function makeCrcTables(): Int32Array {
  const tables = new Int32Array(TABLES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let register = byte;
    for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (-(register & 1) & POLYNOMIAL);
    tables[byte] = register;
  }
  // Each of the other tables is for one more byte of zero. This is not a function, because it runs once and V8 does not compile it.
  for (let i = 256; i < tables.length; i++) {
    const register = tables[i - 256]!;
    tables[i] = (register >>> 8) ^ tables[register & 0xff]!;
  }
  return tables;
}
