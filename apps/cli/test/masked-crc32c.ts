/** The CRC-32C of `bytes`, bit by bit, masked as in LevelDB's util/crc32c.h. */
export function maskedCrc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0x82f63b78 & -(crc & 1));
  }
  crc ^= 0xffffffff;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
