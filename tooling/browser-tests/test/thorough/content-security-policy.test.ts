import { compress, init } from '@bokuweb/zstd-wasm';
import { deflateCodec, zlibCodec } from '@bloom/codecs';
import { goldenTables, type KeyValue } from '@bloom/fixtures';
import { type Codec, MemorySink, MemorySource, TableBuilder } from '@bloom/sstable';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { filterFindings, policies, type TableFindings, tableFindings } from '../../src/findings.js';
import type { PageFindings } from '../../src/page.js';
import { findChromium } from '../../src/chromium.js';
import { pageScript } from '../page-script.js';
import { PageServer } from '../page-server.js';

const names = ['compressible-snappy-bits10.ldb', 'words-snappy-bits10.ldb', 'words-bits10.ldb'];
const goldens = goldenTables().filter(({ name }) => names.includes(name));

await init();
const zstd: Codec = { type: 2, name: 'zstd', compress: (contents) => compress(contents, 3), decompress: (compressed) => compressed };

/** A table with the entries of a golden one, compressed with a given codec. */
function compressedBy(codec: Codec): { readonly name: string; readonly bytes: Uint8Array; readonly input: readonly KeyValue[] } {
  const input = goldens[0]!.input();
  const sink = new MemorySink();
  const builder = new TableBuilder(sink, { compression: codec });
  for (const [key, value] of input) builder.add(key, value);
  builder.finish();
  return { name: `${codec.name}.ldb`, bytes: sink.toBytes(), input };
}

const served = [
  ...goldens.map((golden) => ({ name: golden.name, bytes: golden.bytes(), input: golden.input() })),
  ...[zlibCodec, deflateCodec, zstd].map(compressedBy),
];
const tables = new Map(served.map(({ name, bytes }) => [`/${name}`, bytes]));

/** For each table, how many entries of its input were found in their places. */
function wholeTables(findings: readonly TableFindings[]): number[] {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  return findings.map(({ entries }, i) => {
    const { input } = served[i]!;
    return input.filter(([key, value], j) => entries[j]?.[0] === hex(key) && entries[j][1] === hex(value)).length;
  });
}

const executablePath = findChromium();

if (executablePath === undefined) {
  test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so no page is opened', () => {});
}

describe.runIf(executablePath !== undefined)('in Chromium', () => {
  let browser: Browser;
  let server: PageServer<PageFindings>;

  beforeAll(async () => {
    server = await PageServer.start(await pageScript('page.ts'), { tables: [...tables.keys()] }, tables);
    browser = await chromium.launch({ executablePath: executablePath! });
  });

  afterAll(async () => {
    await browser.close();
    await server.stop();
  });

  async function openPage(contentSecurityPolicy: string | undefined): Promise<PageFindings> {
    server.contentSecurityPolicy = contentSecurityPolicy;
    const outcome = server.nextOutcome();
    const page = await browser.newPage();
    try {
      await page.goto(server.url);
      const answer = await outcome;
      if ('failure' in answer) throw new Error(answer.failure);
      return answer.findings;
    } finally {
      await page.close();
    }
  }

  describe.each([
    ['without a Content-Security-Policy', undefined],
    ['under a Content-Security-Policy that forbids WebAssembly', "default-src 'self'"],
  ])('%s', (_, contentSecurityPolicy) => {
    let found: PageFindings;

    beforeAll(async () => {
      found = await openPage(contentSecurityPolicy);
    });

    test(`the kernels of policies, hashes, Snappy and the checksum ${contentSecurityPolicy === undefined ? 'are' : 'cannot be'} compiled`, () => {
      const { started, refusals } = found.webAssembly;
      // One for each policy but the one in cache lines, and one each for hashes of 64 bits, Snappy and the checksum.
      const kernels = Object.keys(policies).length - 1 + 3;
      if (contentSecurityPolicy === undefined) expect({ started, refusals }).toEqual({ started: kernels, refusals: [] });
      else {
        expect(started).toBe(0);
        expect(refusals).toEqual(Array.from({ length: kernels }, () => expect.stringContaining('Content Security Policy') as string));
      }
    });

    test.each(Object.keys(policies))('the filter of 10,000 keys (%s) and its answers are the same as in Node', (policy) => {
      const here = filterFindings(policy);
      const there = found.filters.find((findings) => findings.policy === policy)!;
      expect(there.filter === here.filter).toBe(true);
      expect(there.answers === here.answers).toBe(true);
      expect(there.answers.slice(0, 10_000)).toBe('1'.repeat(10_000));
    });

    test('tables read from a Blob and over HTTP have the same contents as in Node', async () => {
      const here = await Promise.all(served.map(({ bytes }) => tableFindings(new MemorySource(bytes))));
      expect(JSON.stringify(found.tablesAsBlobs) === JSON.stringify(here)).toBe(true);
      expect(JSON.stringify(found.tablesOverHttp) === JSON.stringify(here)).toBe(true);
      expect(wholeTables(found.tablesAsBlobs)).toEqual(served.map(({ input }) => input.length));
    });
  });
});
