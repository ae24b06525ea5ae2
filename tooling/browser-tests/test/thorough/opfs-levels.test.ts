import process from 'node:process';
import { SUITE_WITHOUT_GET_SYNC, type SuiteResult } from '@bloom/fixtures/abstract-suite';
import type { Page } from 'playwright-core';
import { afterEach, describe, expect, test } from 'vitest';
import { findChromium } from '../../src/chromium.js';
import { bundled, Origin } from '../../src/origin.js';
import { TestSite } from '../test-site.js';

if (findChromium() === undefined) test.skip('no Chromium on the PATH (Debian: apt-get install chromium-headless-shell), so levels in the origin private file system are not tested', () => {});
describe.runIf(findChromium() !== undefined)('in pages of Chromium, levels in the origin private file system', () => {
  const site = TestSite.forTests('level-page', 'level-worker');
  const { browser } = site;

  test('tabs share a level, and go on when the one that opened it is closed', async () => {
    const [first, second] = [await site.newPage(), await site.newPage()];
    for (const page of [first, second]) await page.evaluate(`import('/level-page.js').then(({ BloomLevel }) => void (globalThis.level = new BloomLevel('tabs')))`);
    await first.evaluate(`level.put('a', '1')`);
    await second.evaluate(`level.put('b', '2')`);
    expect(await first.evaluate(`level.iterator().all()`)).toEqual([['a', '1'], ['b', '2']]);
    await first.close();
    expect(await second.evaluate(`level.put('c', '3').then(() => level.iterator().all())`)).toEqual([['a', '1'], ['b', '2'], ['c', '3']]);
    await second.close();
  });

  describe('iterators and snapshots of a tab, when the tab that has the database open is closed', () => {
    const COUNT = 3000;
    const KEYS = Array.from({ length: COUNT }, (_, i) => String(i).padStart(4, '0'));
    const pages: Page[] = [];

    /** Starts a worker that hears of others late. */
    const LATE_WORKER = `() => {
      const urlOf = (...lines) => URL.createObjectURL(new Blob(lines, { type: 'text/javascript' }));
      const late = urlOf(\`
        const Channel = BroadcastChannel;
        globalThis.BroadcastChannel = class extends Channel {
          set onmessage(listener) { super.onmessage = (event) => setTimeout(listener, 150, event); }
        };
      \`);
      return new Worker(urlOf(\`import '\${late}'; import '\${location.origin}/level-worker.js';\`), { type: 'module' });
    }`;

    /** The first has the database open, for all. */
    async function openPages(path: string, count: number, lastWorker?: string): Promise<Page[]> {
      for (let i = 0; i < count; i++) {
        const page = await site.newPage();
        pages.push(page);
        const options = i === count - 1 && lastWorker !== undefined ? `{ worker: ${lastWorker} }` : '{}';
        await page.evaluate(`import('/level-page.js').then(({ BloomLevel }) => (globalThis.level = new BloomLevel('${path}', ${options})).open())`);
      }
      await pages[0]!.evaluate(`level.batch(${JSON.stringify(KEYS)}.map((key) => ({ type: 'put', key, value: 'value ' + key })))`);
      return pages;
    }

    afterEach(async () => {
      for (const page of pages.splice(0)) await page.close();
    });

    test('go on where they were, if nothing was written since they began', async () => {
      const [first, second, third] = (await openPages('begun', 3)) as [Page, Page, Page];
      await second.evaluate(`(async () => {
        const begun = {
          untouched: level.keys(),
          forward: level.keys({ gt: '0001' }),
          backward: level.keys({ reverse: true, lte: '2000' }),
          values: level.values({ gte: '0500', lt: '1500' }),
          entries: level.iterator({ keys: false, highWaterMarkBytes: 0 }),
          sought: level.keys({ lt: '2500' }),
          soughtBackward: level.keys({ reverse: true }),
          over: level.keys({ limit: 100, lt: '0005' }),
          ended: level.keys({ lt: '0005' }),
        };
        globalThis.begun = begun;
        globalThis.snapshot = level.snapshot();
        for (const name of ['forward', 'backward', 'values', 'entries']) begun[name + 'Read'] = await begun[name].nextv(700);
        await begun.entries.next();
        await begun.sought.nextv(10);
        begun.sought.seek('2000');
        await begun.soughtBackward.nextv(10);
        begun.soughtBackward.seek('1000');
        await begun.over.nextv(10);
        await begun.ended.all();
        // All of it is answered.
        await level.get('0000');
      })()`);
      await first.close();
      // The others write and delete at once, before and after the second asks.
      await Promise.all([third.evaluate(`level.clear()`), second.evaluate(`level.put('0000', 'changed')`)]);
      const went = await second.evaluate<Record<string, unknown>>(`(async () => {
        const { untouched, forward, forwardRead, backward, backwardRead, values, valuesRead, entries, sought, soughtBackward, over } = begun;
        const drained = async (iterator, read = []) => {
          for (;;) {
            const items = await iterator.nextv(400);
            if (items.length === 0) return read;
            read.push(...items);
          }
        };
        return {
          untouched: await drained(untouched),
          forward: await drained(forward, forwardRead),
          backward: await drained(backward, backwardRead),
          values: await drained(values, valuesRead),
          entries: (await entries.next())[1],
          sought: await drained(sought),
          soughtBackward: await drained(soughtBackward),
          over: await drained(over),
          snapshot: [await level.get('0000', { snapshot }), (await level.keys({ snapshot }).all()).length],
          now: await level.iterator().all(),
        };
      })()`);
      const { snapshot, now, entries, ...walked } = went;
      expect(walked).toEqual({
        untouched: KEYS,
        forward: KEYS.slice(2),
        backward: KEYS.slice(0, 2001).reverse(),
        values: KEYS.slice(500, 1500).map((key) => `value ${key}`),
        sought: KEYS.slice(2000, 2500),
        soughtBackward: KEYS.slice(0, 1001).reverse(),
        over: [],
      });
      // With the high-water mark of 0 each read gives one.
      expect(entries).toBe('value 0002');
      expect(snapshot).toEqual(['value 0000', COUNT]);
      expect([[], [['0000', 'changed']]]).toContainEqual(now);
    });

    test('go on in a tab that hears of the new owner only after others have written', async () => {
      const [first, second, third] = (await openPages('heard-late', 3, LATE_WORKER)) as [Page, Page, Page];
      await third.evaluate(`(async () => {
        globalThis.begun = level.keys();
        globalThis.keys = await begun.nextv(5);
        globalThis.snapshot = level.snapshot();
        await level.get('0000');
      })()`);
      await first.close();
      // With a range, it deletes entry by entry. Without one, it would give up the state of the iterators that have not continued yet.
      expect(await second.evaluate(`level.clear({ gte: '' }).then(() => level.keys().all())`)).toEqual([]);
      expect(await third.evaluate(`(async () => {
        keys.push(...await begun.all());
        return [keys, await level.get('0000', { snapshot }), await level.get('0000')];
      })()`)).toEqual([KEYS, 'value 0000', undefined]);
    });

    test('go on through a second change, while they are read', async () => {
      const [first, second, third] = (await openPages('changed-twice', 3)) as [Page, Page, Page];
      await third.evaluate(`(async () => {
        globalThis.begun = level.keys({ highWaterMarkBytes: 0 });
        globalThis.keys = await begun.nextv(1000);
        globalThis.readUntil = async (count) => {
          while (keys.length < count) keys.push(await begun.next());
        };
        await readUntil(100);
        globalThis.read = readUntil(300);
      })()`);
      await first.close();
      await third.evaluate(`read.then(() => void (globalThis.read = readUntil(${COUNT})))`);
      await second.close();
      await third.evaluate(`read`);
      expect(await third.evaluate(`keys`)).toEqual(KEYS);
    });

    test('end with LEVEL_SNAPSHOT_LOST, if anything was written', async () => {
      const [first, second] = (await openPages('written', 2)) as [Page, Page];
      expect(await second.evaluate(`(async () => {
        globalThis.begun = level.keys({ highWaterMarkBytes: 0 });
        globalThis.snapshot = level.snapshot();
        const key = await begun.next();
        await level.put('9999', 'more');
        globalThis.later = level.keys({ highWaterMarkBytes: 0, reverse: true });
        return [key, await later.next()];
      })()`)).toEqual(['0000', '9999']);
      await first.close();
      expect(await second.evaluate(`(async () => {
        const codeOf = ({ code }) => code;
        return [await begun.next().catch(codeOf), await level.get('0000', { snapshot }).catch(codeOf), await later.next(), await level.keys({ gt: '2998' }).all()];
      })()`)).toEqual(['LEVEL_SNAPSHOT_LOST', 'LEVEL_SNAPSHOT_LOST', '2999', ['2999', '9999']]);
    });
  });

  test('tabs that open a level at the same moment share it', async () => {
    const pages = await Promise.all(Array.from({ length: 4 }, () => site.newPage()));
    await Promise.all(pages.map((page, i) => page.evaluate(`import('/level-page.js').then(({ BloomLevel }) => (globalThis.level = new BloomLevel('at-once')).put('${i}', 'of ${i}'))`)));
    for (const page of pages) expect(await page.evaluate(`level.keys().all()`)).toEqual(['0', '1', '2', '3']);
    for (const page of pages) await page.close();
  });

  test('of a page that is reloaded while it puts, every acknowledged entry is there', async () => {
    const page = await site.newPage();
    const counts: number[] = [];
    await page.exposeFunction('acknowledged', (_: string, end: number) => void counts.push(end));
    let count = 0;
    for (let round = 0; round < 3; round++) {
      counts.length = 0;
      await page.evaluate(`void import('/level-page.js').then(({ writeOn }) => writeOn('reloaded', 'one', ${count}, acknowledged))`);
      await expect.poll(() => counts.length, { timeout: 60_000 }).toBeGreaterThan(3);
      await page.reload();
      const found = await page.evaluate<{ readonly count: number; readonly others: number }>(`import('/level-page.js').then(({ countOf }) => countOf('reloaded', 'one'))`);
      expect(found.others).toBe(0);
      expect(found.count).toBeGreaterThanOrEqual(counts.at(-1)!);
      count = found.count;
      await page.reload();
    }
    await page.close();
  });

  test('a worker that ends while it opens a database harms nobody', async () => {
    const page = await site.newPage();
    await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel }) => {
      const level = new BloomLevel('ended');
      await level.put('a', '1');
      await level.close();
    })`);
    for (let delay = 0; delay < 60; delay += 6) {
      await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel }) => {
        const workers = [];
        const worker = () => (workers.push(new Worker(new URL('/level-worker.js', location.href), { type: 'module' })), workers.at(-1));
        new BloomLevel('ended', { worker }).open().catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, ${delay}));
        for (const one of workers) one.terminate();
      })`);
    }
    expect(await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel }) => {
      const level = new BloomLevel('ended');
      const value = await level.get('a');
      await level.close();
      return value;
    })`)).toBe('1');
    await page.close();
  });

  test('levels whose paths differ only in slashes and dots are one', async () => {
    const [first, second] = [await site.newPage(), await site.newPage()];
    const opened = (paths: string[]): string =>
      `import('/level-page.js').then(async ({ BloomLevel }) => Promise.all(${JSON.stringify(paths)}.map((path) => new BloomLevel(path).put(path, '1'))))`;
    await first.evaluate(opened(['one/way', '/one/way/']));
    await second.evaluate(opened(['./one//way', 'one/./way']));
    expect(await second.evaluate(`import('/level-page.js').then(({ BloomLevel }) => new BloomLevel('one/way').keys().all())`)).toEqual(['./one//way', '/one/way/', 'one/./way', 'one/way']);
    await first.close();
    await second.close();
  });

  test('a worker that hears of the database before it has its own lock is not taken for one that has ended', async () => {
    const page = await site.newPage();
    const found = page.evaluate(`import('/level-page.js').then(async ({ BloomLevel }) => {
      const urlOf = (...lines) => URL.createObjectURL(new Blob(lines, { type: 'text/javascript' }));
      const late = urlOf(\`
        const { locks } = navigator;
        const request = locks.request.bind(locks);
        locks.request = async (name, ...rest) => {
          if (name.startsWith('@bloom/level client')) await new Promise((resolve) => setTimeout(resolve, 1000));
          return request(name, ...rest);
        };
      \`);
      const worker = () => new Worker(urlOf(\`import '\${late}'; import '\${location.origin}/level-worker.js';\`), { type: 'module' });
      const second = new BloomLevel('late-lock', { worker });
      const put = second.put('b', '2');
      await new Promise((resolve) => setTimeout(resolve, 500));
      const first = new BloomLevel('late-lock');
      await first.put('a', '1');
      await put;
      const keys = await second.keys().all();
      await Promise.all([first.close(), second.close()]);
      return keys;
    })`);
    const late = new Promise((resolve) => setTimeout(resolve, 10_000, 'no answer after ten seconds'));
    expect(await Promise.race([found, late])).toEqual(['a', 'b']);
    await page.close();
  });

  test('a level whose own worker was ended says so, is closed, and can be opened again', async () => {
    const page = await site.newPage();
    const codes = await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel, codesOf }) => {
      const workers = [];
      const worker = () => (workers.push(new Worker('/level-worker.js', { type: 'module' })), workers.at(-1));
      const level = new BloomLevel('ended-worker', { worker });
      await level.put('a', '1');
      const [keys, snapshot] = [level.keys(), level.snapshot()];
      await keys.next();
      workers[0].terminate();
      const calls = [level.get('a'), level.put('b', '2'), keys.all(), level.get('a', { snapshot })];
      const codes = await Promise.all(calls.map((call) => call.catch(codesOf)));
      await level.close();
      await level.open();
      codes.push(await level.keys().all(), workers.length);
      await level.close();
      return codes;
    })`);
    expect(codes).toEqual([['LEVEL_IO_ERROR'], ['LEVEL_IO_ERROR'], ['LEVEL_IO_ERROR'], ['LEVEL_IO_ERROR'], ['a'], 2]);
    await page.close();
  });

  test('what the browser refuses is LEVEL_IO_ERROR', async () => {
    const page = await site.newPage();
    const codes = await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel, codesOf }) => {
      const refuse = "StorageManager.prototype.getDirectory = () => Promise.reject(new DOMException('not in a private window', 'SecurityError'));";
      const urlOf = (...lines) => URL.createObjectURL(new Blob(lines, { type: 'text/javascript' }));
      const worker = () => new Worker(urlOf("import '" + urlOf(refuse) + "'; import '" + location.origin + "/level-worker.js';"), { type: 'module' });
      const root = await navigator.storage.getDirectory();
      await root.getFileHandle('a-file', { create: true });
      const level = new BloomLevel('refused', { worker });
      const calls = [level.open(), BloomLevel.destroy('refused', { worker }), BloomLevel.repair('refused', { worker }), new BloomLevel('a-file').open(), new BloomLevel('a-file/below').open()];
      const codes = await Promise.all(calls.map((call) => call.catch(codesOf)));
      await level.close();
      eval(refuse);
      codes.push(await new BloomLevel('refused', { readOnly: true }).open().catch(codesOf));
      return codes;
    })`);
    expect(codes).toEqual([
      ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_IO_ERROR', 'SecurityError'],
      ['LEVEL_IO_ERROR', 'SecurityError'],
      ['LEVEL_IO_ERROR', 'SecurityError'],
      ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_IO_ERROR', 'TypeMismatchError'],
      ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_IO_ERROR', 'TypeMismatchError'],
      ['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_IO_ERROR', 'SecurityError'],
    ]);
    await page.close();
  });

  test('a value that is not bytes is refused, and a page that may not keep files is told so', async () => {
    const page = await site.newPage();
    expect(await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel, codesOf }) => {
      const level = new BloomLevel('refused-values');
      const asItIs = { name: 'as-it-is', format: 'view', encode: (value) => value, decode: (value) => value };
      const found = [];
      for (const value of [5, {}, undefined]) found.push(await level.put('a', value, { valueEncoding: { ...asItIs, encode: () => value } }).catch(({ message }) => message));
      found.push(await level.keys().all());
      await level.close();
      Object.defineProperty(globalThis, 'isSecureContext', { value: false });
      try {
        new BloomLevel('insecure');
      } catch (error) {
        found.push(codesOf(error));
      }
      return found;
    })`)).toEqual(['value must be a Uint8Array or a string, got number', 'value must be a Uint8Array or a string, got object', 'Value cannot be null or undefined', [], ['LEVEL_NOT_SUPPORTED']]);
    await page.close();
  });

  test('views are sent to the worker as their bytes', async () => {
    const page = await site.newPage();
    expect(await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel }) => {
      const level = new BloomLevel('views', { keyEncoding: 'view', valueEncoding: 'view' });
      const floats = new Float32Array([0, 1.5, -2]).subarray(1);
      const view = new DataView(floats.buffer, 4, 8);
      await level.put(view, floats);
      return [[...await level.get(floats)], (await level.keys({ gte: floats, lte: view }).all()).map((key) => [...key])];
    })`)).toEqual([[0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0], [[0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0]]]);
    await page.close();
  });

  test('another origin has a database of its own at the same path', async () => {
    const other = await Origin.start(await bundled('level-page', 'level-worker'));
    const [here, there] = [await site.newPage(), await browser.newPage(other.url)];
    for (const [page, value] of [[here, 'here'], [there, 'there']] as const) {
      await page.evaluate(`import('/level-page.js').then(({ BloomLevel }) => (globalThis.level = new BloomLevel('origins')).put('a', '${value}'))`);
    }
    expect(await here.evaluate(`level.get('a')`)).toBe('here');
    expect(await there.evaluate(`level.get('a')`)).toBe('there');
    await here.close();
    await there.close();
    await other.stop();
  });

  test('a level that a tab has open is not destroyed by another, and is once it is closed', async () => {
    const [first, second] = [await site.newPage(), await site.newPage()];
    await first.evaluate(`import('/level-page.js').then(({ BloomLevel }) => (globalThis.level = new BloomLevel('destroyed')).put('a', '1'))`);
    const destroy = `import('/level-page.js').then(({ BloomLevel }) => BloomLevel.destroy('destroyed')).catch(({ code }) => code)`;
    expect(await second.evaluate(destroy)).toBe('LEVEL_LOCKED');
    expect(await first.evaluate(`level.put('b', '2').then(() => level.keys().all())`)).toEqual(['a', 'b']);
    expect(await first.evaluate(destroy)).toBe('LEVEL_LOCKED');
    await first.evaluate(`level.close()`);
    expect(await second.evaluate(destroy)).toBeUndefined();
    expect(await second.evaluate(`navigator.storage.getDirectory().then((root) => root.getDirectoryHandle('destroyed')).catch(({ name }) => name)`)).toBe('NotFoundError');
    await first.close();
    await second.close();
  });

  test('after the quota was used up, a tab that opens its level anew writes again, while others have it open', async () => {
    const [first, second] = [await site.newPage(), await site.newPage()];
    for (const page of [first, second]) await page.evaluate(`import('/level-page.js').then(({ BloomLevel }) => (globalThis.level = new BloomLevel('full')).open())`);
    await first.evaluate(`level.put('a', '1')`);
    const session = await browser.context.newCDPSession(first);
    const { usage } = await session.send('Storage.getUsageAndQuota', { origin: site.url });
    await session.send('Storage.overrideQuotaForOrigin', { origin: site.url, quotaSize: usage + 1e6 });
    const fill = `(async () => {
      for (let i = 0; ; i++) await level.put('key ' + i, String.fromCharCode(...crypto.getRandomValues(new Uint8Array(10_000)).map((byte) => byte & 127)));
    })().catch(({ code }) => code)`;
    expect(await second.evaluate(fill)).toBe('LEVEL_NO_SPACE');
    expect(await first.evaluate(`level.put('b', '2').catch(({ code }) => code)`)).toBe('LEVEL_NO_SPACE');
    expect(await first.evaluate(`level.get('a')`)).toBe('1');
    await session.send('Storage.overrideQuotaForOrigin', { origin: site.url });
    await second.evaluate(`level.close().then(() => level.open()).then(() => level.put('c', '3'))`);
    expect(await first.evaluate(`level.put('d', '4').then(() => level.getMany(['a', 'b', 'c', 'd']))`)).toEqual(['1', undefined, '3', '4']);
    await first.close();
    await second.close();
  });

  test('a browser-level is copied, and a copy that was interrupted goes on', async () => {
    const page = await site.newPage();
    const copied = await page.evaluate(`import('/level-page.js').then(async ({ BloomLevel, BrowserLevel, copyLevel }) => {
      const old = new BrowserLevel('old');
      await old.batch(Array.from({ length: 3000 }, (_, i) => ({ type: 'put', key: String(i), value: 'value ' + i })));
      const level = new BloomLevel('copied');
      const abort = new AbortController();
      const code = await copyLevel(old, level, { signal: abort.signal, onProgress: ({ entries }) => entries > 500 && abort.abort() }).catch((error) => error.code);
      const { entries, copiedNow } = await copyLevel(old, level);
      const [expected, found] = [await old.iterator().all(), await level.iterator().all()];
      await old.close();
      await level.close();
      return { code, entries, wentOn: copiedNow < 2500, isSame: JSON.stringify(found) === JSON.stringify(expected), count: found.length };
    })`);
    expect(copied).toEqual({ code: 'LEVEL_ABORTED', entries: 3000, wentOn: true, isSame: true, count: 3000 });
    await page.close();
  });

  // It takes minutes where the machine is slow: `pnpm --filter @bloom/long-tests level-suite`.
  test.runIf(process.env.BLOOM_LEVEL_SUITE === 'page')("every assertion of abstract-level's suite holds but those of getSync", async () => {
    const page = await site.newPage();
    const result = await page.evaluate<SuiteResult>(`import('/level-page.js').then(({ runSuite }) => runSuite())`);
    expect(result).toEqual(SUITE_WITHOUT_GET_SYNC);
    await page.close();
  });
});
