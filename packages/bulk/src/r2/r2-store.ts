import type { Signal } from '@bloom/bytes';
import { mustHaveMethods } from '@bloom/bytes/internal';
import type { Folder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import type { Fetch, HttpResponse } from '@bloom/sstable/http';
import { BulkError } from '../part/bulk-error.js';
import { CURRENT } from '../part/object-name.js';
import { isUnchanged, mustNameOne, type NewObject, type ReadObject, type Replacement, type Store, type StoredObject } from '../store/store.js';

// Taken at load, because test suites replace the host's functions with fake ones.
const startTimer = setTimeout;

/** The part of a bucket's object that is used. */
export interface R2ObjectLike {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly httpEtag: string;
  readonly uploaded: { getTime(): number };
  readonly customMetadata?: Readonly<Record<string, string>> | undefined;
}

/** An object with its body. */
export interface R2BodyLike extends R2ObjectLike {
  readonly body: NonNullable<HttpResponse['body']>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** The part of a bucket binding that is used: Cloudflare's `R2Bucket`, from a Worker's environment. */
export interface R2BucketLike {
  head(key: string): Promise<R2ObjectLike | null>;
  get(key: string, options?: { readonly range?: { readonly offset: number; readonly length: number } | { readonly suffix: number } }): Promise<R2BodyLike | R2ObjectLike | null>;
  put(
    key: string,
    value: Uint8Array,
    options?: {
      readonly onlyIf?: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string };
      readonly sha256?: string;
      readonly customMetadata?: Record<string, string>;
      readonly httpMetadata?: { readonly contentType?: string; readonly cacheControl?: string };
    },
  ): Promise<R2ObjectLike | null>;
  list(options?: { readonly prefix?: string; readonly cursor?: string; readonly include?: readonly 'customMetadata'[] }): Promise<{
    readonly objects: readonly R2ObjectLike[];
    readonly truncated: boolean;
    readonly cursor?: string;
  }>;
  delete(key: string): Promise<void>;
}

/** The number of retries of a failed call. */
const RETRIES = 3;
const RETRY_DELAY_MS = 100;

/**
 * A store in a Cloudflare R2 bucket, for a Worker that has the bucket as a binding. Elsewhere, use `S3Store`.
 *
 * @example
 * ```ts
 * const reader = await DatabaseReader.open(new R2Store(env.BUCKET, 'databases/words/').folder());
 * ```
 */
export class R2Store implements Store {
  readonly name: string;
  readonly #bucket: R2BucketLike;
  readonly #prefix: string;

  /** @param prefix the prefix of the database's object keys, ending with a slash. */
  constructor(bucket: R2BucketLike, prefix = '') {
    mustHaveMethods('bucket', bucket, 'a bucket of R2', ['head', 'get', 'put', 'list', 'delete']);
    if (prefix !== '' && !prefix.endsWith('/')) throw new RangeError(`prefix must end with a slash, got ${prefix}`);
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.name = `r2://${prefix}`;
  }

  async get(name: string, signal?: Signal): Promise<ReadObject | undefined> {
    return this.#tried(`read ${name}`, name, signal, async () => {
      const found = await this.#bucket.get(this.#prefix + name);
      return found === null || !hasBody(found) ? undefined : { bytes: new Uint8Array(await found.arrayBuffer()), etag: found.etag };
    });
  }

  async head(name: string, signal?: Signal): Promise<StoredObject | undefined> {
    return this.#tried(`find ${name}`, name, signal, async () => {
      const found = await this.#bucket.head(this.#prefix + name);
      return found === null ? undefined : this.#described(found);
    });
  }

  async create(object: NewObject, signal?: Signal): Promise<boolean> {
    const tries = { failed: 0 };
    const isWritten = await this.#tried(`write ${object.name}`, object.name, signal, () => this.#put(object, { etagDoesNotMatch: '*' }), tries);
    return isWritten || (tries.failed > 0 && (await this.head(object.name, signal))?.sha256 === object.sha256);
  }

  async put(object: NewObject, signal?: Signal): Promise<void> {
    await this.#tried(`write ${object.name}`, object.name, signal, () => this.#put(object, undefined));
  }

  async replace(object: NewObject, etag: string | undefined, signal?: Signal): Promise<Replacement> {
    const tries = { failed: 0 };
    const condition = etag === undefined ? { etagDoesNotMatch: '*' } : { etagMatches: etag };
    const isWritten = await this.#tried(`replace ${object.name}`, object.name, signal, () => this.#put(object, condition), tries);
    return isWritten ? 'replaced' : tries.failed > 0 ? 'unknown' : 'refused';
  }

  async *list(signal?: Signal): AsyncGenerator<StoredObject, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#tried('list it', undefined, signal, () =>
        this.#bucket.list({ prefix: this.#prefix, include: ['customMetadata'], ...(cursor !== undefined && { cursor }) }),
      );
      if (page.truncated && (page.cursor === undefined || page.cursor === cursor)) throw new BulkError('BLOOM_STORE_FAILED', `${this.name}: could not list it: the list is truncated`);
      for (const object of page.objects) if (!object.key.slice(this.#prefix.length).includes('/')) yield this.#described(object);
      cursor = page.truncated ? page.cursor : undefined;
    } while (cursor !== undefined);
  }

  async delete(name: string, seen?: StoredObject, signal?: Signal): Promise<boolean> {
    mustNameOne('R2Store.delete', name, arguments.length);
    const tries = { failed: 0 };
    const call = async (): Promise<boolean> => {
      const now = seen && tries.failed > 0 ? await this.#bucket.head(this.#prefix + name) : null;
      if (seen !== undefined && now !== null && !isUnchanged(seen, this.#described(now))) return false;
      await this.#bucket.delete(this.#prefix + name);
      return true;
    };
    return this.#tried(`delete ${name}`, name, signal, call, tries);
  }

  /** Serves the requests of an `HttpFolder` from the bucket. The folder retries failed requests and checks the responses. */
  folder(): Folder {
    const answer: Fetch = async (url, { method, headers }) => {
      const key = this.#prefix + decodeURIComponent(url.slice(BASE.length));
      if (method === 'HEAD') {
        const found = await this.#bucket.head(key);
        return found === null ? NOT_FOUND : response(200, { 'content-length': String(found.size), etag: found.httpEtag }, undefined);
      }
      const range = rangeOf(headers.range);
      const found = await this.#bucket.get(key, range && { range });
      if (found === null || !hasBody(found)) return NOT_FOUND;
      if (range === undefined) return response(200, { 'content-length': String(found.size), etag: found.httpEtag }, found);
      const first = 'suffix' in range ? Math.max(0, found.size - range.suffix) : range.offset;
      const end = 'suffix' in range ? found.size : Math.min(found.size, range.offset + range.length);
      return response(206, { 'content-range': `bytes ${first}-${end - 1}/${found.size}`, etag: found.httpEtag }, found);
    };
    return new HttpFolder((name) => BASE + encodeURIComponent(name), { isPublished: true, fetch: answer });
  }

  async #put({ name, bytes, sha256 }: NewObject, onlyIf: { readonly etagMatches?: string; readonly etagDoesNotMatch?: string } | undefined): Promise<boolean> {
    const options = {
      sha256,
      customMetadata: { sha256 },
      httpMetadata: { contentType: 'application/octet-stream', cacheControl: name === CURRENT ? 'no-cache' : 'public, max-age=31536000, immutable' },
      ...(onlyIf !== undefined && { onlyIf }),
    };
    return (await this.#bucket.put(this.#prefix + name, bytes, options)) !== null;
  }

  /** Makes a call, and retries it if it fails. @param tries counts the failures: a failed call may still have taken effect. */
  async #tried<T>(what: string, file: string | undefined, signal: Signal | undefined, call: () => Promise<T>, tries = { failed: 0 }): Promise<T> {
    for (;;) {
      signal?.throwIfAborted();
      try {
        return await call();
      } catch (cause) {
        const message = cause instanceof Error ? cause.message : String(cause);
        if (tries.failed === RETRIES) throw new BulkError('BLOOM_STORE_FAILED', `${this.name}: could not ${what}: ${message}`, { cause, file });
        await new Promise<void>((resolve) => void startTimer(resolve, RETRY_DELAY_MS * 2 ** tries.failed++ * (0.5 + Math.random() / 2)));
      }
    }
  }

  #described({ key, size, etag, uploaded, customMetadata }: R2ObjectLike): StoredObject {
    return { name: key.slice(this.#prefix.length), byteLength: size, modifiedMs: uploaded.getTime(), sha256: customMetadata?.sha256, etag };
  }
}

/** The address of the folder; its requests never leave the Worker. */
const BASE = 'https://r2.invalid/';

const NOT_FOUND: HttpResponse = response(404, {}, undefined);

function hasBody(object: R2BodyLike | R2ObjectLike): object is R2BodyLike {
  return 'arrayBuffer' in object;
}

/** Parses a Range header in the form that HttpFolder writes. */
function rangeOf(header: string | undefined): { offset: number; length: number } | { suffix: number } | undefined {
  const [, first, last] = /^bytes=(\d*)-(\d+)$/.exec(header ?? '') ?? [];
  if (first === undefined) return undefined;
  return first === '' ? { suffix: Number(last) } : { offset: Number(first), length: Number(last) - Number(first) + 1 };
}

function response(status: number, headers: Readonly<Record<string, string>>, object: R2BodyLike | undefined): HttpResponse {
  return {
    status,
    headers: { get: (name) => headers[name.toLowerCase()] ?? null },
    body: object?.body ?? null,
    arrayBuffer: () => object?.arrayBuffer() ?? Promise.resolve(new ArrayBuffer(0)),
  };
}
