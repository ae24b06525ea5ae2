// A server with S3's API, as far as a store uses it: conditional PUT, ranges, lists in pages, uploads in pieces. It fails on demand.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S3Store, type S3StoreOptions } from '@bloom/bulk/s3';

/** What becomes of a request instead of its answer. */
export type Fault =
  /** It is answered with a status and not carried out. */
  | { readonly kind: 'status'; readonly status: number; readonly headers?: Record<string, string> }
  /** It is carried out, and answered with a status or not at all. */
  | { readonly kind: 'done, status'; readonly status: number }
  | { readonly kind: 'done, cut' }
  /** Half of the answer is sent, and the connection closed. */
  | { readonly kind: 'half' }
  /** It is carried out, and never answered. */
  | { readonly kind: 'silence' };

interface Stored {
  readonly bytes: Buffer;
  readonly etag: string;
  readonly modified: Date;
  readonly headers: Record<string, string>;
}

const KEPT_HEADERS = ['x-amz-meta-sha256', 'cache-control', 'content-type'];

export class FakeS3 {
  readonly objects = new Map<string, Stored>();
  /** Method and name of each request, in the order in which they arrived. */
  requests: string[] = [];
  /** Asked before each request. */
  fault: (request: string, number: number) => Fault | undefined = () => undefined;
  /** Held up before it is carried out. */
  hold: (request: string) => Promise<void> | undefined = () => undefined;
  pageSize = 1000;
  clock = (): number => Date.now();
  readonly #uploads = new Map<string, { readonly key: string; readonly headers: Record<string, string>; readonly pieces: Map<number, Buffer> }>();
  readonly #server: Server;
  #writes = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        response.destroy(error as Error);
      });
    });
  }

  static async start(): Promise<FakeS3> {
    const fake = new FakeS3();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/bucket/words/`;
  }

  /** How many uploads in pieces have neither ended nor been abandoned. */
  get openUploads(): number {
    return this.#uploads.size;
  }

  store(options: Partial<S3StoreOptions> = {}): S3Store {
    return new S3Store(this.url, { credentials: { accessKeyId: 'id', secretAccessKey: 'secret' }, retryDelayMs: 1, ...options });
  }

  /** The bytes of an object by its name. */
  bytes(name: string): Buffer | undefined {
    return this.objects.get(`words/${name}`)?.bytes;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url!, 'http://fake');
    const key = decodeURIComponent(url.pathname).replace(/^\/bucket\//, '');
    const what = `${request.method!} ${key.replace(/^words\//, '') || '?list'}`;
    this.requests.push(what);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    await this.hold(what);
    const fault = this.fault(what, this.requests.length);
    if (fault?.kind === 'status') {
      response.writeHead(fault.status, fault.headers).end(`<Error><Code>Fault</Code><Message>on demand</Message></Error>`);
      return;
    }
    if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256 ') !== true) return void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
    if (createHash('sha256').update(body).digest('hex') !== request.headers['x-amz-content-sha256']) {
      return void response.writeHead(400).end('<Error><Code>XAmzContentSHA256Mismatch</Code></Error>');
    }
    const { status, headers, bytes } = this.#carryOut(request, url, key, body);
    switch (fault?.kind) {
      case 'done, status':
        return void response.writeHead(fault.status).end();
      case 'done, cut':
        return void response.destroy();
      case 'silence':
        return;
      case 'half':
        response.writeHead(status, { ...headers, 'content-length': String(bytes.length) });
        response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
        return;
      case undefined:
        response.writeHead(status, { 'content-length': String(bytes.length), ...headers }).end(request.method === 'HEAD' ? undefined : bytes);
    }
  }

  #carryOut(request: IncomingMessage, url: URL, key: string, body: Buffer): { status: number; headers: Record<string, string>; bytes: Buffer } {
    const answer = (status: number, headers: Record<string, string> = {}, text: string | Buffer = '') => ({ status, headers, bytes: Buffer.from(text as string) });
    const query = url.searchParams;
    const found = this.objects.get(key);
    const isRefused = (): boolean => {
      const { 'if-match': match, 'if-none-match': noneMatch } = request.headers;
      return (noneMatch === '*' && found !== undefined) || (match !== undefined && match !== found?.etag);
    };
    const kept = (): Record<string, string> => Object.fromEntries(KEPT_HEADERS.flatMap((name) => (typeof request.headers[name] === 'string' ? [[name, request.headers[name]]] : [])));
    if (query.has('list-type')) return answer(200, {}, this.#page(query));
    switch (request.method) {
      case 'GET':
      case 'HEAD': {
        if (found === undefined) return answer(404, {}, '<Error><Code>NoSuchKey</Code></Error>');
        const headers = { ...found.headers, etag: found.etag, 'last-modified': found.modified.toUTCString() };
        if (request.method === 'HEAD') return answer(200, { ...headers, 'content-length': String(found.bytes.length) });
        const [, start, end] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '') ?? [];
        if (start === undefined) return answer(200, headers, found.bytes);
        const first = start === '' ? Math.max(0, found.bytes.length - Number(end)) : Number(start);
        const part = found.bytes.subarray(first, start === '' || end === '' ? undefined : Number(end) + 1);
        return answer(206, { ...headers, 'content-range': `bytes ${first}-${first + part.length - 1}/${found.bytes.length}` }, part);
      }
      case 'PUT': {
        const upload = this.#uploads.get(query.get('uploadId') ?? '');
        if (query.has('uploadId')) {
          if (upload === undefined) return answer(404, {}, '<Error><Code>NoSuchUpload</Code></Error>');
          upload.pieces.set(Number(query.get('partNumber')), body);
          return answer(200, { etag: `"${createHash('md5').update(body).digest('hex')}"` });
        }
        if (isRefused()) return answer(412, {}, '<Error><Code>PreconditionFailed</Code></Error>');
        return answer(200, { etag: this.#write(key, body, kept()) });
      }
      case 'POST': {
        if (query.has('uploads')) {
          const id = `upload&${++this.#writes}`;
          this.#uploads.set(id, { key, headers: kept(), pieces: new Map() });
          return answer(200, {}, `<InitiateMultipartUploadResult><UploadId>${id.replace('&', '&amp;')}</UploadId></InitiateMultipartUploadResult>`);
        }
        const id = query.get('uploadId') ?? '';
        const upload = this.#uploads.get(id);
        if (upload === undefined) return answer(404, {}, '<Error><Code>NoSuchUpload</Code></Error>');
        if (isRefused()) return answer(412, {}, '<Error><Code>PreconditionFailed</Code></Error>');
        this.#uploads.delete(id);
        const listed = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber>/g)].map(([, number]) => Number(number));
        return answer(200, { etag: this.#write(key, Buffer.concat(listed.map((number) => upload.pieces.get(number)!)), upload.headers) }, '<CompleteMultipartUploadResult/>');
      }
      default:
        if (query.has('uploadId')) this.#uploads.delete(query.get('uploadId')!);
        else this.objects.delete(key);
        return answer(204);
    }
  }

  #write(key: string, bytes: Buffer, headers: Record<string, string>): string {
    const etag = `"${createHash('md5').update(bytes).digest('hex')}"`;
    this.objects.set(key, { bytes, etag, headers, modified: new Date(this.clock()) });
    return etag;
  }

  #page(query: URLSearchParams): string {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(query.get('prefix') ?? '')).sort();
    const start = Number(query.get('continuation-token') ?? 0);
    const contents = keys.slice(start, start + this.pageSize).map((key) => {
      const { bytes, etag, modified } = this.objects.get(key)!;
      return `<Contents><Key>${encodeURIComponent(key)}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>${etag.replaceAll('"', '&quot;')}</ETag><Size>${bytes.length}</Size></Contents>`;
    });
    const end = start + this.pageSize;
    const more = end < keys.length ? `<IsTruncated>true</IsTruncated><NextContinuationToken>${end}</NextContinuationToken>` : '<IsTruncated>false</IsTruncated>';
    return `<?xml version="1.0"?><ListBucketResult>${more}${contents.join('')}</ListBucketResult>`;
  }
}
