import { BACKSLASH, copyPlain, escapedLength, putEscaped } from './escapes.js';

/** How many bytes to convert to hexadecimal digits at a time. */
const HEX_BYTES = 2 ** 20;

const TAB = 9;
const LF = 10;

/** Up to this many bytes, one loop is faster than a copy and a search. */
const MAX_LOOPED_BYTES = 48;

/** How many bytes to convert to base64 at a time: whole groups of three. */
const BASE64_BYTES = 3 * 2 ** 18;

/** The longest escape: `\\xHH`. */
const MAX_ESCAPE_BYTES = 4;
/** For longer texts, the length with escapes is computed first, instead of allocating the maximum. */
const MAX_UNCOUNTED_BYTES = 2 ** 20;

/** Collects bytes before they are written. */
export class ByteBuffer {
  length = 0;
  /** The start of the last entry. */
  entryStart = 0;
  #buffer = Buffer.allocUnsafe(128 * 1024);
  #view = dataViewOf(this.#buffer);
  readonly #keys = new LastView();
  readonly #values = new LastView();

  /** The collected bytes: a view that is valid until the next call of another method. */
  view(): Uint8Array {
    return this.#buffer.subarray(0, this.length);
  }

  clear(): void {
    this.length = this.entryStart = 0;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#buffer[this.length++] = value;
  }

  uint32(value: number): void {
    this.#reserve(4);
    this.length = this.#buffer.writeUInt32LE(value, this.length);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** Begins another entry. */
  begin(): void {
    this.entryStart = this.length;
  }

  /** Removes the last entry. */
  dropEntry(): void {
    this.length = this.entryStart;
  }

  /** Appends `bytes`. @returns whether neither `a` nor `b` is among them. */
  bytesWithout(bytes: Uint8Array, a: number, b: number): boolean {
    const { length } = bytes;
    if (length > MAX_LOOPED_BYTES) {
      this.bytes(bytes);
      return !bytes.includes(a) && (a === b || !bytes.includes(b));
    }
    this.#reserve(length);
    const buffer = this.#buffer;
    let isWithout = true;
    for (let i = 0, at = this.length; i < length; i++, at++) {
      const byte = bytes[i]!;
      buffer[at] = byte;
      if (byte === a || byte === b) isWithout = false;
    }
    this.length += length;
    return isWithout;
  }

  /** Appends `bytes` in hexadecimal digits. */
  hex(bytes: Uint8Array): void {
    this.#reserve(bytes.length * 2);
    // In pieces, because the longest string is slightly too short for the digits of 256 MiB.
    for (let start = 0; start < bytes.length; start += HEX_BYTES) {
      const length = Math.min(HEX_BYTES, bytes.length - start);
      const digits = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString('hex');
      this.length += this.#buffer.write(digits, this.length, 'latin1');
    }
  }

  /** Appends `bytes` in base64. */
  base64(bytes: Uint8Array): void {
    this.#reserve(Math.ceil(bytes.length / 3) * 4);
    for (let start = 0; start < bytes.length; start += BASE64_BYTES) {
      const length = Math.min(BASE64_BYTES, bytes.length - start);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, length).toString('base64');
      this.length += this.#buffer.write(text, this.length, 'latin1');
    }
  }

  /** Appends `bytes` as text in one line, with the escapes of `escapes.ts`. */
  escaped(bytes: Uint8Array): void {
    const { length } = bytes;
    this.#reserve(length);
    const buffer = this.#buffer;
    let at = this.length;
    for (let i = 0; i < length; i++, at++) {
      const byte = bytes[i]!;
      if (byte < 0x20 || byte >= 0x7f || byte === BACKSLASH) {
        this.length = at;
        this.#escapedFrom(bytes, i);
        return;
      }
      buffer[at] = byte;
    }
    this.length = at;
  }

  /**
   * Appends a line of two columns, a TAB between them, with escapes. Bytes are passed as arrays and positions, because creating views takes
   * longer than writing the line.
   */
  escapedLine(key: Uint8Array, keyEnd: number, value: Uint8Array, valueStart: number, valueEnd: number): void {
    const length = keyEnd + valueEnd - valueStart + 2;
    this.#reserve(length);
    const start = this.length;
    const tab = start + keyEnd;
    const out = this.#view;
    const found = copyPlain(this.#keys.viewOf(key), 0, keyEnd, out, start) | copyPlain(this.#values.viewOf(value), valueStart, valueEnd, out, tab + 1);
    if (found !== 0) {
      this.#escapedColumns(key, keyEnd, value, valueStart, valueEnd);
      return;
    }
    out.setUint8(tab, TAB);
    out.setUint8(start + length - 1, LF);
    this.length = start + length;
  }

  #escapedColumns(key: Uint8Array, keyEnd: number, value: Uint8Array, valueStart: number, valueEnd: number): void {
    this.escaped(key.subarray(0, keyEnd));
    this.byte(TAB);
    this.escaped(value.subarray(valueStart, valueEnd));
    this.byte(LF);
  }

  #escapedFrom(bytes: Uint8Array, start: number): void {
    const most = (bytes.length - start) * MAX_ESCAPE_BYTES;
    this.#reserve(most <= MAX_UNCOUNTED_BYTES ? most : escapedLength(bytes, start));
    this.length = putEscaped(bytes, start, this.#buffer, this.length);
  }

  utf8(text: string): void {
    this.#reserve(text.length * 3);
    this.length += this.#buffer.write(text, this.length, 'utf8');
  }

  #reserve(byteLength: number): void {
    const needed = this.length + byteLength;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, this.#buffer.length * 2));
    grown.set(this.view());
    this.#buffer = grown;
    this.#view = dataViewOf(grown);
  }
}

/** Keeps the view of the last array, because many entries are in one array. */
class LastView {
  #bytes: Uint8Array = new Uint8Array(0);
  #view = dataViewOf(this.#bytes);

  viewOf(bytes: Uint8Array): DataView {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = dataViewOf(bytes);
    }
    return this.#view;
  }
}

function dataViewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, length);
}
