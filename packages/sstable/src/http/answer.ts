/** What is needed of an answer to a request. */
export interface HttpResponse {
  readonly status: number;
  /** Where the answer came from, behind all redirects. */
  readonly url?: string;
  readonly headers: { get(name: string): string | null };
  readonly body: {
    cancel(): Promise<void>;
    getReader(): { read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>; cancel(): Promise<void> };
  } | null;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** An answer that has begun, and whose body is yet to be read. */
export class Answer {
  readonly status: number;
  /** Whether the request had all of the caller's headers. */
  readonly hadHeaders: boolean;
  readonly #response: HttpResponse;
  readonly #onBytes: (received: number) => void;

  /** @param onBytes told after each part of the body how many bytes have come; what it throws ends the reading. */
  constructor(response: HttpResponse, hadHeaders: boolean, onBytes: (received: number) => void) {
    this.status = response.status;
    this.hadHeaders = hadHeaders;
    this.#response = response;
    this.#onBytes = onBytes;
  }

  /** The value of a header; null where there is none, or where a page of another origin may not see it. */
  header(name: string): string | null {
    return this.#response.headers.get(name);
  }

  /** All of the body; undefined when it has more than `maxBytes`: then the rest is not listened to. */
  async body(maxBytes: number): Promise<Uint8Array | undefined> {
    const reader = this.#response.body?.getReader();
    if (reader === undefined) {
      const bytes = new Uint8Array(await this.#response.arrayBuffer());
      return bytes.length > maxBytes ? undefined : bytes;
    }
    const parts: Uint8Array[] = [];
    let received = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return joined(parts, received);
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

/** Lets an answer go that nobody reads. */
export function discard({ body }: HttpResponse): void {
  body?.cancel().catch(() => undefined);
}

/** Parts of `byteLength` bytes together, in one piece. */
export function joined(parts: readonly Uint8Array[], byteLength: number): Uint8Array {
  const bytes = new Uint8Array(byteLength);
  let position = 0;
  for (const part of parts) {
    bytes.set(part, position);
    position += part.length;
  }
  return bytes;
}
