// When an HttpSource repeats a request. Timers are fake, and no request leaves the process.
import '@bloom/fixtures/fakeable-timers';
import { getEventListeners } from 'node:events';
import { type Fetch, HttpSource } from '@bloom/sstable/http';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { rejection } from '@bloom/fixtures/caught';

const url = 'https://example.org/table.ldb';
const never = (): Promise<never> => new Promise(() => {});
const now = Date.UTC(2026, 0, 1);

beforeEach(() => {
  vi.useFakeTimers({ now });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a server that never answers', () => {
  test('is given up after 30 seconds by default', async () => {
    const source = await HttpSource.open(url, { byteLength: 100, fetch: never, retries: 0 });
    let settled = false;
    const reading = rejection(source.read(0, 10)).finally(() => (settled = true));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(settled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reading).toMatchObject({ code: 'BLOOM_HTTP_STALLED' });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is waited for even if stallMs is more than a host’s timer can take', async () => {
    const source = await HttpSource.open(url, { byteLength: 100, fetch: never, retries: 0, stallMs: 2 ** 53 - 1 });
    const reading = rejection(source.read(0, 10));
    await vi.advanceTimersByTimeAsync(24 * 3600 * 1000);
    expect(vi.getTimerCount()).toBe(1);
    void source.close();
    await reading;
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('a server that sends Retry-After', () => {
  const times: number[] = [];

  /** Answers with each status and Retry-After in turn, and then correctly. */
  function answering(...answers: [status: number, retryAfter: string | undefined][]): Fetch {
    times.length = 0;
    return async () => {
      times.push(Date.now());
      const answer = answers[times.length - 1];
      if (answer === undefined) return new Response(new Uint8Array(10), { status: 206 });
      const [status, retryAfter] = answer;
      return new Response(null, { status, ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }) });
    };
  }

  /** The times between consecutive requests. */
  async function waits(fetch: Fetch, retries = 3, retryDelayMs?: number): Promise<{ waits: number[]; error: unknown }> {
    const source = await HttpSource.open(url, { byteLength: 100, fetch, retries, retryDelayMs });
    const reading = rejection(source.read(0, 10));
    await vi.advanceTimersByTimeAsync(400_000);
    const error = await reading;
    expect(vi.getTimerCount()).toBe(0);
    return { waits: times.slice(1).map((time, i) => time - times[i]!), error };
  }

  const httpDate = (ms: number): string => new Date(now + ms).toUTCString();

  test.each([
    ['7 seconds', '7', 7000],
    ['60 seconds', '60', 60_000],
    ['a date in 5 seconds', httpDate(5000), 5000],
    ['a date in the past', httpDate(-5000), 200],
    ['0 seconds', '0', 200],
    ['a value that is neither a number nor a date', 'soon', 200],
    ['a value that only JavaScript accepts as a date', '2026-01-01T00:00:30Z', 200],
    ['a negative number', '-5', 200],
    ['nothing at all', undefined, 200],
  ])('of %s is retried after the right time', async (_, retryAfter, expected) => {
    expect(await waits(answering([503, retryAfter]))).toEqual({ waits: [expected], error: undefined });
    vi.setSystemTime(now);
    expect(await waits(answering([429, retryAfter]))).toEqual({ waits: [expected], error: undefined });
  });

  test('of less than the usual wait does not shorten the wait', async () => {
    const { waits: each } = await waits(answering([503, undefined], [503, undefined], [503, '0']));
    expect(each).toEqual([200, 400, 800]);
  });

  test.each(['61', '86400', '99999999999999999999', httpDate(3600_000)])('of more than a minute (%s) is not retried', async (retryAfter) => {
    const { waits: each, error } = await waits(answering([503, retryAfter]));
    expect(each).toEqual([]);
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 503 });
    expect((error as Error).message).toMatch(/asks to wait \d+ s$/);
  });

  test('with every response gets at most the allowed retries', async () => {
    const { waits: each, error } = await waits(answering([503, '3'], [429, '3'], [503, '3'], [503, '3']));
    expect(each).toEqual([3000, 3000, 3000]);
    expect(error).toMatchObject({ code: 'BLOOM_HTTP_STATUS', status: 503 });
  });

  test('at no time is retried after waits that double up to a minute', async () => {
    const failing: Fetch = async () => {
      times.push(Date.now());
      throw new TypeError('no network');
    };
    times.length = 0;
    const { waits: each } = await waits(failing, 12);
    expect(each).toEqual([200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000, 60_000]);
    times.length = 0;
    expect((await waits(failing, 3, 20)).waits).toEqual([20, 40, 80]);
  });

  test('for the end of the file gets the next request only after the wait', async () => {
    const byRange: [string, number][] = [];
    const busy: Fetch = async (_, { method, headers: { range = '' } }) => {
      byRange.push([`${method} ${range}`, Date.now() - now]);
      if (method === 'HEAD') return new Response(null, { status: 200, headers: { 'content-length': '77' } });
      return new Response(null, { status: 429, headers: { 'retry-after': '4' } });
    };
    const opening = HttpSource.open(url, { fetch: busy });
    await vi.advanceTimersByTimeAsync(5000);
    expect((await opening).byteLength).toBe(77);
    expect(byRange).toEqual([
      ['GET bytes=-65536', 0],
      ['HEAD ', 4000],
    ]);
  });

  test('for HEAD gets the range request only after the wait', async () => {
    const byMethod: [string, number][] = [];
    const busy: Fetch = async (_, { method }) => {
      byMethod.push([method, Date.now() - now]);
      if (method === 'HEAD') return new Response(null, { status: 429, headers: { 'retry-after': '4' } });
      return new Response(new Uint8Array(1), { status: 206, headers: { 'content-range': 'bytes 0-0/77' } });
    };
    const opening = HttpSource.open(url, { fetch: busy, tailBytes: 0 });
    await vi.advanceTimersByTimeAsync(5000);
    expect((await opening).byteLength).toBe(77);
    expect(byMethod).toEqual([
      ['HEAD', 0],
      ['GET', 4000],
    ]);
  });

  test('is not waited for after an abort or close', async () => {
    for (const end of ['abort', 'close']) {
      const controller = new AbortController();
      const source = await HttpSource.open(url, { byteLength: 100, fetch: answering([503, '50']) });
      const reading = rejection(source.read(0, 10, controller.signal));
      await vi.advanceTimersByTimeAsync(1000);
      if (end === 'abort') controller.abort(new Error('enough'));
      else void source.close();
      expect(((await reading) as Error).message).toBe(end === 'abort' ? 'enough' : 'the source is closed');
      expect(vi.getTimerCount()).toBe(0);
      expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
      expect(times).toHaveLength(1);
    }
  });
});
