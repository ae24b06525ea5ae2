import { formatKv, type KeyValue } from '@bloom/fixtures';

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function hex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? 'undefined' : Buffer.from(bytes).toString('hex');
}

/** `key 000000` and so on, with different values. */
export function numberedEntries(count: number, valueLength = 20): KeyValue[] {
  return Array.from({ length: count }, (_, i): KeyValue => [
    utf8(`key ${String(i).padStart(6, '0')}`),
    utf8(`value ${i} `.repeat(Math.ceil(valueLength / 7)).slice(0, valueLength)),
  ]);
}

export function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === undefined || b === undefined ? a === b : Buffer.compare(a, b) === 0;
}

/** Compares all entries as one byte string, because `expect` for each entry would take seconds. */
export function sameEntries(
  a: Iterable<readonly [Uint8Array, Uint8Array]>,
  b: Iterable<readonly [Uint8Array, Uint8Array]>,
): boolean {
  return sameBytes(formatKv(a), formatKv(b));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
