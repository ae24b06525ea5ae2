/**
 * Adjacent entries of any bytes, with nothing before, between or after them:
 *
 *     key length (u32, little-endian) | key | value length (u32, little-endian) | value
 */
import type { ByteBuffer } from './byte-buffer.js';
import { type Entry, type EntryDecoder, InputError, MAX_ENTRY_BYTES } from './entry.js';

const LENGTH_BYTES = 4;

export class KvDecoder implements EntryDecoder {
  readonly unit = 'offset';
  position = 0;
  /** Where the incomplete entry starts. */
  #next = 0;
  /** The pieces of that entry so far. Nothing is allocated for a length before its bytes arrive. */
  #begun: Uint8Array[] = [];
  #begunLength = 0;
  /** How many bytes of that entry are needed before decoding it can proceed. */
  #needed = 2 * LENGTH_BYTES;

  *decode(bytes: Uint8Array): Generator<Entry, undefined> {
    let rest = bytes;
    if (this.#begunLength > 0) {
      this.#begun.push(bytes);
      this.#begunLength += bytes.length;
      if (this.#begunLength < this.#needed) return undefined;
      rest = Buffer.concat(this.#begun);
      this.#begun = [];
      this.#begunLength = 0;
    }
    const view = new DataView(rest.buffer, rest.byteOffset, rest.byteLength);
    let start = 0;
    for (;;) {
      this.#needed = this.#entryLength(view, start);
      const end = start + this.#needed;
      if (end > rest.length) break;
      const keyStart = start + LENGTH_BYTES;
      const keyEnd = keyStart + view.getUint32(start, true);
      this.position = this.#next;
      this.#next += this.#needed;
      yield [rest.subarray(keyStart, keyEnd), rest.subarray(keyEnd + LENGTH_BYTES, end)];
      start = end;
    }
    if (start < rest.length) {
      this.#begun.push(rest.subarray(start));
      this.#begunLength = rest.length - start;
    }
    return undefined;
  }

  // eslint-disable-next-line require-yield -- an entry is complete as soon as its last byte comes
  *end(): Generator<Entry, undefined> {
    if (this.#begunLength > 0) {
      const end = this.#next + this.#begunLength;
      throw new InputError(`offset ${this.#next}`, `the file ends inside this entry, at offset ${end}`);
    }
    return undefined;
  }

  /** The length of the entry at `start`, or a lower bound if the bytes so far do not tell it. */
  #entryLength(view: DataView, start: number): number {
    const available = view.byteLength - start;
    if (available < LENGTH_BYTES) return 2 * LENGTH_BYTES;
    const keyLength = view.getUint32(start, true);
    this.#mustFit(keyLength);
    const valueStart = 2 * LENGTH_BYTES + keyLength;
    if (available < valueStart) return valueStart;
    const valueLength = view.getUint32(start + LENGTH_BYTES + keyLength, true);
    this.#mustFit(keyLength + valueLength);
    return valueStart + valueLength;
  }

  #mustFit(byteLength: number): void {
    if (byteLength <= MAX_ENTRY_BYTES) return;
    throw new InputError(
      `offset ${this.#next}`,
      `an entry of at least ${byteLength} bytes, the limit is ${MAX_ENTRY_BYTES}: not a kv file?`,
    );
  }
}

export function encodeKv(key: Uint8Array, value: Uint8Array, out: ByteBuffer): void {
  out.uint32(key.length);
  out.bytes(key);
  out.uint32(value.length);
  out.bytes(value);
}
