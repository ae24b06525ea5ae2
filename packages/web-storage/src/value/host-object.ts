import { numberOf } from '@bloom/bytes/internal';
import { WebStorageError } from '../web-storage-error.js';

/**
 * A stored object of the browser that JavaScript alone does not have, such as a `DOMRect` or a `CryptoKey`.
 *
 * A `Blob` and a `File` are {@link StoredBlob}s.
 */
export class HostObject {
  /** The name of its interface, such as `'DOMRect'`; undefined if this reader does not know the tag. */
  readonly interfaceName: string | undefined;
  /** Its stored fields, by their names in the interface. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The tag that is stored, an ASCII character. */
  readonly tag: string;
  /**
   * For an unknown object, all bytes that follow its tag. Its end is not known, so they also contain the rest of the value, which is
   * incomplete. Otherwise undefined.
   */
  readonly bytes: Uint8Array | undefined;

  constructor(interfaceName: string | undefined, tag: string, fields: Readonly<Record<string, unknown>>, bytes?: Uint8Array) {
    this.interfaceName = interfaceName;
    this.tag = tag;
    this.fields = fields;
    this.bytes = bytes;
  }
}

/** The entry of a record about a `Blob`, a `File` or a file handle in its value. */
export interface ExternalObject {
  readonly kind: 'blob' | 'file' | 'handle';
  /** The number of its file in the blob folder; undefined for a handle. */
  readonly blobNumber: number | undefined;
  /** Its MIME type, which may be empty. */
  readonly type: string;
  /** In bytes; undefined for a handle, and for a `File` that was stored before Chromium 83. */
  readonly size: number | undefined;
  /** The name of a `File`. */
  readonly name: string | undefined;
  /** When a `File` was last modified; undefined if it was stored before Chromium 83. */
  readonly lastModified: Date | undefined;
}

/** A `Blob` or a `File` that was stored. Its bytes are in a file of the blob folder. */
export class StoredBlob {
  readonly kind: 'blob' | 'file';
  /** Its place in the list of the record's blobs. */
  readonly index: number;
  /** Its MIME type, which may be empty; undefined if the record has no entry for it. */
  readonly type: string | undefined;
  /** In bytes; undefined where the record has no entry for it, and for a `File` that was stored before Chromium 83. */
  readonly size: number | undefined;
  /** The name of a `File`. */
  readonly name: string | undefined;
  /** When a `File` was last modified; undefined if it was stored before Chromium 83. */
  readonly lastModified: Date | undefined;
  /** The number of its file; undefined if the record has no entry for it. */
  readonly blobNumber: number | undefined;
  /** Why its entry cannot be read; undefined if it can, or if there is no entry. */
  readonly error: WebStorageError | undefined;
  readonly #read: ((blobNumber: number) => Promise<Uint8Array>) | undefined;

  /** @param given its entry, or why that cannot be read; undefined if there is none. */
  constructor(kind: 'blob' | 'file', index: number, given: ExternalObject | WebStorageError | undefined, read: ((blobNumber: number) => Promise<Uint8Array>) | undefined) {
    const [entry, error] = given instanceof WebStorageError ? [undefined, given] : [given, undefined];
    this.kind = kind;
    this.index = index;
    this.error = error;
    this.type = entry?.type;
    this.size = entry?.size;
    this.name = entry?.name;
    this.lastModified = entry?.lastModified;
    this.blobNumber = entry?.blobNumber;
    this.#read = read;
  }

  /**
   * Reads its bytes.
   *
   * @throws WebStorageError BLOOM_MISSING_BLOB where its file is not there, or no blob folder was given; BLOOM_BAD_VALUE where its file has
   *   another size; BLOOM_TOO_LARGE if Node.js cannot read its file in one call; its `error` if there is one.
   */
  async bytes(): Promise<Uint8Array> {
    // Chromium makes no file for an empty one.
    if (this.size === 0) return new Uint8Array(0);
    if (this.error !== undefined) throw this.error;
    if (this.#read === undefined || this.blobNumber === undefined) {
      throw new WebStorageError('BLOOM_MISSING_BLOB', 'blob', 0, this.blobNumber === undefined ? 'the record has no entry for this blob' : 'no blob folder was given');
    }
    const contents = await this.#read(this.blobNumber);
    if (this.size !== undefined && contents.length !== this.size) {
      throw new WebStorageError('BLOOM_BAD_VALUE', 'blob', 0, `its file has ${numberOf(contents.length, 'byte')} instead of ${this.size}`);
    }
    return contents;
  }
}
