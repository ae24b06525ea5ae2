import type { Bytes, Signal } from '@bloom/bytes';
import { isMarkup, mustBeWhole, numberOf } from '@bloom/bytes/internal';
import { allocate, type FileIdentity, PIECE_BYTES } from '../read/source.js';
import type { Answer } from './answer.js';
import { parseContentRange, wholeNumber } from './content-range.js';
import { HttpError, Retriable } from './http-error.js';
import type { HttpSourceOptions } from './options.js';
import { RetryingTransport } from './retrying-transport.js';

const DEFAULT_MAX_WHOLE_BYTES = 8 * 2 ** 20;
/**
 * About the length of footer, index and filters of a table of 2 MiB whose values have 100 bytes. With shorter values they are
 * longer, and opening requests the rest.
 */
const DEFAULT_TAIL_BYTES = 64 * 2 ** 10;
/** The file is missing, or this caller must not read it: another kind of request would not change that. */
const FINAL: readonly number[] = [401, 403, 404, 410];
/** A server may respond with only a part of a range, but not with so little that it takes more requests than this. */
const MAX_PARTS = 1024;

/** How many bytes at the start of a file show whether it is a page. */
const PAGE_START_BYTES = 512;

/** What a response says about the version of the file. */
interface Version {
  readonly etag: string | null;
  readonly modified: string | null;
  /** Whether the response is labelled as an HTML page. */
  readonly isHtml: boolean;
}

/** The requested range or its start, or the whole file. */
interface Part {
  readonly bytes: Bytes;
  readonly isWhole: boolean;
}

const EMPTY: Part = { bytes: new Uint8Array(0), isWhole: true };

/** Bytes of the file that came with its length. */
interface Held {
  readonly offset: number;
  readonly bytes: Bytes;
}

/** The first request: a number of bytes at the start of the file, or at its end. */
interface FirstRange {
  readonly isStart: boolean;
  readonly byteLength: number;
}

/** A file on a server. All bytes must be of one version of it. */
export class RemoteFile {
  readonly transport: RetryingTransport;
  readonly #maxWholeBytes: number;
  /** The version of the bytes taken so far; before the first of them, the one in the response to HEAD. */
  #version: Version | undefined;
  /** Whether bytes were taken. HEAD alone does not settle the version: some servers give it another ETag than GET. */
  #hasBytes = false;
  #fileLength: number | undefined;
  /** Whether the length is that of the option, which no response has confirmed. */
  #isLengthGiven: boolean;
  /** Whether the response to HEAD said that the file is empty, which alone is no proof. */
  #seemsEmpty = false;
  readonly #first: FirstRange;
  /** Whether the start of the file was checked because it is labelled as a page. Scripts that serve files often send a wrong label. */
  #isVetted = false;
  #held: Held | undefined;
  /** The whole file, from a server without ranges. */
  #whole: Bytes | undefined;

  constructor(url: string, options: HttpSourceOptions) {
    this.transport = new RetryingTransport(url, options);
    this.#maxWholeBytes = mustBeWhole('maxWholeBytes', options.maxWholeBytes ?? DEFAULT_MAX_WHOLE_BYTES, 0);
    this.#isLengthGiven = options.byteLength !== undefined;
    if (options.byteLength !== undefined) this.#fileLength = mustBeWhole('byteLength', options.byteLength, 0);
    const tailBytes = mustBeWhole('tailBytes', options.tailBytes ?? (needsPreflight(url) ? 0 : DEFAULT_TAIL_BYTES), 0, PIECE_BYTES);
    const startBytes = mustBeWhole('startBytes', options.startBytes ?? 0, 0, PIECE_BYTES);
    this.#first = { isStart: startBytes > 0, byteLength: startBytes > 0 ? startBytes : tailBytes };
  }

  get heldTailBytes(): number {
    return this.#held === undefined || this.#first.isStart ? 0 : this.#held.bytes.length;
  }

  get identity(): FileIdentity | undefined {
    const { etag = null, modified = null } = this.#version ?? {};
    if (etag === null && modified === null) return undefined;
    // HTTP has no identity of a file apart from its version, so both fields are the version.
    const state = `${etag}\n${modified}\n${this.#fileLength}`;
    return { file: state, state, isSettled: true };
  }

  async findLength(signal: Signal | undefined): Promise<number> {
    if (this.#fileLength === undefined && this.#first.byteLength > 0) await this.#askFirst(signal);
    // With its option --proxy, npm's http-server responds in this way to a range at the end of any file.
    if (!this.#first.isStart && !(await this.#seemsRight(signal))) this.#forget();
    if (this.#fileLength === undefined) await this.#askLength(signal);
    if (this.#fileLength === undefined) {
      const { bytes, isWhole } = await this.#getPart(0, 1, signal);
      if (isWhole) this.#whole = bytes;
    }
    await this.#vet(signal);
    if (this.#fileLength !== undefined) return this.#fileLength;
    const problem = 'the server does not say how long the file is, or hides it from this page: make it expose Content-Range';
    throw this.transport.error('BLOOM_HTTP_NO_LENGTH', `${problem}, or pass the option byteLength`);
  }

  heldBytes(offset: number, length: number): Bytes | undefined {
    const { offset: start, bytes } = this.#held ?? { offset: 0, bytes: this.#whole ?? EMPTY.bytes };
    const isHeld = offset >= start && offset + length <= start + bytes.length;
    return isHeld ? bytes.subarray(offset - start, offset - start + length) : undefined;
  }

  async read(offset: number, length: number, signal: Signal | undefined): Promise<Bytes> {
    const bytes = await this.#read(offset, length, signal);
    await this.#vet(signal);
    return bytes;
  }

  /** @throws HttpError `BLOOM_HTTP_PAGE` when the file is labelled as an HTML page, and begins like one. */
  async #vet(signal: Signal | undefined): Promise<void> {
    if (!(await this.#seemsRight(signal))) throw this.#page();
  }

  /** Whether the file is not an HTML page, as far as is known: a page has that label and begins like one. */
  async #seemsRight(signal: Signal | undefined): Promise<boolean> {
    if (this.#isVetted || this.#version === undefined || this.#fileLength === undefined) return true;
    const length = Math.min(this.#fileLength, PAGE_START_BYTES);
    try {
      if (length > 0 && this.#version.isHtml && isMarkup(this.heldBytes(0, length) ?? (await this.#read(0, length, signal)))) return false;
    } catch (error) {
      // The bytes received were not part of the file.
      if (error instanceof HttpError && error.code === 'BLOOM_HTTP_CHANGED') return false;
      throw error;
    }
    this.#isVetted = true;
    return true;
  }

  /** Forgets all responses. */
  #forget(): void {
    this.#version = undefined;
    this.#hasBytes = false;
    this.#fileLength = undefined;
    this.#held = undefined;
    this.#whole = undefined;
  }

  /** Reads a range. Requests only the bytes that are not held, and releases those that are held when the range covers all of them. */
  async #read(offset: number, length: number, signal: Signal | undefined): Promise<Bytes> {
    this.transport.mustGoOn(signal);
    const held = this.#held;
    if (held === undefined) return this.#fetch(offset, length, signal);
    const heldEnd = held.offset + held.bytes.length;
    const end = offset + length;
    // The held bytes are at the start or the end of the file, so bytes are missing on one side only.
    const [missing, missingEnd] = held.offset === 0 ? [Math.max(offset, heldEnd), end] : [offset, Math.min(end, held.offset)];
    if (missing === offset && missingEnd === end) return this.#fetch(offset, length, signal);
    const fetched = missing < missingEnd ? await this.#fetch(missing, missingEnd - missing, signal) : undefined;
    if (offset <= held.offset && end >= heldEnd && this.#held === held) this.#held = undefined;
    const part = held.bytes.subarray(Math.max(offset, held.offset) - held.offset, Math.min(end, heldEnd) - held.offset);
    if (fetched === undefined) return part;
    const bytes = allocate(length);
    bytes.set(part, held.offset === 0 ? 0 : fetched.length);
    bytes.set(fetched, held.offset === 0 ? part.length : 0);
    return bytes;
  }

  async #fetch(offset: number, length: number, signal: Signal | undefined): Promise<Bytes> {
    let bytes = new Uint8Array(0);
    let filled = 0;
    for (let parts = 0; filled < length && this.#whole === undefined; parts++) {
      if (parts === MAX_PARTS) throw this.#failed(`it sends fewer than ${numberOf(length, 'byte')} in ${MAX_PARTS} parts`);
      const part = await this.#getPart(offset + filled, Math.min(PIECE_BYTES, length - filled), signal);
      if (part.isWhole) {
        this.#whole = part.bytes;
      } else {
        if (part.bytes.length === length) return part.bytes;
        if (parts === 0) bytes = allocate(length);
        bytes.set(part.bytes, filled);
        filled += part.bytes.length;
      }
    }
    return this.#whole?.subarray(offset, offset + length) ?? bytes;
  }

  /**
   * Requests the start or the end of the file. Any other response is ignored: some servers read `bytes=-48` as the first
   * bytes, some refuse it, and some hide Content-Range from the page.
   */
  async #askFirst(signal: Signal | undefined): Promise<void> {
    const { isStart, byteLength } = this.#first;
    const parts = { method: 'GET', headers: { range: isStart ? `bytes=0-${byteLength - 1}` : `bytes=-${byteLength}` } } as const;
    const take = async (answer: Answer): Promise<void> => {
      if (answer.status === 206 && (await this.#takeFirst(answer))) return;
      if (answer.status === 200 && (await this.#takeFirstWhole(answer))) return;
      if (answer.status === 416 && this.#isEmpty(answer)) return;
      answer.discard();
      if (answer.status < 400) return;
      const refusal = this.transport.refusal(answer);
      if (refusal instanceof Retriable || FINAL.includes(answer.status)) throw refusal;
    };
    // Every server supports a range at the start. A server or a browser may reject one at the end.
    if (isStart) return this.transport.request(parts, signal, take);
    try {
      await this.transport.once(parts, signal, take);
    } catch (error) {
      if (!(error instanceof Retriable)) throw error;
      await this.transport.pause(error, 0, signal);
    }
  }

  /** Takes the response to the first request if it is what was requested. */
  async #takeFirst(answer: Answer): Promise<boolean> {
    const { isStart, byteLength } = this.#first;
    const { first, last, fileLength } = parseContentRange(answer.header('content-range') ?? '') ?? {};
    if (first === undefined || last === undefined || fileLength === undefined || last < first || last >= fileLength) return false;
    // A server may send fewer bytes: of a range at the start only the first ones, of a range at the end only the last ones.
    if (isStart ? first !== 0 || last >= byteLength : last !== fileLength - 1 || first < fileLength - byteLength) return false;
    if (isEncoded(answer) || (answer.header('content-type') ?? '').startsWith('multipart/')) return false;
    const bytes = await this.#bodyOf(answer, first, last);
    this.#take(answer, fileLength);
    this.#held = { offset: first, bytes };
    return true;
  }

  /** Takes the whole file, if it is no larger than the limit. A server may support ranges although it ignores those at the end. */
  async #takeFirstWhole(answer: Answer): Promise<boolean> {
    if ((wholeNumber(answer.header('content-length')) ?? 0) > this.#maxWholeBytes || isEncoded(answer)) return false;
    try {
      this.#whole = (await this.#takeWhole(answer)).bytes;
    } catch (error) {
      if (!(error instanceof HttpError && error.code === 'BLOOM_HTTP_NO_RANGES')) throw error;
      return false;
    }
    return true;
  }

  /** Whether a refusal means that the file is empty, because an empty file has no ranges. */
  #isEmpty(answer: Answer): boolean {
    if (parseContentRange(answer.header('content-range') ?? '')?.fileLength !== 0) return false;
    this.#takeLength(0);
    this.#whole = new Uint8Array(0);
    return true;
  }

  /** Sends HEAD. If it fails for any reason, a GET may still work: some servers refuse HEAD, and some URLs are signed for GET. */
  async #askLength(signal: Signal | undefined): Promise<void> {
    try {
      const answer = await this.transport.once({ method: 'HEAD', headers: {} }, signal, (head) => Promise.resolve(head));
      const length = wholeNumber(answer.header('content-length'));
      if (answer.status !== 200) throw this.transport.refusal(answer);
      // The length of compressed contents is not that of the file. A length of 0 may describe the empty response to HEAD.
      if (length !== undefined && length > 0 && !isEncoded(answer)) {
        this.#version = this.#checked(answer, length);
        this.#takeLength(length);
      }
      this.#seemsEmpty = length === 0;
    } catch (error) {
      if (error instanceof Retriable) await this.transport.pause(error, 0, signal);
      // Otherwise the signal was aborted or the source closed.
      else if (!(error instanceof HttpError)) throw error;
    }
  }

  #getPart(offset: number, length: number, signal: Signal | undefined): Promise<Part> {
    const range = `bytes=${offset}-${offset + length - 1}`;
    return this.transport.request({ method: 'GET', headers: { range } }, signal, async (answer) => {
      if (answer.status === 206) return this.#takeRange(answer, offset, length);
      if (answer.status === 200) return this.#takeWhole(answer);
      return this.#refused(answer, offset);
    });
  }

  async #takeRange(answer: Answer, offset: number, length: number): Promise<Part> {
    // Null as well when it is hidden from a page of another origin.
    const header = answer.header('content-range');
    const range = header === null ? undefined : parseContentRange(header);
    this.#checked(answer, range?.fileLength);
    await this.#mustBePlain(answer);
    if (range?.fileLength === 0) {
      // s3rver promises the first byte of an empty file, and then never sends it.
      answer.discard();
      this.#take(answer, 0);
      return EMPTY;
    }
    const type = answer.header('content-type') ?? '';
    if (type.startsWith('multipart/')) throw this.#failed(`asked for one range, it sends ${type}`);
    const { first = offset, last = offset + length - 1 } = range ?? {};
    if ((header !== null && range?.first === undefined) || first !== offset || last < first || last >= offset + length) {
      throw this.#failed(`asked for bytes ${offset}-${offset + length - 1}, it sends ${header}`);
    }
    // A server may send only the start of the range.
    const bytes = await this.#bodyOf(answer, first, last);
    this.#take(answer, range?.fileLength);
    return { bytes, isWhole: false };
  }

  /** The bytes `[first, last]`, as the response calls its body. */
  async #bodyOf(answer: Answer, first: number, last: number): Promise<Bytes> {
    const expected = last - first + 1;
    const bytes = await answer.body(expected);
    if (bytes?.length === expected) return bytes;
    throw new Retriable(this.#failed(`asked for ${numberOf(expected, 'byte')} at ${first}, it sends ${bytes?.length ?? 'more'}`));
  }

  /** Takes the whole file from a server that does not support ranges. */
  async #takeWhole(answer: Answer): Promise<Part> {
    this.#checked(answer, undefined);
    await this.#mustBePlain(answer);
    const length = wholeNumber(answer.header('content-length'));
    const known = length ?? this.#fileLength;
    const bytes = known !== undefined && known > this.#maxWholeBytes ? undefined : await answer.body(this.#maxWholeBytes);
    if (bytes === undefined) {
      const size = known === undefined ? '' : ` of ${numberOf(known, 'byte')}`;
      const problem = `the server does not support ranges: it sends the whole file${size}, but the limit is ${this.#maxWholeBytes} bytes`;
      throw this.transport.error('BLOOM_HTTP_NO_RANGES', problem, { status: 200 });
    }
    // fetch itself rejects a truncated response, so this one was decompressed, and Content-Encoding was hidden from the page.
    if (length !== undefined && length !== bytes.length) throw this.#encoded(`its ${numberOf(length, 'byte')} became ${bytes.length}`);
    this.#take(answer, bytes.length);
    return { bytes, isWhole: true };
  }

  #refused(answer: Answer, offset: number): Part {
    if (answer.status === 412) throw this.#changed('version');
    if (answer.status !== 416) throw this.transport.refusal(answer);
    let fileLength = parseContentRange(answer.header('content-range') ?? '')?.fileLength;
    // Some servers, such as npm's http-server, do not send the length here, and a browser may hide it from the page.
    if (this.#seemsEmpty && offset === 0) fileLength ??= 0;
    if (fileLength !== undefined) this.#takeLength(fileLength);
    else if (this.#fileLength !== undefined) throw this.#otherLength(`which does not include byte ${offset}`);
    // Every range of an empty file is refused.
    if (fileLength === 0 && offset === 0) return EMPTY;
    throw this.transport.refusal(answer);
  }

  /**
   * The version in a response whose body has not arrived yet.
   *
   * @throws HttpError `BLOOM_HTTP_CHANGED` when it is another one than that of the bytes taken so far.
   */
  #checked(answer: Answer, fileLength: number | undefined): Version {
    const etag = answer.header('etag');
    const modified = answer.header('last-modified');
    const isHtml = isHtmlPage(answer);
    const first = this.#version;
    if (isHtml && first?.isHtml === false) throw this.#page();
    if (first !== undefined && this.#hasBytes) {
      if (etag !== first.etag) throw this.#changed(`ETag, from ${first.etag ?? 'none'} to ${etag ?? 'none'}`);
      // A weak ETag may stay the same when bytes change (RFC 9110, section 8.8.1).
      if ((etag === null || etag.startsWith('W/')) && modified !== first.modified) {
        throw this.#changed(`date, from ${first.modified ?? 'none'} to ${modified ?? 'none'}`);
      }
    }
    if (fileLength !== undefined) this.#checkLength(fileLength);
    return first !== undefined && this.#hasBytes ? first : { etag, modified, isHtml };
  }

  /** Takes the version in a response whose bytes have arrived, and are used: later ones must have the same. @throws as `#checked`. */
  #take(answer: Answer, fileLength: number | undefined): void {
    this.#version = this.#checked(answer, fileLength);
    this.#hasBytes = true;
    if (fileLength !== undefined) this.#takeLength(fileLength);
  }

  #checkLength(fileLength: number): void {
    if (fileLength !== (this.#fileLength ?? fileLength)) throw this.#otherLength(`from ${this.#fileLength} to ${fileLength}`);
  }

  #takeLength(fileLength: number): void {
    this.#checkLength(fileLength);
    this.#fileLength = fileLength;
    this.#isLengthGiven = false;
  }

  #otherLength(problem: string): HttpError {
    return this.#changed(`length, ${problem}`, this.#isLengthGiven ? 'the file changed, or the option byteLength is wrong' : undefined);
  }

  async #mustBePlain(answer: Answer): Promise<void> {
    if (!isEncoded(answer)) return;
    // `fetch` decompresses it, but a part of a compressed stream may not be a valid stream.
    const bytes = isHtmlPage(answer) ? await answer.body(this.#maxWholeBytes).catch(() => undefined) : undefined;
    if (bytes !== undefined && isMarkup(bytes)) throw this.#page();
    throw this.#encoded(`Content-Encoding is ${answer.header('content-encoding')}`);
  }

  #page(): HttpError {
    return this.transport.error('BLOOM_HTTP_PAGE', 'the server answers with an HTML page, not with the file', { status: 200 });
  }

  #encoded(how: string): HttpError {
    const problem = `the server compresses the file in transit (${how}), so its ranges are not ranges of the file`;
    return this.transport.error('BLOOM_HTTP_ENCODED', `${problem}: turn compression off for this file`);
  }

  #changed(what: string, how = 'the file changed while it was read'): HttpError {
    return this.transport.error('BLOOM_HTTP_CHANGED', `${how}: its ${what}`);
  }

  #failed(problem: string): HttpError {
    return this.transport.error('BLOOM_HTTP_FAILED', problem);
  }
}

/** Whether `fetch` decompresses the response. It ignores encodings that it does not know. */
function isEncoded(answer: Answer): boolean {
  return /\b(gzip|deflate|compress|br|zstd|dcb|dcz)\b/i.test(answer.header('content-encoding') ?? '');
}

function isHtmlPage(answer: Answer): boolean {
  return /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i.test(answer.header('content-type') ?? '');
}

declare const location: { readonly origin: string } | undefined;
declare const URL: new (url: string) => { readonly origin: string };

/**
 * Whether a browser asks the server before it sends a range at the end of the file: those that name the first byte are sent at
 * once (Fetch, "CORS-safelisted request-header"), those at the end are not when the file has another origin than the page.
 */
export function needsPreflight(url: string): boolean {
  if (typeof location === 'undefined') return false;
  try {
    return new URL(url).origin !== location.origin;
  } catch {
    // Relative to the page.
    return false;
  }
}
