import type { Source } from '@bloom/sstable';

export interface Read {
  readonly offset: number;
  readonly length: number;
  readonly signal: AbortSignal | undefined;
}

/** A file in memory that answers asynchronously, and records its reads. */
export class WatchedSource implements Source {
  readonly byteLength: number;
  readonly name = 'watched.ldb';
  readonly reads: Read[] = [];
  /** Changes the answer to a read. */
  answer: (bytes: Uint8Array, read: Read) => Uint8Array | Promise<Uint8Array> = (bytes) => bytes;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.byteLength = bytes.length;
  }

  async read(offset: number, length: number, signal?: AbortSignal): Promise<Uint8Array> {
    const read = { offset, length, signal };
    this.reads.push(read);
    await Promise.resolve();
    return this.answer(this.#bytes.slice(offset, offset + length), read);
  }
}

/** A promise, and functions that settle it. */
export function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}
