import { mustBeBytes, mustBeWhole, mustHaveMethods, type Signal } from '@bloom/bytes';

/** Where a table's bytes come from. */
export interface Source {
  /** Bytes of the whole file. */
  readonly byteLength: number;
  /** Names the file in errors. */
  readonly name?: string | undefined;

  /**
   * The bytes of the file at `[offset, offset + length)`, which lies inside it.
   *
   * The table reads them and never writes; they must not change while it is open.
   *
   * @param signal ends the read early.
   */
  read(offset: number, length: number, signal?: Signal): Uint8Array | Promise<Uint8Array>;
}

/** A source that answers at once. */
export interface SyncSource extends Source {
  read(offset: number, length: number): Uint8Array;
}

/**
 * The most bytes that a source asks its host for at once; larger reads are made in pieces. Node takes at most 2^31 - 1
 * bytes, browsers' limits are similar, and this is all that an aborted read may still have under way.
 */
export const PIECE_BYTES = 64 * 2 ** 20;

/** @throws RangeError, which names the argument, unless `[offset, offset + length)` lies inside the file. */
export function mustLieInside(offset: number, length: number, { byteLength }: Source): void {
  mustBeWhole('offset', offset, 0);
  mustBeWhole('length', length, 0);
  if (offset + length <= byteLength) return;
  throw new RangeError(`offset + length must be at most ${byteLength}, the length of the file, got ${offset} + ${length}`);
}

/** @throws RangeError when the host has no arrays of that length, or no memory for one. */
export function allocate(length: number): Uint8Array<ArrayBuffer> {
  try {
    return new Uint8Array(length);
  } catch (cause) {
    throw new RangeError(`length must be at most what a Uint8Array can hold on this host, got ${length}`, { cause });
  }
}

/** @throws TypeError for what is no source, such as a path or the bytes themselves; RangeError for a length that is none. */
export function mustBeSource(source: unknown): asserts source is Source {
  if (typeof source === 'string') {
    throw new TypeError('source must be a source, got string: a file is opened by FileSource.open of @bloom/sstable/node');
  }
  if (ArrayBuffer.isView(source)) throw new TypeError('source must be a source, got bytes: give new MemorySource(bytes)');
  mustHaveMethods('source', source, 'a source', ['read']);
  mustBeWhole('source.byteLength', (source as Source).byteLength, 0);
}

/** A table that lies in memory. */
export class MemorySource implements SyncSource {
  readonly byteLength: number;
  readonly name: string | undefined;
  readonly #bytes: Uint8Array;

  /** @param bytes the whole file, which must not change as long as the source is used. */
  constructor(bytes: Uint8Array, name?: string) {
    mustBeBytes('bytes', bytes);
    // A plain array: to take a part of a Buffer costs Node several times as much.
    this.#bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.byteLength = bytes.length;
    this.name = name;
  }

  /** @throws RangeError when the range does not lie inside the file. */
  read(offset: number, length: number): Uint8Array {
    mustLieInside(offset, length, this);
    return this.#bytes.subarray(offset, offset + length);
  }
}
