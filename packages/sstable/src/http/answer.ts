import type { Bytes } from '@bloom/bytes';
import { joinedBytes } from '@bloom/bytes/internal';

/** The members of a `Response` that are needed. */
export interface HttpResponse {
  readonly status: number;
  /** The address after all redirects. */
  readonly url?: string;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    cancel(): Promise<void>;
    getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>; cancel(): Promise<void> };
  } | null;
  /** The whole body. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** A response whose headers have arrived and whose body has not been read. */
export class Answer {
  readonly status: number;
  /** Whether the request carried the caller's headers, if there are any. */
  readonly hadHeaders: boolean;
  readonly #response: HttpResponse;
  readonly #onBytes: (received: number) => void;

  /** @param onBytes called after each chunk of the body with the bytes received so far; may throw to stop reading. */
  constructor(response: HttpResponse, hadHeaders: boolean, onBytes: (received: number) => void) {
    this.status = response.status;
    this.hadHeaders = hadHeaders;
    this.#response = response;
    this.#onBytes = onBytes;
  }

  /** The value of a header; null when it is absent, or hidden from a page of another origin. */
  header(name: string): string | null {
    return this.#response.headers.get(name);
  }

  /** Drops the response without reading its body. */
  discard(): void {
    discard(this.#response);
  }

  /** The whole body; undefined when it has more than `maxBytes`, in which case the rest is not received. */
  async body(maxBytes: number): Promise<Bytes | undefined> {
    const reader = this.#response.body?.getReader();
    if (reader === undefined) {
      const bytes = new Uint8Array(await this.#response.arrayBuffer());
      return bytes.length > maxBytes ? undefined : bytes;
    }
    const parts: Uint8Array[] = [];
    let received = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return joinedBytes(parts);
      if (value === undefined || value.length === 0) continue;
      received += value.length;
      if (received > maxBytes) {
        reader.cancel().catch(() => undefined);
        return undefined;
      }
      parts.push(value);
      this.#onBytes(received);
    }
  }
}

/** Drops a response without reading its body. */
export function discard({ body }: HttpResponse): void {
  body?.cancel().catch(() => undefined);
}
