import type { InputForm } from '../formats/decoders.js';
import { type DecoderState, InputError } from '../formats/entry.js';
import { buffersOf, EntryBatch, packed, type PackedBatch } from '../formats/entry-batch.js';
import type { DecodedPiece } from './decoded-piece.js';
import { WorkerThread } from './worker-thread.js';

/** What the thread is started with. */
export interface DecodingOrder {
  readonly form: InputForm;
  readonly state: DecoderState;
}

/** What the thread is given. */
export interface PieceOrder {
  /** The bytes of a piece; undefined for the end. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  /** A batch whose memory can be used again. */
  readonly spare: PackedBatch | undefined;
}

/** The entries of a piece, and what is wrong after them. */
export interface PieceAnswer {
  readonly batch: PackedBatch;
  /** The bytes of the piece, whose memory can be used again. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly error: { readonly place: string; readonly problem: string } | undefined;
}

/** How many pieces and batches to keep for later. */
const SPARES = 8;

/** Decodes an input on a worker thread. */
export class DecodingThread {
  readonly #thread: WorkerThread;
  /** Memory that has come back from the thread, and goes to it again: allocating it anew would take an eighth of the time of a build. */
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  readonly #batches: EntryBatch[] = [];

  private constructor(thread: WorkerThread) {
    this.#thread = thread;
  }

  /** @param state where the decoding has come to. @returns undefined where there can be no thread for it. */
  static start(form: InputForm, state: DecoderState): DecodingThread | undefined {
    const order: DecodingOrder = { form, state };
    const thread = WorkerThread.start('decoding-thread.cjs', order);
    return thread && new DecodingThread(thread);
  }

  /** Decodes the next piece, or the end. The bytes are gone afterwards. */
  async decode(bytes: Uint8Array | undefined): Promise<DecodedPiece> {
    const own = bytes && owned(bytes);
    const spare = this.#batches.pop();
    const order: PieceOrder = { bytes: own, spare: spare && packed(spare) };
    const answer = await this.#thread.call<PieceAnswer>(order, [...(own === undefined ? [] : [own.buffer]), ...(spare === undefined ? [] : buffersOf(spare))]);
    if (answer.bytes !== undefined && this.#pieces.length < SPARES) this.#pieces.push(answer.bytes);
    const { error } = answer;
    return { batch: EntryBatch.of(answer.batch), error: error && new InputError(error.place, error.problem) };
  }

  /** Memory for a piece of so many bytes, if there is any. */
  spare(byteLength: number): Uint8Array<ArrayBuffer> | undefined {
    const i = this.#pieces.findIndex(({ buffer }) => buffer.byteLength === byteLength);
    return i < 0 ? undefined : this.#pieces.splice(i, 1)[0];
  }

  /** Takes back a batch that nobody uses any more. */
  giveBack(batch: EntryBatch): void {
    if (this.#batches.length < SPARES) this.#batches.push(batch);
  }

  close(): void {
    void this.#thread.close();
  }
}

/** The bytes in a buffer of their own, which can be handed over. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // Of a piece that was read into memory of its own, only the end may be missing.
  return byteOffset === 0 && byteLength > buffer.byteLength / 2 && buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(bytes);
}
