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
