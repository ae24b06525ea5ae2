import type { Bytes, Signal } from '@bloom/bytes';
import { copiedOptions, mustBeFunction, mustBeOptions, mustBeWhole, numberOf } from '@bloom/bytes/internal';
import type { Folder } from '@bloom/leveldb';
import { HttpFolder } from '@bloom/leveldb/http';
import type { Fetch } from '@bloom/sstable/http';
import { retryAfterMs } from '@bloom/sstable/internal';
// aws4fetch: signs requests with Web Crypto in 2.5 kB, for every host that has fetch, where Amazon's SDK takes megabytes.
import { AwsV4Signer } from 'aws4fetch';
import { BulkError } from '../part/bulk-error.js';
import { CURRENT } from '../part/object-name.js';
import { sha256Hex } from '../part/sha256.js';
import { isUnchanged, mustNameOne, type NewObject, type ReadObject, type Replacement, type Store, type StoredObject } from '../store/store.js';
import { decodeListPage, describedObject, elementOf } from './s3-answer.js';

// Taken at load, because test suites replace the host's functions with fake ones.
const startTimer = setTimeout;
const stopTimer = clearTimeout;

/** The keys that sign requests. */
export interface S3Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

/** How to reach a bucket. */
export interface S3StoreOptions {
  readonly credentials: S3Credentials;
  /**
   * The prefix of the database's object keys, taken literally and ending with a slash; the URL is then that of the bucket alone.
   * Default: the prefix is part of the URL.
   */
  readonly prefix?: string | undefined;
  /** Default: `us-east-1`. Cloudflare R2 expects `auto`. */
  readonly region?: string | undefined;
  /** Default: the host's `fetch`. */
  readonly fetch?: S3Fetch | undefined;
  /** The number of retries after a temporary failure. Default: 5. */
  readonly retries?: number | undefined;
  /** Milliseconds before the first retry; the delay doubles with each retry, up to a minute, and up to half of it is random. Default: 200. */
  readonly retryDelayMs?: number | undefined;
  /** Milliseconds after which a request is aborted and retried, and one second more for each 64 KiB that are sent or received. Default: 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The size of the pieces in which larger objects are uploaded, in bytes; at least 5 MiB. Default: 64 MiB. */
  readonly multipartBytes?: number | undefined;
}

const S3_STORE_OPTIONS: Record<keyof S3StoreOptions, true> = {
  credentials: true,
  prefix: true,
  region: true,
  fetch: true,
  retries: true,
  retryDelayMs: true,
  timeoutMs: true,
  multipartBytes: true,
};

const { credentials: _, region: __, prefix: ___, ...S3_STORE_OF_OPTIONS } = S3_STORE_OPTIONS;

/** The part of a host's `fetch` that is used. */
export type S3Fetch = S3FetchHost['fetch'];

/** A host with `fetch`. It is a method, so that it may also take an `AbortSignal`, for which not every host has a type. */
export interface S3FetchHost {
  /** Sends a request. @returns the response once its headers have arrived; rejected if there is none, or when the signal is aborted. */
  fetch(url: string, init: S3Request): Promise<S3Response>;
}

/** A signed request. */
export interface S3Request {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: Uint8Array;
  readonly signal: Signal;
  /** A redirect must not carry the credentials in the headers to another server. */
  readonly redirect: 'manual';
}

/** The part of a response that is used. */
export interface S3Response {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** The whole body. */
  arrayBuffer(): Promise<ArrayBuffer>;
}

declare const fetch: S3Fetch;

const DEFAULT_REGION = 'us-east-1';
const DEFAULT_RETRIES = 5;
const DEFAULT_RETRY_DELAY_MS = 200;
const DEFAULT_TIMEOUT_MS = 60_000;
/** With a longer timeout, setTimeout fires at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;
/** The longest delay before a retry. */
const MAX_RETRY_DELAY_MS = 60_000;
/** The least speed for which a request gets time. Several parts are sent at the same time, and share an upstream of a few Mbit/s. */
const MIN_BYTES_PER_SECOND = 64 * 2 ** 10;
/** The smallest piece that S3 accepts; only the last one may be smaller. */
const LEAST_MULTIPART_BYTES = 5 * 2 ** 20;
const DEFAULT_MULTIPART_BYTES = 64 * 2 ** 20;

/** Statuses below 500 after which the same request may succeed. 409: another conditional request is in progress. */
const TEMPORARY: readonly number[] = [408, 409, 425, 429];
/** Error codes with status 400 after which it may succeed: the request did not arrive complete. */
const CUT_REQUEST: readonly (string | undefined)[] = ['RequestTimeout', 'IncompleteBody'];

/** The writer's header with the SHA-256, which every server stores. The server itself compares the body with the signature. */
const SHA256_HEADER = 'x-amz-meta-sha256';

/** A response received with its whole body. */
interface Answer {
  readonly status: number;
  readonly header: (name: string) => string | null;
  readonly bytes: Bytes;
  /** Whether an earlier attempt may have taken effect although it failed. */
  readonly isAmbiguous: boolean;
}

interface Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly bytes: Uint8Array; readonly sha256: string };
}

/**
 * A store behind Amazon's S3, or a server with its API and conditional PUT (`If-None-Match` and `If-Match`): Cloudflare R2, MinIO,
 * Ceph and others. A server that ignores the conditions must not be used, because two publishers could overwrite each other.
 *
 * @example
 * ```ts
 * const store = new S3Store('https://my-bucket.s3.eu-central-1.amazonaws.com/databases/words/', { region: 'eu-central-1', credentials });
 * ```
 */
export class S3Store implements Store {
  /** The URL, ending with a slash. */
  readonly name: string;
  readonly #credentials: S3Credentials;
  readonly #region: string;
  readonly #fetch: S3Fetch;
  readonly #retries: number;
  readonly #retryDelayMs: number;
  readonly #timeoutMs: number;
  readonly #multipartBytes: number;
  /** The URL of the bucket, ending with a slash, and the prefix of the database's object keys. */
  readonly #bucket: string;
  readonly #prefix: string;
  /** Whether the server is known to honour conditions. */
  #keepsConditions = false;
  /** Whether deletions are sent with a condition: until a server responds that it does not implement it. */
  #comparesInDelete = true;

  /**
   * @param url the URL of the bucket followed by the prefix: `https://BUCKET.s3.REGION.amazonaws.com/PREFIX/` if the host begins with
   *   the bucket's name and `.s3`, otherwise `https://HOST/BUCKET/PREFIX/`. With the option `prefix`, the URL of the bucket alone.
   * @throws TypeError or RangeError for a wrong argument.
   */
  constructor(url: string, options: S3StoreOptions) {
    mustBeOptions('S3Store', options, S3_STORE_OPTIONS);
    const { credentials, region = DEFAULT_REGION, retries = DEFAULT_RETRIES, retryDelayMs = DEFAULT_RETRY_DELAY_MS } = options;
    mustBeCredentials(credentials);
    if (options.fetch !== undefined) mustBeFunction('fetch', options.fetch);
    if (!/^[A-Za-z0-9-]+$/.test(region)) throw new RangeError(`region must be letters, digits and hyphens, got ${region}`);
    this.#credentials = credentials;
    this.#region = region;
    this.#fetch = options.fetch ?? fetch;
    this.#retries = mustBeWhole('retries', retries, 0);
    this.#retryDelayMs = mustBeWhole('retryDelayMs', retryDelayMs, 0);
    this.#timeoutMs = mustBeWhole('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS, 1);
    this.#multipartBytes = mustBeWhole('multipartBytes', options.multipartBytes ?? DEFAULT_MULTIPART_BYTES, LEAST_MULTIPART_BYTES);
    const { bucket, prefix } = placeOf(url, options.prefix);
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.name = bucket + encodedPath(prefix);
  }

  async get(name: string, signal?: Signal): Promise<ReadObject | undefined> {
    const answer = await this.#ask({ method: 'GET', name }, signal);
    if (answer.status === 404 && errorCodeOf(answer) !== 'NoSuchBucket') return undefined;
    this.#mustBe(answer, [200], `read ${name}`, name);
    return { bytes: answer.bytes, etag: answer.header('etag') ?? '' };
  }

  async head(name: string, signal?: Signal): Promise<StoredObject | undefined> {
    const answer = await this.#ask({ method: 'HEAD', name }, signal);
    if (answer.status === 404) return undefined;
    this.#mustBe(answer, [200], `find ${name}`, name);
    const sha256 = answer.header(SHA256_HEADER) ?? undefined;
    const object = describedObject(name, answer.header('content-length'), answer.header('last-modified'), answer.header('date'));
    if (object === undefined) throw this.#odd(`find ${name}`, 'the response lacks its length or its date', name);
    return { ...object, sha256, etag: answer.header('etag') ?? undefined };
  }

  async create(object: NewObject, signal?: Signal): Promise<boolean> {
    const answer = await this.#write(object, { 'if-none-match': '*' }, signal);
    if (answer.status !== 412) return true;
    // An earlier attempt may have written it; its bytes are then the same.
    return answer.isAmbiguous && (await this.head(object.name, signal))?.sha256 === object.sha256;
  }

  async put(object: NewObject, signal?: Signal): Promise<void> {
    await this.#write(object, {}, signal);
  }

  async replace(object: NewObject, etag: string | undefined, signal?: Signal): Promise<Replacement> {
    const { name } = object;
    if (etag !== undefined && !isStrong(etag)) {
      throw this.#odd(`replace ${name}`, `a strong ETag is required, and that of ${name} is ${etag === '' ? 'missing, or hidden from this page' : etag}`, name);
    }
    await this.#mustKeepConditions(signal);
    const answer = await this.#write(object, etag === undefined ? { 'if-none-match': '*' } : { 'if-match': etag }, signal);
    if (answer.status !== 412) return 'replaced';
    return answer.isAmbiguous ? 'unknown' : 'refused';
  }

  async *list(signal?: Signal): AsyncGenerator<StoredObject, void, undefined> {
    let token: string | undefined;
    do {
      const query = { 'list-type': '2', 'encoding-type': 'url', prefix: this.#prefix, ...(token !== undefined && { 'continuation-token': token }) };
      const answer = await this.#ask({ method: 'GET', name: '', query }, signal);
      this.#mustBe(answer, [200], 'list it');
      const page = decodeListPage(textOf(answer), this.#prefix, answer.header('date'));
      if (page === undefined || (token !== undefined && page.next === token)) throw this.#odd('list it', 'its response is not a complete list');
      yield* page.objects;
      token = page.next;
    } while (token !== undefined);
  }

  async delete(name: string, seen?: StoredObject, signal?: Signal): Promise<boolean> {
    mustNameOne('S3Store.delete', name, arguments.length);
    const headers = this.#comparesInDelete && seen?.etag !== undefined && isStrong(seen.etag) ? { 'if-match': seen.etag } : {};
    // The ETag of many servers is a hash of the bytes, which a renewal does not change.
    const statusSince = seen && (async () => this.#statusSince(seen, await this.head(name, signal)));
    let answer = await this.#ask({ method: 'DELETE', name, headers }, signal, statusSince);
    if ('if-match' in headers && isNotImplemented(answer)) {
      this.#comparesInDelete = false;
      const status = await statusSince?.();
      if (status !== undefined) return status !== 412;
      answer = await this.#ask({ method: 'DELETE', name }, signal, statusSince);
    }
    return this.#mustBe(answer, [200, 204, 404, 412], `delete ${name}`, name).status !== 412;
  }

  #statusSince(seen: StoredObject, now: StoredObject | undefined): number | undefined {
    return now === undefined ? 404 : isUnchanged(seen, now) ? undefined : 412;
  }

  /** The folder's requests are signed; the folder itself retries them. */
  folder(): Folder {
    const signed: Fetch = async (url, { method, headers, signal }) => {
      const request = await this.#signed(url, method, { ...headers }, EMPTY_SHA256);
      return (await this.#fetch(request.url, { method, headers: request.headers, signal, redirect: 'manual' })) as unknown as Awaited<ReturnType<Fetch>>;
    };
    return new HttpFolder((name) => this.#urlOf(name), { isPublished: true, fetch: signed });
  }

  /** Writes an object, whole or in pieces. @returns a response of 2xx or 412; a 404 from a server without the object named in a condition becomes 412. */
  async #write(object: NewObject, condition: Record<string, string>, signal: Signal | undefined): Promise<Answer> {
    const { name, bytes, sha256 } = object;
    if (bytes.length > this.#multipartBytes) return this.#writeInPieces(object, condition, signal);
    const headers = { ...headersOf(object), ...condition };
    const answer = await this.#ask({ method: 'PUT', name, headers, body: { bytes, sha256 } }, signal);
    if (condition['if-match'] !== undefined && answer.status === 404 && errorCodeOf(answer) !== 'NoSuchBucket') return { ...answer, status: 412 };
    return this.#mustBe(answer, [200, 201, 204, 412], `write ${name}`, name);
  }

  /**
   * Checks once that the server honours conditions: with one that ignores them, two publishers would overwrite each other. The garbage
   * collection recognizes the name of the test object.
   */
  async #mustKeepConditions(signal: Signal | undefined): Promise<void> {
    if (this.#keepsConditions) return;
    const name = `.${CURRENT}.${Math.floor(Math.random() * 2 ** 48).toString(16)}.tmp`;
    const tried: NewObject = { name, bytes: new Uint8Array(0), sha256: EMPTY_SHA256 };
    await this.#write(tried, { 'if-none-match': '*' }, signal);
    try {
      for (const condition of [{ 'if-none-match': '*' }, { 'if-match': '"00000000000000000000000000000000"' }]) {
        const { status } = await this.#write(tried, condition, signal);
        if (status !== 412) throw this.#odd(`replace ${CURRENT}`, `it ignores ${Object.keys(condition).join('')}, so two publishers could overwrite each other`, CURRENT);
      }
    } finally {
      // A publisher may lack the permission.
      await this.#ask({ method: 'DELETE', name }, undefined).catch(() => undefined);
    }
    this.#keepsConditions = true;
  }

  async #writeInPieces(object: NewObject, condition: Record<string, string>, signal: Signal | undefined): Promise<Answer> {
    const { name, bytes } = object;
    const begun = await this.#ask({ method: 'POST', name, query: { uploads: '' }, headers: headersOf(object) }, signal);
    this.#mustBe(begun, [200], `begin to write ${name}`, name);
    const uploadId = elementOf(textOf(begun), 'UploadId');
    if (uploadId === undefined) throw this.#failed(`begin to write ${name}`, begun, name);
    try {
      const etags: string[] = [];
      for (let start = 0; start < bytes.length; start += this.#multipartBytes) {
        const piece = bytes.subarray(start, start + this.#multipartBytes);
        const query = { partNumber: String(etags.length + 1), uploadId };
        const answer = await this.#ask({ method: 'PUT', name, query, body: { bytes: piece, sha256: await sha256Hex(piece) } }, signal);
        this.#mustBe(answer, [200], `write ${name}`, name);
        etags.push(answer.header('etag') ?? '');
      }
      const listed = etags.map((etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${etag.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}</ETag></Part>`);
      const xml = new TextEncoder().encode(`<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`);
      const answer = await this.#ask({ method: 'POST', name, query: { uploadId }, headers: condition, body: { bytes: xml, sha256: await sha256Hex(xml) } }, signal);
      // The server no longer knows an upload that an earlier attempt has completed.
      if (answer.status === 404 && answer.isAmbiguous) return { ...answer, status: 412 };
      this.#mustBe(answer, [200, 412], `write ${name}`, name);
      if (answer.status === 412) await this.#abandon(name, uploadId);
      return answer;
    } catch (error) {
      await this.#abandon(name, uploadId);
      throw error;
    }
  }

  /** Deletes the pieces of an upload. Remaining pieces are not listed, and a lifecycle rule of the bucket can delete them later. */
  async #abandon(name: string, uploadId: string): Promise<void> {
    await this.#ask({ method: 'DELETE', name, query: { uploadId } }, undefined).catch(() => undefined);
  }

  /**
   * Sends a request, and retries it after temporary failures.
   *
   * @param beforeRetry returns a status with which the request ends instead.
   * @returns the response, which may have an error status.
   */
  async #ask(request: Request, signal: Signal | undefined, beforeRetry?: () => Promise<number | undefined>): Promise<Answer> {
    let isAmbiguous = false;
    for (let tries = 0; ; tries++) {
      signal?.throwIfAborted();
      let answer: Answer | undefined;
      let failure: unknown;
      try {
        answer = await this.#send(request, isAmbiguous, signal);
      } catch (error) {
        signal?.throwIfAborted();
        failure = error;
      }
      const isTemporary = answer === undefined || (answer.status >= 500 && answer.status !== 501) || TEMPORARY.includes(answer.status) || (answer.status === 400 && CUT_REQUEST.includes(errorCodeOf(answer)));
      if (answer !== undefined && !isTemporary) return answer;
      if (tries === this.#retries) throw this.#failed(`${request.method} ${request.name}`, answer, request.name, failure);
      // 409 and 429 mean that nothing was done. After any other failure, this is unknown.
      if (answer === undefined || answer.status >= 500) isAmbiguous = true;
      const ownMs = Math.min(this.#retryDelayMs * 2 ** tries, MAX_RETRY_DELAY_MS) * (0.5 + Math.random() / 2);
      const askedMs = Math.min(retryAfterMs(answer?.header('retry-after') ?? null), MAX_RETRY_DELAY_MS);
      await pause(Math.max(ownMs, askedMs), signal);
      const status = await beforeRetry?.();
      if (status !== undefined) return { status, header: () => null, bytes: new Uint8Array(0), isAmbiguous };
    }
  }

  async #send({ method, name, query = {}, headers = {}, body }: Request, isAmbiguous: boolean, signal: Signal | undefined): Promise<Answer> {
    const url = new URL(name === '' ? this.#bucket : this.#urlOf(name));
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const request = await this.#signed(url.href, method, { ...headers }, body?.sha256 ?? EMPTY_SHA256);
    const controller = new AbortController();
    const end = (): void => controller.abort(signal?.reason);
    // It may already have been aborted, and the signal reports that only once.
    signal?.throwIfAborted();
    signal?.addEventListener('abort', end, { once: true });
    const startTimeout = (bytes: number) => {
      const ms = Math.min(this.#timeoutMs + Math.floor((bytes / MIN_BYTES_PER_SECOND) * 1000), MAX_TIMEOUT_MS);
      return startTimer(() => controller.abort(new Error(`no response within ${ms} ms`)), ms);
    };
    let timer = startTimeout(body?.bytes.length ?? 0);
    try {
      const init = { method, headers: request.headers, signal: controller.signal, redirect: 'manual', ...(body !== undefined && { body: body.bytes }) } as const;
      const response = await this.#fetch(request.url, init);
      const length = response.headers.get('content-length');
      stopTimer(timer);
      timer = startTimeout(Number(length) || 0);
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (method !== 'HEAD' && length !== null && response.headers.get('content-encoding') === null && Number(length) !== bytes.length) {
        throw new Error(`the response has ${numberOf(bytes.length, 'byte')}, expected ${length}`);
      }
      // S3 may start its response to the completion of an upload before it knows the result.
      const status = method === 'POST' && response.status === 200 && new TextDecoder().decode(bytes).includes('<Error>') ? 500 : response.status;
      return { status, header: (header) => response.headers.get(header), bytes, isAmbiguous };
    } finally {
      stopTimer(timer);
      signal?.removeEventListener('abort', end);
    }
  }

  async #signed(url: string, method: string, headers: Record<string, string>, sha256: string): Promise<{ url: string; headers: Record<string, string> }> {
    const { accessKeyId, secretAccessKey, sessionToken } = this.#credentials;
    const signer = new AwsV4Signer({
      method,
      url,
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      service: 's3',
      region: this.#region,
      // Conditions and ranges are signed too, so that no intermediary can remove them.
      allHeaders: true,
    });
    // Its types are a browser's, which the core does not have.
    const signed = (await signer.sign()) as unknown as { readonly url: { readonly href: string }; readonly headers: Iterable<[string, string]> };
    return { url: signed.url.href, headers: Object.fromEntries(signed.headers) };
  }

  #urlOf(name: string): string {
    return this.#bucket + encodedPath(this.#prefix) + encodeURIComponent(name);
  }

  #mustBe(answer: Answer, statuses: readonly number[], what: string, file?: string): Answer {
    if (!statuses.includes(answer.status)) throw this.#failed(what, answer, file);
    return answer;
  }

  #failed(what: string, answer: Answer | undefined, file?: string, cause?: unknown): BulkError {
    const code = answer && errorCodeOf(answer);
    const message = answer && elementOf(textOf(answer), 'Message');
    const region = answer?.header('x-amz-bucket-region') ?? this.#region;
    const hint = region === this.#region ? undefined : `(the region of the bucket is ${region})`;
    const said = answer === undefined ? (cause instanceof Error ? cause.message : String(cause)) : `it answers ${[answer.status, code, message, hint].filter((part) => part !== undefined).join(' ')}`;
    return new BulkError('BLOOM_STORE_FAILED', `${this.name}: could not ${what}: ${said}`, { cause, file, status: answer?.status });
  }

  /** The error for a response that has no error status but cannot be used. */
  #odd(what: string, problem: string, file?: string): BulkError {
    return new BulkError('BLOOM_STORE_FAILED', `${this.name}: could not ${what}: ${problem}`, { file });
  }
}

/** The environment of a process, from which Amazon's usual variables are read. */
export type S3Environment = Readonly<Record<string, string | undefined>>;

/**
 * The store of an address `s3://BUCKET/PREFIX`, with the credentials of Amazon's usual environment variables:
 * `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION` or `AWS_DEFAULT_REGION`, and
 * `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL` for a server other than Amazon's.
 *
 * @throws TypeError or RangeError if the address has another form, or a variable is missing. Messages never contain the value of a variable.
 */
export function s3StoreOf(address: string, environment: S3Environment, options: Omit<S3StoreOptions, 'credentials' | 'region' | 'prefix'> = {}): S3Store {
  const own = copiedOptions('s3StoreOf', options, S3_STORE_OF_OPTIONS);
  const [, bucket, path = ''] = /^s3:\/\/([^/?#\s]+)(?:\/(.*))?$/s.exec(address) ?? [];
  if (bucket === undefined) throw new TypeError(`address must be s3://BUCKET/PREFIX, got ${address}`);
  // An unset variable is often passed as an empty one.
  const variable = (name: string): string | undefined => (environment[name] === '' ? undefined : environment[name]);
  const secret = (name: string): string => {
    const value = variable(name);
    if (value === undefined) throw new TypeError(`${name} is not set in the environment`);
    return value;
  };
  const credentials = { accessKeyId: secret('AWS_ACCESS_KEY_ID'), secretAccessKey: secret('AWS_SECRET_ACCESS_KEY'), sessionToken: variable('AWS_SESSION_TOKEN') };
  const region = variable('AWS_REGION') ?? variable('AWS_DEFAULT_REGION') ?? DEFAULT_REGION;
  const endpoint = variable('AWS_ENDPOINT_URL_S3') ?? variable('AWS_ENDPOINT_URL');
  const amazon = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`;
  // The certificate of Amazon's hosts covers only one label in front of the domain.
  const server = bucket.includes('.') ? `https://${amazon}${bucket}/` : `https://${bucket}.${amazon}`;
  const url = endpoint === undefined ? server : `${endpoint.replace(/\/+$/, '')}/${bucket}/`;
  return new S3Store(url, { ...own, credentials, region, prefix: path === '' || path.endsWith('/') ? path : `${path}/` });
}

/** The SHA-256 of no bytes. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

declare const URL: new (url: string) => {
  readonly href: string;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  readonly search: string;
  readonly hash: string;
  readonly host: string;
  readonly origin: string;
  readonly pathname: string;
  readonly searchParams: { set(name: string, value: string): void };
};

/** The URL of the bucket, ending with a slash, and the prefix. @throws TypeError or RangeError whose message omits a URL that may contain a password. */
function placeOf(address: string, given: string | undefined): { readonly bucket: string; readonly prefix: string } {
  const { origin, host, pathname } = mustBeBucketUrl(address);
  const path = pathname.endsWith('/') ? pathname : `${pathname}/`;
  if (given !== undefined) {
    const isPath = given === '' || (given.endsWith('/') && given.split('/').every((segment) => segment !== '.' && segment !== '..'));
    if (!isPath) throw new RangeError(`prefix must end with a slash and have no . or .. segments, got ${given}`);
    return { bucket: origin + path, prefix: given };
  }
  let decoded: string;
  try {
    decoded = decodeURIComponent(path).slice(1);
  } catch (cause) {
    throw new RangeError(`url must be percent-encoded, got ${address}`, { cause });
  }
  if (/^[^.]+(?:\.[^.]+)*?\.s3[.-]/.test(host)) return { bucket: `${origin}/`, prefix: decoded };
  const end = decoded.indexOf('/');
  if (end <= 0) throw new RangeError(`url must have a bucket, got ${address}`);
  return { bucket: `${origin}/${decoded.slice(0, end + 1)}`, prefix: decoded.slice(end + 1) };
}

function mustBeBucketUrl(address: string): InstanceType<typeof URL> {
  let url: InstanceType<typeof URL>;
  try {
    url = new URL(address);
  } catch {
    throw new TypeError('url must be an http or https URL that names a bucket');
  }
  if (!/^https?:$/.test(url.protocol)) throw new TypeError('url must be an http or https URL that names a bucket');
  if (url.username + url.password + url.search + url.hash !== '') throw new TypeError('url must have no password, query or fragment: they would be shown in errors');
  return url;
}

/** @throws TypeError whose message omits the credentials. Invalid ones would become part of headers, whose errors show them. */
function mustBeCredentials(credentials: unknown): void {
  const { accessKeyId, secretAccessKey, sessionToken } = (credentials as Partial<S3Credentials> | undefined) ?? {};
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string') throw new TypeError('credentials must have accessKeyId and secretAccessKey');
  for (const [name, value] of Object.entries({ accessKeyId, secretAccessKey, sessionToken })) {
    if (value !== undefined && (typeof value !== 'string' || !/^[!-~]+$/.test(value))) throw new TypeError(`credentials.${name} must be ASCII without spaces and line breaks`);
  }
}

/** Whether an ETag is strong: a weak one never satisfies a condition (RFC 9110, section 13.1.1). */
function isStrong(etag: string): boolean {
  return etag !== '' && !etag.startsWith('W/');
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** The headers with which an object is stored. Only CURRENT ever changes, so everything else may be cached forever. */
function headersOf({ name, sha256 }: NewObject): Record<string, string> {
  return {
    [SHA256_HEADER]: sha256,
    'content-type': 'application/octet-stream',
    'cache-control': name === CURRENT ? 'no-cache' : 'public, max-age=31536000, immutable',
  };
}

function textOf({ bytes }: Answer): string {
  return new TextDecoder().decode(bytes);
}

/** The error code in the body of a response. */
function errorCodeOf(answer: Answer): string | undefined {
  return elementOf(textOf(answer), 'Code');
}

/** Whether the server does not implement what was requested. */
function isNotImplemented(answer: Answer): boolean {
  return answer.status === 501 || (answer.status === 400 && errorCodeOf(answer) === 'NotImplemented');
}

async function pause(milliseconds: number, signal: Signal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      stopTimer(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = startTimer(end, milliseconds);
    signal?.addEventListener('abort', end, { once: true });
  });
  signal?.throwIfAborted();
}
