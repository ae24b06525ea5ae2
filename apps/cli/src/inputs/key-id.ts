/** A key as a text with one character per byte, for maps and sets. */
export function keyId(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
}
