/** How many bytes to convert to hexadecimal digits at a time. */
const HEX_BYTES = 2 ** 20;

/** Up to this many bytes, one loop is faster than a copy and a search. */
const MAX_LOOPED_BYTES = 48;

/** Collects bytes before they are written. */
export class ByteBuffer {
  length = 0;
  /** Where the last entry starts. */
  entryStart = 0;
  #buffer = Buffer.allocUnsafe(128 * 1024);

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

  /** Drops what the last entry has appended. */
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
  }
}
