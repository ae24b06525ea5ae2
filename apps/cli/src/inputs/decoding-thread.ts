import type { InputForm } from '../formats/decoders.js';
import { type DecoderState, InputError } from '../formats/entry.js';
import { buffersOf, EntryBatch, packed, type PackedBatch } from '../formats/entry-batch.js';
import type { DecodedPiece } from './decoded-piece.js';
import { WorkerThread } from './worker-thread.js';

/** The data with which the thread starts. */
export interface DecodingOrder {
  readonly form: InputForm;
  readonly state: DecoderState;
}

/** A message to the thread. */
export interface PieceOrder {
  /** The bytes of a piece; undefined for the end. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  /** A batch whose memory can be reused. */
  readonly spare: PackedBatch | undefined;
}

/** The entries of a piece, and the error after them. */
export interface PieceAnswer {
  readonly batch: PackedBatch;
  /** The bytes of the piece, whose memory can be reused. */
  readonly bytes: Uint8Array<ArrayBuffer> | undefined;
  readonly error: { readonly place: string; readonly problem: string } | undefined;
}

/** The number of pieces and batches that are kept for reuse. */
const SPARES = 8;

/** Decodes an input on a worker thread. */
export class DecodingThread {
  readonly #thread: WorkerThread;
  /** Memory that the thread has returned, for reuse. Allocating it each time would take an eighth of the time of a build. */
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  readonly #batches: EntryBatch[] = [];

  private constructor(thread: WorkerThread) {
    this.#thread = thread;
  }

  /** @param state the state of the decoding so far. @returns undefined if a thread cannot be used. */
  static start(form: InputForm, state: DecoderState): DecodingThread | undefined {
    const order: DecodingOrder = { form, state };
    const thread = WorkerThread.start('decoding-worker.cjs', order);
    return thread && new DecodingThread(thread);
  }

  /** Decodes the next piece, or the end. The bytes are transferred and cannot be used afterwards. */
  async decode(bytes: Uint8Array | undefined): Promise<DecodedPiece> {
    const own = bytes && owned(bytes);
    const spare = this.#batches.pop();
    const order: PieceOrder = { bytes: own, spare: spare && packed(spare) };
    const answer = await this.#thread.call<PieceAnswer>(order, [...(own === undefined ? [] : [own.buffer]), ...(spare === undefined ? [] : buffersOf(spare))]);
    if (answer.bytes !== undefined && this.#pieces.length < SPARES) this.#pieces.push(answer.bytes);
    const { error } = answer;
    return { batch: EntryBatch.of(answer.batch), error: error && new InputError(error.place, error.problem) };
  }

  /** Memory for a piece of `byteLength` bytes, if there is any to reuse. */
  spare(byteLength: number): Uint8Array<ArrayBuffer> | undefined {
    const i = this.#pieces.findIndex(({ buffer }) => buffer.byteLength === byteLength);
    return i < 0 ? undefined : this.#pieces.splice(i, 1)[0];
  }

  /** Takes back a batch that is no longer used. */
  giveBack(batch: EntryBatch): void {
    if (this.#batches.length < SPARES) this.#batches.push(batch);
  }

  close(): void {
    void this.#thread.close();
  }
}

/** The bytes in their own buffer, which can be transferred. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // A piece that was read into its own buffer starts at 0, and may end before the buffer does.
  return byteOffset === 0 && byteLength > buffer.byteLength / 2 && buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(bytes);
}
