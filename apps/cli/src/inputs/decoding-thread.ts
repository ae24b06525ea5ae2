import type { Worker } from 'node:worker_threads';
import type { InputForm } from '../formats/decoders.js';
import { type DecoderState, InputError } from '../formats/entry.js';
import { buffersOf, EntryBatch, packed, type PackedBatch } from '../formats/entry-batch.js';
import type { DecodedPiece } from './decoded-piece.js';
import { startedThread, threadProblem } from './started-thread.js';

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

interface Waiting {
  readonly resolve: (piece: DecodedPiece) => void;
  readonly reject: (error: unknown) => void;
}

/** Decodes an input on a worker thread. */
export class DecodingThread {
  readonly #worker: Worker;
  /** The pieces that are not answered yet, in order. */
  readonly #waiting: Waiting[] = [];
  /** Memory that has come back from the thread, and goes to it again: allocating it anew would take an eighth of the time of a build. */
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  readonly #batches: EntryBatch[] = [];
  #ended: Error | undefined;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', ({ batch, bytes, error }: PieceAnswer) => {
      if (bytes !== undefined && this.#pieces.length < SPARES) this.#pieces.push(bytes);
      this.#waiting.shift()?.resolve({ batch: EntryBatch.of(batch), error: error && new InputError(error.place, error.problem) });
    });
    worker.on('error', (error: Error) => this.#end(threadProblem(error)));
    worker.on('exit', () => this.#end(new Error('the thread that decodes the input has ended')));
  }

  /** @param state where the decoding has come to. @returns undefined where there can be no thread for it. */
  static start(form: InputForm, state: DecoderState): DecodingThread | undefined {
    const order: DecodingOrder = { form, state };
    const worker = startedThread('decoding-thread.cjs', order);
    return worker && new DecodingThread(worker);
  }

  /** Decodes the next piece, or the end. The bytes are gone afterwards. */
  decode(bytes: Uint8Array | undefined): Promise<DecodedPiece> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) {
        reject(this.#ended);
        return;
      }
      const own = bytes && owned(bytes);
      const spare = this.#batches.pop();
      const order: PieceOrder = { bytes: own, spare: spare && packed(spare) };
      this.#worker.postMessage(order, [...(own === undefined ? [] : [own.buffer]), ...(spare === undefined ? [] : buffersOf(spare))]);
      this.#waiting.push({ resolve, reject });
    });
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
    void this.#worker.terminate();
  }

  #end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#waiting.splice(0)) reject(this.#ended);
  }
}

/** The bytes in a buffer of their own, which can be handed over. */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  // Of a piece that was read into memory of its own, only the end may be missing.
  return byteOffset === 0 && byteLength > buffer.byteLength / 2 && buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(bytes);
}
