import { decoderOf, type InputForm } from '../formats/decoders.js';
import { type EntryDecoder, InputError } from '../formats/entry.js';
import { EntryBatch } from '../formats/entry-batch.js';
import { Failure, failureOf } from '../failure.js';
import { shellWord } from '../shell-word.js';
import { decoded, type DecodedPiece } from './decoded-piece.js';
import { DecodingThread } from './decoding-thread.js';
import type { Input } from './input.js';
import { mustBeEntries, UnfitInput } from './recognized-file.js';

/** An input with more bytes than this is decoded on a thread, which takes about 30 ms to start. */
const BYTES_HERE = 4 * 2 ** 20;
/** The number of pieces that are read ahead. */
const PIECES_AHEAD = 6;

/** The entries of an input, in batches. The input is decoded on a thread if it is long. */
export class DecodedInput {
  readonly name: string;
  readonly unit: 'line' | 'offset';
  readonly #input: Input;
  readonly #form: InputForm;
  readonly #onBytes: (bytesRead: number) => void;
  /** Decodes the pieces that are decoded on this thread. */
  readonly #decoder: EntryDecoder;
  #thread: DecodingThread | undefined;
  /** Whether no thread has been requested yet. */
  #mayHaveThread = true;
  /** The next pieces, in order. */
  readonly #next: Promise<DecodedPiece | undefined>[] = [];
  /** Settles when the previous piece has been read. */
  #reading: Promise<unknown> = Promise.resolve();
  #bytesRead = 0;
  /** The batch that was returned last. */
  #given: EntryBatch | undefined;
  #atEnd = false;
  /** The error after the last batch that was returned. */
  #error: unknown;

  /** @param onBytes called after each piece with the number of bytes read so far. */
  constructor(input: Input, form: InputForm, onBytes: (bytesRead: number) => void) {
    this.name = input.name;
    this.#input = input;
    this.#form = form;
    this.#onBytes = onBytes;
    this.#decoder = decoderOf(form);
    this.unit = this.#decoder.unit;
    if ((input.byteLength ?? 0) > BYTES_HERE) this.#startThread();
  }

  /** The next batch, which is valid until the following one is requested; undefined at the end. @throws Failure that names the input. */
  async next(): Promise<EntryBatch | undefined> {
    if (this.#error !== undefined) throw this.#failure(this.#error);
    const ahead = this.#thread === undefined ? 1 : PIECES_AHEAD;
    while (this.#next.length < ahead) {
      const piece = this.#piece();
      // The promise is awaited later. Until then, its rejection must not count as unhandled.
      piece.catch(() => undefined);
      this.#next.push(piece);
    }
    let piece: DecodedPiece | undefined;
    try {
      piece = await this.#next.shift();
    } catch (error) {
      throw this.#failure(error);
    }
    if (piece === undefined) return undefined;
    this.#error = piece.error;
    if (this.#given !== undefined) this.#thread?.giveBack(this.#given);
    this.#given = piece.batch;
    return piece.batch;
  }

  /** Closes the input. */
  close(): void {
    this.#input.pieces.close();
    this.#thread?.close();
  }

  /** A problem of an entry, as a failure that names the input. */
  failureAt(position: number, problem: string): Failure {
    return new Failure(`${this.name}: ${this.unit} ${position}: ${problem}`);
  }

  #startThread(): void {
    if (!this.#mayHaveThread) return;
    this.#mayHaveThread = false;
    const thread = DecodingThread.start(this.#form, this.#decoder.state());
    this.#thread = thread;
    if (thread !== undefined) this.#input.pieces.spare = (byteLength) => thread.spare(byteLength);
  }

  /** The next piece. It is read after the previous one, and decoded while the following one is read. */
  #piece(): Promise<DecodedPiece | undefined> {
    const reading = this.#reading.then(() => this.#read());
    // Pieces are decoded in order. An error applies to all following pieces too.
    const decoding = reading.then((begun) => begun?.decoding);
    this.#reading = reading;
    return decoding;
  }

  /** Reads the next piece, and begins to decode it. @returns undefined after the end. */
  async #read(): Promise<{ readonly decoding: DecodedPiece | Promise<DecodedPiece> } | undefined> {
    if (this.#atEnd) return undefined;
    const bytes = await this.#input.pieces.next();
    if (bytes === undefined) {
      this.#atEnd = true;
      return { decoding: this.#decoded(undefined) };
    }
    if (this.#bytesRead === 0) mustBeEntries(bytes, this.#form.format);
    this.#bytesRead += bytes.length;
    this.#onBytes(this.#bytesRead);
    if (this.#bytesRead > BYTES_HERE) this.#startThread();
    return { decoding: this.#decoded(bytes) };
  }

  /** @param bytes of the next piece; undefined for the end. */
  #decoded(bytes: Uint8Array | undefined): DecodedPiece | Promise<DecodedPiece> {
    return this.#thread === undefined ? decoded(this.#decoder, bytes, new EntryBatch((bytes?.length ?? 0) + 1024)) : this.#thread.decode(bytes);
  }

  #failure(error: unknown): unknown {
    this.close();
    if (error instanceof InputError) return new Failure(`${this.name}: ${error.message}`, { cause: error });
    if (error instanceof UnfitInput) return new Failure(`${this.name}: ${this.#input.path === '-' ? error.message : error.message.replace('FILE', () => shellWord(this.name))}`, { cause: error });
    return failureOf(this.name, error);
  }
}
