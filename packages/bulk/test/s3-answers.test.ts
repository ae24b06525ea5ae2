// What a store behind S3's API makes of answers that are wrong, and of addresses and credentials.
import { createHash } from 'node:crypto';
import { inspect } from 'node:util';
import { BulkError } from '@bloom/bulk';
import { type S3Fetch, S3Store, type S3StoreOptions, s3StoreOf } from '@bloom/bulk/s3';
import { DatabaseReader } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { collected, utf8 } from './model.js';

const credentials = { accessKeyId: 'the-id', secretAccessKey: 'the-secret', sessionToken: 'the-token' };
const ENVIRONMENT = { AWS_ACCESS_KEY_ID: 'the-id', AWS_SECRET_ACCESS_KEY: 'the-secret' };
const object = (name: string, text: string) => ({ name, bytes: utf8(text), sha256: createHash('sha256').update(text).digest('hex') });

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly redirect: string | undefined;
  readonly text: string;
}

type Answering = (sent: Sent) => Response | Promise<Response>;

/** A store whose requests a function answers. */
function storeAnswered(answer: Answering, options: Partial<S3StoreOptions> = {}, url = 'http://127.0.0.1:1/bucket/words/'): S3Store {
  return new S3Store(url, { credentials, retryDelayMs: 0, fetch: fetchAnswered(answer), ...options });
}

function fetchAnswered(answer: Answering): S3Fetch {
  return async (url, { method, headers, body, ...rest }) => {
    const { redirect } = rest as { redirect?: string };
    return answer({ method, url, headers, redirect, text: new TextDecoder().decode(body) });
  };
}

/** A response whose body ends with the signal, as that of the host's fetch. */
function abortable(response: Response, signal: { addEventListener(type: 'abort', listener: () => void): void; readonly reason: unknown }): Response {
  const aborted = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const read = response.arrayBuffer.bind(response);
  return Object.assign(response, { arrayBuffer: () => Promise.race([read(), aborted]) });
}

const page = (contents: string, more = '<IsTruncated>false</IsTruncated>'): Response => new Response(`<ListBucketResult>${more}${contents}</ListBucketResult>`);
const listed = (key: string, rest = '<Size>1</Size><LastModified>2026-01-01T00:00:00.000Z</LastModified>'): string => `<Contents><Key>${key}</Key>${rest}</Contents>`;
const failed = { name: 'BulkError', code: 'BLOOM_STORE_FAILED' };

describe('a bucket that does not exist', () => {
  const answer: Answering = ({ method }) => new Response(method === 'HEAD' ? null : '<Error><Code>NoSuchBucket</Code><Message>no such bucket</Message></Error>', { status: 404 });

  test('takes nothing, and has no state that could be read or replaced', async () => {
    const store = storeAnswered(answer);
    await expect(store.create(object('123456.ldb', 'x'))).rejects.toMatchObject({ ...failed, status: 404 });
    await expect(store.put(object('123456.ldb', 'x'))).rejects.toMatchObject({ ...failed, status: 404 });
    await expect(store.replace(object('CURRENT', 'x'), undefined)).rejects.toMatchObject(failed);
    await expect(store.replace(object('CURRENT', 'x'), '"etag"')).rejects.toMatchObject(failed);
    await expect(store.get('CURRENT')).rejects.toThrow('NoSuchBucket no such bucket');
    await expect(collected(store.list())).rejects.toMatchObject(failed);
  });
});

describe('the state of an object', () => {
  test('that has no ETag, or a weak one, cannot be replaced', async () => {
    for (const headers of [{}, { etag: 'W/"1"' }] as Record<string, string>[]) {
      const methods: string[] = [];
      const store = storeAnswered(({ method }) => (methods.push(method), new Response('MANIFEST-000001\n', { headers })));
      const { etag } = (await store.get('CURRENT'))!;
      await expect(store.replace(object('CURRENT', 'x'), etag)).rejects.toThrow(/ETag/);
      expect(methods).toEqual(['GET']);
    }
  });

  test('is not replaced where the server ignores conditions', async () => {
    for (const ignored of ['if-match', 'if-none-match']) {
      const objects = new Map<string, string>();
      const store = storeAnswered(({ method, url, headers, text }) => {
        const name = decodeURIComponent(url.slice(url.lastIndexOf('/') + 1));
        if (method === 'DELETE') return (objects.delete(name), new Response(null, { status: 204 }));
        const isRefused = (headers['if-none-match'] === '*' && objects.has(name) && ignored !== 'if-none-match') || (headers['if-match'] !== undefined && headers['if-match'] !== `"${objects.get(name)}"` && ignored !== 'if-match');
        if (isRefused) return new Response('<Error><Code>PreconditionFailed</Code></Error>', { status: 412 });
        objects.set(name, text);
        return new Response('', { headers: { etag: `"${text}"` } });
      });
      await expect(store.replace(object('CURRENT', 'x'), undefined), ignored).rejects.toThrow(new RegExp(`ignores ${ignored}`, 'i'));
      expect([...objects.keys()]).toEqual([]);
    }
  });
});

describe('an answer', () => {
  test('without a length or a time is not a description of an object', async () => {
    const head = (headers: Record<string, string>) => storeAnswered(() => new Response(null, { headers })).head('123456.ldb');
    const time = 'Thu, 01 Jan 2026 00:00:00 GMT';
    await expect(head({ 'last-modified': time })).rejects.toMatchObject(failed);
    await expect(head({ 'content-length': '5' })).rejects.toMatchObject(failed);
    await expect(head({ 'content-length': 'x', 'last-modified': time })).rejects.toMatchObject(failed);
    expect(await head({ 'content-length': '5', 'last-modified': time })).toMatchObject({ byteLength: 5, modifiedMs: Date.UTC(2026, 0, 1) });
  });

  test('that is not a list, or is truncated, or has no length or time, is refused', async () => {
    const names = async (...answers: Response[]) => (await collected(storeAnswered(() => answers.shift()!).list())).map(({ name }) => name);
    const more = (token: string) => `<IsTruncated>true</IsTruncated>${token}`;
    await expect(names(new Response('<html>log in</html>'))).rejects.toMatchObject(failed);
    await expect(names(page(listed('words/123456.ldb'), more('')))).rejects.toMatchObject(failed);
    const again = () => page(listed('words/123456.ldb'), more('<NextContinuationToken>a</NextContinuationToken>'));
    await expect(names(again(), again(), again())).rejects.toMatchObject(failed);
    await expect(names(page(listed('words/123456.ldb', '<Size>1</Size>')))).rejects.toMatchObject(failed);
    await expect(names(page(listed('words/123456.ldb', '<LastModified>2026-01-01T00:00:00.000Z</LastModified>')))).rejects.toMatchObject(failed);
    expect(await names(again(), page(listed('words/2.ldb')))).toEqual(['123456.ldb', '2.ldb']);
  });

  test('has keys that are encoded, where it says so, and where it does not', async () => {
    const prefix = '100% ü+b/';
    const names = async (contents: string) => (await collected(storeAnswered(() => page(contents), { prefix }, 'http://127.0.0.1:1/bucket/').list())).map(({ name }) => name);
    expect(await names(`<EncodingType>url</EncodingType>${listed('100%25+%C3%BC%2Bb/1%2B2')}`)).toEqual(['1+2']);
    expect(await names(listed('100% ü+b/1+2'))).toEqual(['1+2']);
    expect(await names(listed('100%25+%C3%BC%2Bb/1%2B2'))).toEqual(['1+2']);
    await expect(names(`<EncodingType>url</EncodingType>${listed('100% ü+b/1')}`)).rejects.toMatchObject(failed);
  });

  test('is requested again after RequestTimeout, which S3 sends with status 400', async () => {
    let tries = 0;
    const store = storeAnswered(() => (tries++ === 0 ? new Response('<Error><Code>RequestTimeout</Code></Error>', { status: 400 }) : new Response('x', { headers: { etag: '"1"' } })));
    expect((await store.get('CURRENT'))!.etag).toBe('"1"');
    await expect(storeAnswered(() => (tries++, new Response('<Error><Code>BadDigest</Code></Error>', { status: 400 }))).get('CURRENT')).rejects.toMatchObject({ status: 400 });
    expect(tries).toBe(3);
  });

  test('with a redirect is not followed, because the request has credentials; the error names the region if the answer has it', async () => {
    const redirects: (string | undefined)[] = [];
    const store = storeAnswered(({ redirect }) => {
      redirects.push(redirect);
      return new Response('<Error><Code>PermanentRedirect</Code></Error>', { status: 301, headers: { location: 'http://127.0.0.1:2/', 'x-amz-bucket-region': 'eu-north-1' } });
    });
    await expect(store.get('CURRENT')).rejects.toThrow('301 PermanentRedirect (the region of the bucket is eu-north-1)');
    await expect(DatabaseReader.open(store.folder())).rejects.toMatchObject({ code: 'BLOOM_HTTP_STATUS' });
    expect(new Set(redirects)).toEqual(new Set(['manual']));
  });

  test('with status 200 and an error in its body, at the end of a multipart upload, is a temporary failure', async () => {
    let ends = 0;
    const store = storeAnswered(
      ({ method, url }) => {
        if (url.includes('uploads=')) return new Response('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>');
        if (method === 'POST') return new Response(ends++ === 0 ? '<Error><Code>InternalError</Code></Error>' : '<CompleteMultipartUploadResult/>');
        return new Response('', { headers: { etag: '"1"' } });
      },
      { multipartBytes: 5 * 2 ** 20 },
    );
    expect(await store.create({ name: '123456.ldb', bytes: new Uint8Array(5 * 2 ** 20 + 1), sha256: '' })).toBe(true);
    expect(ends).toBe(2);
  });

  test('is not waited for when the signal is aborted while the request is signed', async () => {
    const controller = new AbortController();
    const store = storeAnswered(() => new Promise(() => undefined));
    const reading = store.get('CURRENT', controller.signal);
    controller.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });
});

describe('a slow server', () => {
  /** Answers after a time, or ends with the signal. */
  const answerAfter = (ms: number, answer: () => Response): S3Fetch => (_, { signal }) => {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(answer()), ms);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    });
  };
  const storeOf = (fetch: S3Fetch, options: Partial<S3StoreOptions>) => new S3Store('http://127.0.0.1:1/bucket/words/', { credentials, retries: 0, fetch, ...options });
  const large = object('123456.ldb', 'x'.repeat(2 ** 18));

  test('gets time for the bytes of a large object that is written', async () => {
    const store = storeOf(answerAfter(300, () => new Response('')), { timeoutMs: 50 });
    await store.put(large);
    await expect(store.put(object('123456.ldb', 'x'))).rejects.toThrow('no response within 50 ms');
  });

  test('gets time for the bytes of a large object that is read', async () => {
    const answer = (headers: Record<string, string>) => (): Response => {
      const body = new ReadableStream<Uint8Array>({
        async start(controller) {
          await new Promise((resolve) => setTimeout(resolve, 300));
          controller.enqueue(large.bytes);
          controller.close();
        },
      });
      return new Response(body, { headers: { etag: '"1"', ...headers } });
    };
    const reading = (headers: Record<string, string>) => {
      const store = storeOf(async (_, { signal }) => abortable(answer(headers)(), signal), { timeoutMs: 50 });
      return store.get('123456.ldb');
    };
    expect((await reading({ 'content-length': String(large.bytes.length) }))!.bytes).toEqual(large.bytes);
    await expect(reading({})).rejects.toThrow('no response within 50 ms');
  });

  test.each([2 ** 31, Number.MAX_SAFE_INTEGER])('gets %d ms, longer than a timer can run', async (timeoutMs) => {
    await storeOf(answerAfter(20, () => new Response('')), { timeoutMs }).put(large);
  });

  test('is not asked again at once after a delay that is longer than a timer can run', async () => {
    const stop = new AbortController();
    const sent: number[] = [];
    const store = storeOf(async () => (sent.push(1), new Response('', { status: 503 })), { retries: 5, retryDelayMs: 2 ** 32 });
    const reading = store.get('CURRENT', stop.signal);
    setTimeout(() => stop.abort(new Error('enough')), 60);
    await expect(reading).rejects.toThrow('enough');
    expect(sent).toHaveLength(1);
  });

  test.each([
    ['a number of seconds', () => '1', true],
    ['a date', () => new Date(Date.now() + 2000).toUTCString(), true],
    ['a date in the past', () => new Date(0).toUTCString(), false],
    ['neither', () => 'soon', false],
  ])('is asked again after the time that Retry-After gives: %s', async (_, retryAfter, waits) => {
    const stop = new AbortController();
    let count = 0;
    const answers = [() => new Response('', { status: 503, headers: { 'retry-after': retryAfter() } }), () => new Response('', { status: 404 })];
    const store = storeOf(async () => answers[Math.min(count++, 1)]!(), { retries: 1, retryDelayMs: 0 });
    const reading = store.get('CURRENT', stop.signal);
    if (waits) setTimeout(() => stop.abort(new Error('enough')), 60);
    await expect(reading.catch((error: unknown) => (error as Error).message)).resolves.toBe(waits ? 'enough' : undefined);
    expect(count).toBe(waits ? 1 : 2);
  });
});

describe('credentials', () => {
  test('with line breaks or spaces are refused, and never shown', () => {
    for (const name of ['accessKeyId', 'secretAccessKey', 'sessionToken'] as const) {
      for (const end of ['\n', ' ', 'ü']) {
        let error: unknown;
        try {
          storeAnswered(() => new Response(''), { credentials: { ...credentials, [name]: `${credentials[name]}${end}` } });
        } catch (caught) {
          error = caught;
        }
        expect(error).toBeInstanceOf(TypeError);
        expect((error as Error).message).toContain(name);
        expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/the-(?:id|secret|token)/);
      }
    }
  });

  test('are shown by neither the store nor its folder nor its errors', async () => {
    const store = storeAnswered(() => Promise.reject(new TypeError('fetch failed')), { retries: 0 });
    const error: unknown = await store.get('CURRENT').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(BulkError);
    for (const value of [store, store.folder(), error, Object.entries(store)]) expect(inspect(value, { depth: 9, showHidden: true })).not.toMatch(/the-(?:id|secret|token)/);
    expect(JSON.stringify([store, store.folder()])).not.toMatch(/the-(?:id|secret|token)/);
  });

  test('in an address are refused without being shown', () => {
    for (const url of ['http://user:hunter2@127.0.0.1:1/bucket/', 'http://127.0.0.1:1/bucket/?X-Amz-Signature=hunter2', 'http://127.0.0.1:1/bucket/#hunter2']) {
      expect(() => storeAnswered(() => new Response(''), {}, url)).toThrow(TypeError);
      expect(() => storeAnswered(() => new Response(''), {}, url)).not.toThrow(/hunter2/);
    }
    expect(() => s3StoreOf('s3://bucket/', { ...ENVIRONMENT, AWS_ENDPOINT_URL: 'http://user:hunter2@127.0.0.1:1' })).not.toThrow(/hunter2/);
  });
});

describe('an address', () => {
  /** Where an object is read, and what is listed. */
  async function requestsOf(makeStore: (fetch: S3Fetch) => S3Store): Promise<string[]> {
    const urls: string[] = [];
    const store = makeStore(
      fetchAnswered(({ url }) => {
        urls.push(url);
        return url.includes('list-type') ? page('') : new Response('x', { headers: { etag: '"1"' } });
      }),
    );
    await store.get('CURRENT');
    await collected(store.list());
    const { searchParams, origin, pathname } = new URL(urls[1]!);
    return [urls[0]!, `${origin}${pathname} ${searchParams.get('prefix')}`];
  }
  const addressed = (address: string, environment: Record<string, string> = {}) => requestsOf((fetch) => s3StoreOf(address, { ...ENVIRONMENT, ...environment }, { fetch }));

  test('of s3: takes the prefix unchanged: with spaces, percent signs and letters of any alphabet', async () => {
    expect(await addressed('s3://bucket/100% of/a%20b/ü?#+')).toEqual(['https://bucket.s3.us-east-1.amazonaws.com/100%25%20of/a%2520b/%C3%BC%3F%23%2B/CURRENT', 'https://bucket.s3.us-east-1.amazonaws.com/ 100% of/a%20b/ü?#+/']);
    for (const address of ['s3://bucket/a/../b', 's3://bucket/./b', 's3://bucket/..']) expect(() => s3StoreOf(address, ENVIRONMENT)).toThrow(RangeError);
  });

  test('of s3: takes the server of the environment unchanged, even if it looks like one with a bucket, or has a path', async () => {
    const endpoint = 'https://bucket.vpce-1a2b-5e6f.s3.us-east-1.vpce.amazonaws.com';
    expect(await addressed('s3://mine/words', { AWS_ENDPOINT_URL_S3: endpoint })).toEqual([`${endpoint}/mine/words/CURRENT`, `${endpoint}/mine/ words/`]);
    const path = 'https://project.example.org/storage/v1/s3';
    expect(await addressed('s3://mine/words', { AWS_ENDPOINT_URL: `${path}/` })).toEqual([`${path}/mine/words/CURRENT`, `${path}/mine/ words/`]);
  });

  test('of s3: has a bucket with dots in its path, as the certificate of a host with it would not fit', async () => {
    expect(await addressed('s3://my.bucket/words')).toEqual(['https://s3.us-east-1.amazonaws.com/my.bucket/words/CURRENT', 'https://s3.us-east-1.amazonaws.com/my.bucket/ words/']);
  });

  test('of s3: leads to the servers in China for the regions there', async () => {
    const of = (region: string, address: string) => addressed(address, { AWS_REGION: region });
    expect(await of('cn-north-1', 's3://bucket/words')).toEqual(['https://bucket.s3.cn-north-1.amazonaws.com.cn/words/CURRENT', 'https://bucket.s3.cn-north-1.amazonaws.com.cn/ words/']);
    expect((await of('cn-northwest-1', 's3://my.bucket'))[0]).toBe('https://s3.cn-northwest-1.amazonaws.com.cn/my.bucket/CURRENT');
  });

  test('of s3: takes empty variables as if they were not set', async () => {
    expect(await addressed('s3://bucket', { AWS_REGION: '', AWS_DEFAULT_REGION: 'eu-north-1', AWS_SESSION_TOKEN: '', AWS_ENDPOINT_URL_S3: '', AWS_ENDPOINT_URL: '' })).toEqual([
      'https://bucket.s3.eu-north-1.amazonaws.com/CURRENT',
      'https://bucket.s3.eu-north-1.amazonaws.com/ ',
    ]);
  });

  test('of a bucket goes with a prefix; one that is not an address, has no bucket or cannot be decoded is refused', async () => {
    expect(await requestsOf((fetch) => new S3Store('http://127.0.0.1:1/base/bucket', { credentials, fetch, prefix: 'a b/' }))).toEqual(['http://127.0.0.1:1/base/bucket/a%20b/CURRENT', 'http://127.0.0.1:1/base/bucket/ a b/']);
    for (const url of ['http://127.0.0.1:1/', 'http://127.0.0.1:1/bucket/100%/', 'bucket', 'file:///bucket/words/', '']) {
      expect(() => storeAnswered(() => new Response(''), {}, url), url).toThrow(/url must/);
    }
    expect(() => storeAnswered(() => new Response(''), { prefix: 'words' })).toThrow(/prefix must/);
    expect(() => storeAnswered(() => new Response(''), { prefix: 'a/../' })).toThrow(/prefix must/);
    expect(() => storeAnswered(() => new Response(''), { region: 'eu north' })).toThrow(/region must/);
  });
});
