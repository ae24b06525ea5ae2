/** Concatenates fields, each preceded by its length as u32 LE. */
export function fields(list: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(list.reduce((sum, field) => sum + 4 + field.length, 0));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  for (const field of list) {
    view.setUint32(offset, field.length, true);
    bytes.set(field, offset + 4);
    offset += 4 + field.length;
  }
  return bytes;
}

/** Reads `count` answers, each u8 found, u32 LE length and a value: the values, `undefined` if not found. */
export function answersIn(bytes: Uint8Array, count: number): (Uint8Array | undefined)[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let offset = 0;
  return Array.from({ length: count }, () => {
    const isFound = bytes[offset] === 1;
    const start = offset + 5;
    offset = start + view.getUint32(offset + 1, true);
    return isFound ? bytes.slice(start, offset) : undefined;
  });
}
