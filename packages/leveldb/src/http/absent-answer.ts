/**
 * How a server responds for a missing file. Most respond with 404. Servers of single-page apps send a page, and object storage responds with 403 to
 * clients that must not list it.
 */
import type { Signal } from '@bloom/bytes';
import { isTextual, sameBytes, throwIfAborted } from '@bloom/bytes/internal';
import { LOG_BLOCK_LENGTH } from '@bloom/log';
import { HttpError, type HttpSource } from '@bloom/sstable/http';
import { SharedWork } from '../folder/shared-work.js';
import { logFileName, manifestFileName, parseFileName, tableFileName } from '../format/file-name.js';
import { canBeginLog } from './log-start.js';

export type OpenSource = (name: string, signal: Signal | undefined) => Promise<HttpSource>;

/** How many bytes of two responses are compared. */
const SAMPLE_BYTES = 64 * 2 ** 10;
/** The length of the shortest table, which is only a footer. Imported from `@bloom/sstable`, it would make bundles 1.5 kB larger. */
const FOOTER_BYTES = 48;
const MAGIC = [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb];

/** The server's response for a missing file: nothing, an HTML page, or bytes. */
type Answer = 'absent' | 'forbidden' | 'page' | { readonly byteLength: number; readonly sample: Uint8Array };

/** Finds out how a server responds for missing files, by requesting one that cannot exist. */
export class AbsentAnswer {
  readonly #open: OpenSource;
  /** By extension, because servers may treat extensions differently. */
  readonly #answers = new Map<string, Answer>();
  readonly #requests = new SharedWork<string>();

  constructor(open: OpenSource) {
    this.#open = open;
  }

  /**
   * Whether `source` is what the server sends for every missing file. This takes a request only if `source` does not begin or end like a file
   * of its type; the request then distinguishes a damaged file from a stand-in.
   */
  async isStandIn(name: string, source: HttpSource, signal: Signal | undefined): Promise<boolean> {
    if (!isSuspect(name, source)) return false;
    const answer = await this.#answerTo(similarName(name), signal);
    if (answer === 'absent' || answer === 'forbidden') return false;
    const sample = sampleOf(name, source);
    // A page may contain the address or the time. A file of a database is never text, even if it is damaged.
    const isText = sample.length > 0 && isTextual(sample);
    if (answer === 'page') return isText;
    return (answer.byteLength === source.byteLength && sameBytes(answer.sample, sample)) || (isText && isTextual(answer.sample));
  }

  /** Whether the server sends an HTML page for missing files. */
  async isPage(name: string, signal: Signal | undefined): Promise<boolean> {
    const answer = await this.#answerTo(similarName(name), signal);
    return answer === 'page';
  }

  /**
   * Whether the server responds with 403 for missing files. The request is for a file of another kind, because a server may have files of one
   * kind and forbid all of them.
   */
  async isForbidden(name: string, signal: Signal | undefined): Promise<boolean> {
    const answer = await this.#answerTo(otherName(name), signal);
    return answer === 'forbidden';
  }

  /** The response for a file that does not exist. Calls for the same kind of name share the request. */
  async #answerTo(name: string, signal: Signal | undefined): Promise<Answer> {
    const kind = kindOf(name);
    const known = this.#answers.get(kind);
    if (known !== undefined) return known;
    // A failed request proves nothing, and the next call sends another.
    const answer = await this.#requests.run(kind, (ownSignal) => this.#request(name, ownSignal), signal);
    this.#answers.set(kind, answer);
    return answer;
  }

  async #request(name: string, signal: Signal): Promise<Answer> {
    try {
      const source = await this.#open(name, signal);
      try {
        return { byteLength: source.byteLength, sample: sampleOf(name, source).slice() };
      } finally {
        await source.close();
      }
    } catch (error) {
      throwIfAborted(signal);
      // The caller's function has no URL for this name.
      if (!(error instanceof HttpError)) return 'absent';
      if (error.code === 'BLOOM_HTTP_PAGE') return 'page';
      if (error.status === 403) return 'forbidden';
      if (error.status === 404 || error.status === 410) return 'absent';
      throw error;
    }
  }
}

/** Whether the received bytes cannot be those of a file of this name. */
function isSuspect(name: string, source: HttpSource): boolean {
  const { byteLength } = source;
  let bytes;
  switch (parseFileName(name)?.type) {
    case 'log':
    case 'manifest':
      bytes = source.heldBytes(0, Math.min(byteLength, LOG_BLOCK_LENGTH));
      return bytes !== undefined && bytes.length > 0 && !canBeginLog(bytes);
    case 'table':
      bytes = source.heldBytes(Math.max(0, byteLength - MAGIC.length), Math.min(byteLength, MAGIC.length));
      return bytes !== undefined && (byteLength < FOOTER_BYTES || !sameBytes(bytes, MAGIC));
    default:
      return false;
  }
}

/** The bytes by which two responses are compared: the last ones of a table, which are read first, and the first ones of other files. */
function sampleOf(name: string, source: HttpSource): Uint8Array {
  const { byteLength, heldTailBytes } = source;
  const isTable = parseFileName(name)?.type === 'table';
  const length = Math.min(byteLength, SAMPLE_BYTES, isTable && heldTailBytes > 0 ? heldTailBytes : SAMPLE_BYTES);
  return source.heldBytes(isTable ? byteLength - length : 0, length) ?? new Uint8Array(0);
}

/** The extension of a name, or `MANIFEST`. */
function kindOf(name: string): string {
  return /\.(\w+)$/.exec(name)?.[1] ?? 'MANIFEST';
}

/** A name of the same kind that no file has. */
function similarName(name: string): string {
  switch (parseFileName(name)?.type) {
    case 'log':
      return logFileName(unusedNumber());
    case 'table':
      return tableFileName(unusedNumber()).replace('ldb', kindOf(name));
    default:
      return manifestFileName(unusedNumber());
  }
}

/** A name of another kind that no file has. */
function otherName(name: string): string {
  return parseFileName(name)?.type === 'table' ? manifestFileName(unusedNumber()) : tableFileName(unusedNumber());
}

/** A number that no database reaches by counting, and that no earlier request had. */
function unusedNumber(): bigint {
  return 2n ** 62n + BigInt(Math.floor(Math.random() * 2 ** 52));
}
