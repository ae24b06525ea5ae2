/** Bytes in hex, at most 40 of them. */
export function show(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, 40), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `<${shown}${bytes.length > 40 ? `… ${bytes.length} bytes` : ''}>`;
}

/** A list of keys in hex, at most 12 of them. */
export function showAll(keys: readonly Uint8Array[]): string {
  return `[${keys.slice(0, 12).map(show).join(' ')}${keys.length > 12 ? ` … ${keys.length} keys` : ''}]`;
}
