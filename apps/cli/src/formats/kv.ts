/**
 * Adjacent entries of any bytes, with nothing before, between or after them:
 *
 *     key length (u32, little-endian) | key | value length (u32, little-endian) | value
 */
import { BegunEntry } from './begun-entry.js';
import type { ByteBuffer } from './byte-buffer.js';
import type { Columns, Format, Printer } from './format-contract.js';
import { type DecoderState, type EntryDecoder, InputError, MAX_ENTRY_BYTES } from './entry.js';
import type { EntryBatch } from './entry-batch.js';
import { storedKeyProblem } from './version-input.js';

const LENGTH_BYTES = 4;

export const kv = {
  help: 'binary: key length (u32, little-endian), key, value length, value; any bytes',
  isBinary: true,
  printer,
} satisfies Format;

export class KvDecoder implements EntryDecoder {
  readonly unit = 'offset';
  /** The offset of the incomplete entry. */
  #next: number;
  /** That entry so far. Nothing is allocated for a length before its bytes arrive. */
  readonly #begun: BegunEntry;
  /** The number of bytes of that entry that are needed to continue decoding. */
  #needed = 2 * LENGTH_BYTES;
  readonly #hasVersions: boolean;

  /** @param hasVersions whether keys must be internal keys. */
  constructor(state?: DecoderState, hasVersions = false) {
    this.#hasVersions = hasVersions;
    this.#next = state?.position ?? 0;
    this.#begun = new BegunEntry(state);
  }

  decode(bytes: Uint8Array, batch: EntryBatch): void {
    if (this.#begun.byteLength > 0 && this.#begun.byteLength + bytes.length < this.#needed) {
      this.#begun.add(bytes);
      return;
    }
    const rest = this.#begun.take(bytes);
    const view = new DataView(rest.buffer, rest.byteOffset, rest.byteLength);
    let start = 0;
    for (;;) {
      this.#needed = this.#entryLength(view, start);
      const end = start + this.#needed;
      if (end > rest.length) break;
      const keyStart = start + LENGTH_BYTES;
      const keyEnd = keyStart + view.getUint32(start, true);
      if (this.#hasVersions) this.#mustBeStored(rest.subarray(keyStart, keyEnd));
      batch.addRange(rest, keyStart, keyEnd, keyEnd + LENGTH_BYTES, end, this.#next);
      this.#next += this.#needed;
      start = end;
    }
    if (start < rest.length) this.#begun.add(rest.subarray(start));
  }

  end(): void {
    if (this.#begun.byteLength === 0) return;
    const end = this.#next + this.#begun.byteLength;
    throw new InputError(`offset ${this.#next}`, `the file ends inside this entry, at offset ${end}`);
  }

  state(): DecoderState {
    return { position: this.#next, begun: this.#begun.bytes() };
  }

  /** The length of the entry at `start`, or a lower bound if its lengths have not been read yet. */
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

  #mustBeStored(key: Uint8Array): void {
    const problem = storedKeyProblem(key);
    if (problem !== undefined) throw new InputError(`offset ${this.#next}`, problem);
  }

  #mustFit(byteLength: number): void {
    if (byteLength <= MAX_ENTRY_BYTES) return;
    throw new InputError(
      `offset ${this.#next}`,
      `an entry of at least ${byteLength} bytes, the maximum is ${MAX_ENTRY_BYTES}: is it a kv file?`,
    );
  }
}

function printer({ key: hasKey, value: hasValue }: Columns): Printer {
  return {
    print(key, value, out) {
      if (hasKey) putPart(key, out);
      if (hasValue) putPart(value, out);
    },
  };
}

function putPart(bytes: Uint8Array, out: ByteBuffer): void {
  out.uint32(bytes.length);
  out.bytes(bytes);
}
