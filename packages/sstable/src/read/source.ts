import type { Bytes, Signal } from '@bloom/bytes';
import { mustBeBytes, mustBeFunction, mustBeWhole, mustHaveMethods, plainBytes } from '@bloom/bytes/internal';

/** What a host knows about a file: enough to tell whether a file of the same name, opened later, holds the same bytes. */
export interface FileIdentity {
  /** Which file it is, even when its bytes have changed since: the inode of a file system. Compared with `Object.is`. */
  readonly file: unknown;
  /** Which state of the file: length and times, or a version. Compared with `Object.is`. */
  readonly state: unknown;
  /** False where the file was changed so recently that a further change would leave the state as it is. */
  readonly isSettled: boolean;
}

/** Where a table's bytes come from. */
export interface Source {
  /** Bytes of the whole file. */
  readonly byteLength: number;
  /** Names the file in errors. */
  readonly name?: string | undefined;
  /** What the host knew about the file when it was opened, if anything. */
  readonly identity?: FileIdentity | undefined;
  /**
   * Whether each read takes a round trip, as over HTTP. Tables then read their filters once that pays, instead of at
   * opening, and simultaneous lookups share reads of neighbouring blocks.
   */
  readonly isRemote?: boolean | undefined;
  /** How many bytes at the end of the file are at hand, because they came with its length: reading them takes no round trip. */
  readonly heldTailBytes?: number | undefined;

  /**
   * Reads the bytes at `[offset, offset + length)`, a range that is always inside the file.
   *
   * The table does not write to the returned array, which must not change while the table is open.
   *
   * @param signal ends the read early.
   */
  read(offset: number, length: number, signal?: Signal): Uint8Array | Promise<Uint8Array>;

  /**
   * A synchronous `read`, for bytes that the host has in memory: a promise would take longer than the read itself. Returns
   * undefined where `read` is to be called instead. Tables ask for at most {@link AT_ONCE_BYTES} at a time.
   *
   * @param into memory of `length` bytes. The source may read into it and return it, or return other memory.
   */
  readonly readAtOnce?: ((offset: number, length: number, into?: Bytes) => Uint8Array | undefined) | undefined;
}

/** A source that does not return promises. */
export interface SyncSource extends Source {
  read(offset: number, length: number): Uint8Array;

  /**
   * Fills `bytes` with a range of the file that starts at `offset`, so that scans can use the same memory again and again. The
   * range is inside the file. Left out by sources that have their bytes in memory, and return views of them.
   *
   * @returns how many bytes it has read: fewer than the length of `bytes` only if the file has become shorter.
   */
  readInto?(offset: number, bytes: Uint8Array): number;
}

/**
 * The most bytes that a source requests from its host at once; larger reads are made in pieces. Node's limit is 2^31 - 1
 * bytes, and browsers' limits are similar. It also limits what is still read after an abort.
 */
export const PIECE_BYTES = 64 * 2 ** 20;

/** The most bytes that a table asks `readAtOnce` for: above that, the trip to another thread matters less than the read. */
export const AT_ONCE_BYTES = 64 * 2 ** 10;

/** @throws RangeError, which names the argument, unless `[offset, offset + length)` lies inside the file. */
export function mustLieInside(offset: number, length: number, { byteLength }: Source): void {
  mustBeWhole('offset', offset, 0);
  mustBeWhole('length', length, 0);
  if (offset + length <= byteLength) return;
  throw new RangeError(`offset + length must be at most ${byteLength}, the length of the file, got ${offset} + ${length}`);
}

/** @throws RangeError when the host does not support arrays of that length, or has no memory for one. */
export function allocate(length: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    throw new RangeError(`length must be at most what a Uint8Array can hold on this host, got ${length}`, { cause });
  }
}

/** @throws TypeError unless `source` is a source, for example for a path or for bytes; RangeError for an invalid length. */
export function mustBeSource(source: unknown): asserts source is Source {
  if (typeof source === 'string') {
    throw new TypeError('source must be a source, got string: to open a file, use FileSource.open of @bloom/sstable/node');
  }
  if (ArrayBuffer.isView(source)) throw new TypeError('source must be a source, got bytes: pass new MemorySource(bytes)');
  mustHaveMethods('source', source, 'a source', ['read']);
  mustBeWhole('source.byteLength', (source as Source).byteLength, 0);
  const { readAtOnce } = source as Source;
  if (readAtOnce !== undefined) mustBeFunction('source.readAtOnce', readAtOnce);
}

/** A table in memory. */
export class MemorySource implements SyncSource {
  readonly byteLength: number;
  readonly name: string | undefined;
  readonly identity: FileIdentity;
  readonly #bytes: Uint8Array;

  /** @param bytes the whole file, which must not change while the source is in use. */
  constructor(bytes: Uint8Array, name?: string) {
    mustBeBytes('bytes', bytes);
    this.#bytes = plainBytes(bytes);
    this.byteLength = bytes.length;
    this.name = name;
    this.identity = { file: bytes, state: bytes.length, isSettled: true };
  }

  /** @throws RangeError when the range is not inside the file. */
  read(offset: number, length: number): Uint8Array {
    mustLieInside(offset, length, this);
    return this.#bytes.subarray(offset, offset + length);
  }

  /** As {@link read}. */
  readAtOnce(offset: number, length: number): Uint8Array {
    return this.read(offset, length);
  }
}
