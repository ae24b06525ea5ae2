import type { Readable } from 'node:stream';
import { type Entry, type EntryDecoder, InputError } from './entry.js';
import { Failure, failureOf } from './failure.js';
import type { Input } from './input.js';

/** Called with each entry before it is returned. Throws to reject the entry. */
export type Inspect = (entry: Entry, decoder: EntryDecoder) => void;

interface EntryStreamOptions {
  readonly inspect?: Inspect;
  readonly onBytes: (bytesRead: number) => void;
}

/**
 * The entries in a stream. Holds one piece of it in memory.
 *
 * Not an async generator, which would take longer per entry than building the table.
 */
export class EntryStream {
  readonly #input: Readable;
  readonly #name: string;
  readonly #decoder: EntryDecoder;
  readonly #inspect: Inspect | undefined;
  readonly #onBytes: (bytesRead: number) => void;
  readonly #pieces: AsyncIterator<Uint8Array>;
  #entries: Iterator<Entry> = [][Symbol.iterator]();
  #bytesRead = 0;
  #atEnd = false;

  /**
   * @param name the input's name, for errors.
   * @param onBytes called after each piece with the number of bytes read so far.
   */
  constructor({ stream, name }: Input, decoder: EntryDecoder, { inspect, onBytes }: EntryStreamOptions) {
    this.#input = stream;
    this.#name = name;
    this.#decoder = decoder;
    this.#inspect = inspect;
    this.#onBytes = onBytes;
    this.#pieces = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  }

  /** The next entry, without a promise where it is in the piece that was read last. */
  next(): IteratorResult<Entry, undefined> | Promise<IteratorResult<Entry, undefined>> {
    try {
      return this.#step() ?? this.#read();
    } catch (error) {
      throw this.#failed(error);
    }
  }

  return(): Promise<IteratorResult<Entry, undefined>> {
    this.#input.destroy();
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next entry of the current piece, if there is one. */
  #step(): IteratorYieldResult<Entry> | undefined {
    const step = this.#entries.next();
    if (step.done === true) return undefined;
    this.#inspect?.(step.value, this.#decoder);
    return step;
  }

  async #read(): Promise<IteratorResult<Entry, undefined>> {
    try {
      while (!this.#atEnd) {
        const piece = await this.#pieces.next();
        if (piece.done === true) {
          this.#atEnd = true;
          this.#entries = this.#decoder.end();
        } else {
          const { buffer, byteOffset, byteLength } = piece.value;
          this.#bytesRead += byteLength;
          this.#onBytes(this.#bytesRead);
          // Not as a Buffer: making views of plain arrays takes a quarter less time.
          this.#entries = this.#decoder.decode(new Uint8Array(buffer, byteOffset, byteLength));
        }
        const step = this.#step();
        if (step !== undefined) return step;
      }
      return { value: undefined, done: true };
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Closes the input. @returns the error to throw. */
  #failed(error: unknown): unknown {
    this.#input.destroy();
    if (error instanceof InputError) return new Failure(`${this.#name}: ${error.message}`, { cause: error });
    return failureOf(this.#name, error);
  }
}
