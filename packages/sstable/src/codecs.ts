/**
 * Codecs beside none and Snappy, to be given as `codecs`.
 *
 * Type 2 is zstd in Google's LevelDB and zlib in Mojang's (Minecraft Bedrock); the bytes tell which. Type 4 is raw
 * deflate in Mojang's. fflate and fzstd: small, without dependencies, and the same in every host.
 *
 * @example
 * ```ts
 * import { allCodecs } from '@bloom/sstable/codecs';
 * const table = await Table.open(source, { codecs: allCodecs });
 * ```
 */
import { Decompress as ZstdStream } from 'fzstd';
import { deflateSync, Inflate, Unzlib, zlibSync } from 'fflate';
import type { Codec } from './format/codec.js';

/** How much compressed input is taken at a time, so that a bomb is noticed before it has grown far. */
const INPUT_BYTES = 512;

/** Gathers output, and refuses to gather more than a limit. */
class BoundedOutput {
  readonly #parts: Uint8Array[] = [];
  #byteLength = 0;
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.#byteLength += part.length;
    if (this.#byteLength > this.#maxBytes) throw new RangeError(`the contents have more than ${this.#maxBytes} bytes, the limit`);
    this.#parts.push(part.slice());
  }

  toBytes(): Uint8Array {
    const bytes = new Uint8Array(this.#byteLength);
    let position = 0;
    for (const part of this.#parts) {
      bytes.set(part, position);
      position += part.length;
    }
    return bytes;
  }
}

/** Pushes `compressed` through a stream that hands its output to `output`. */
function throughStream(
  compressed: Uint8Array,
  maxBytes: number,
  open: (take: (part: Uint8Array) => void) => { push(part: Uint8Array, final: boolean): void },
): Uint8Array {
  const output = new BoundedOutput(maxBytes);
  const stream = open((part) => output.add(part));
  for (let start = 0; start === 0 || start < compressed.length; start += INPUT_BYTES) {
    stream.push(compressed.subarray(start, start + INPUT_BYTES), start + INPUT_BYTES >= compressed.length);
  }
  return output.toBytes();
}

/** zlib with its header, type 2 in Mojang's LevelDB. */
export const zlibCodec: Codec = {
  type: 2,
  name: 'zlib',
  compress: (contents) => zlibSync(contents),
  decompress: (compressed, maxBytes) => throughStream(compressed, maxBytes, (take) => new Unzlib(take)),
};

/** Raw deflate, type 4 in Mojang's LevelDB. */
export const deflateCodec: Codec = {
  type: 4,
  name: 'deflate',
  compress: (contents) => deflateSync(contents),
  decompress: (compressed, maxBytes) => throughStream(compressed, maxBytes, (take) => new Inflate(take)),
};

/** zstd, type 2 in Google's LevelDB. Reads only: nothing small writes it everywhere. */
export const zstdCodec: Codec = {
  type: 2,
  name: 'zstd',
  decompress(compressed, maxBytes) {
    const { windowBytes, contentBytes } = readZstdFrameHeader(compressed);
    // The window is allocated before anything is decompressed.
    if (windowBytes > maxBytes) throw new RangeError(`the window has ${windowBytes} bytes, the limit is ${maxBytes}`);
    if (contentBytes !== undefined && contentBytes > maxBytes) {
      throw new RangeError(`the contents have ${contentBytes} bytes, the limit is ${maxBytes}`);
    }
    let byteLength = 0;
    const contents = throughStream(compressed, maxBytes, (take) => {
      return new ZstdStream((part) => {
        byteLength += part.length;
        if (byteLength > (contentBytes ?? Infinity)) throw new Error(`the contents have more than the ${contentBytes} bytes that the frame's header says`);
        take(part);
      });
    });
    if (contentBytes !== undefined && byteLength !== contentBytes) {
      throw new Error(`the contents have ${byteLength} bytes, the frame's header says ${contentBytes}`);
    }
    return contents;
  },
};

/** A zstd frame's magic number as it stands in the file. */
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

function isZstd(compressed: Uint8Array): boolean {
  return ZSTD_MAGIC.every((byte, i) => compressed[i] === byte);
}

/**
 * The sizes that a frame's header promises.
 *
 *     magic (4) | descriptor (1) | window descriptor (0 or 1) | dictionary id (0 to 4) | content size (0 to 8)
 *
 * Source: RFC 8878, section 3.1.1.1.
 */
function readZstdFrameHeader(frame: Uint8Array): { windowBytes: number; contentBytes: number | undefined } {
  if (!isZstd(frame)) throw new Error('not a zstd frame');
  const descriptor = frame[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const contentSizeLength = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6]!;
  const contentSizeStart = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!;
  if (frame.length < contentSizeStart + contentSizeLength) throw new Error('the frame header is cut short');
  let contentBytes: number | undefined;
  if (contentSizeLength > 0) {
    contentBytes = contentSizeLength === 2 ? 256 : 0;
    for (let i = 0; i < contentSizeLength; i++) contentBytes += frame[contentSizeStart + i]! * 2 ** (8 * i);
  }
  const windowDescriptor = frame[5]!;
  const windowBase = 2 ** (10 + (windowDescriptor >> 3));
  const windowBytes = isSingleSegment ? (contentBytes ?? 0) : windowBase + (windowBase / 8) * (windowDescriptor & 7);
  return { windowBytes, contentBytes };
}

/** Type 2, zstd or zlib by its first bytes; writes zlib. */
export const zstdOrZlibCodec: Codec = {
  type: 2,
  name: 'zstd or zlib',
  compress: (contents) => zlibCodec.compress!(contents),
  decompress: (compressed, maxBytes) => (isZstd(compressed) ? zstdCodec : zlibCodec).decompress(compressed, maxBytes),
};

/** Everything that tables in the field are compressed with. */
export const allCodecs: readonly Codec[] = [zstdOrZlibCodec, deflateCodec];
