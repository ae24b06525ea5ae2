/**
 * What Chromium stored in other years. `BLOOM_OLD_CHROMIUM=1` downloads the builds, about 700 MB: `npx pnpm@10 --filter
 * @bloom/long-tests old-chromium`. The profiles in `fixtures/data/web-storage-years` are from these builds, and are read without them.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Stored } from '../../src/described-storage.js';
import { headlessRun } from '../../src/headless-run.js';
import { DELETES_SESSIONS, DESCRIBES_FILES, KEEPS_SESSIONS, OLD_CHROMIUMS, oldChromium } from '../../src/old-chromium.js';
import { bundledForOld } from '../../src/origin.js';
import { byKey, readDeletedSessionItems, readItems, readRecords, readSessionItems, withoutFileFacts } from '../../src/read-storage.js';

const wanted = process.env.BLOOM_OLD_CHROMIUM;
/** From the first of these versions on, errors are cloned. Up to the second, V8 counts them when it writes references, but not when it reads them. */
const CLONES_ERRORS = 77;
const READS_ERRORS = 106;
const COUNT = 200;

if (wanted === undefined) test.skip('BLOOM_OLD_CHROMIUM is not set, so Chromium of other years is not downloaded', () => {});
describe.runIf(wanted !== undefined)('Chromium of other years', () => {
  test.each(OLD_CHROMIUMS)('$version ($year): 200 random values, their indexes and all items are read as the page has them', async (old) => {
    const count = Math.min(COUNT, old.mostValues ?? COUNT);
    const script = await bundledForOld('reporting-page', { __SEED__: old.version, __COUNT__: count, __HAS_LARGE__: count === COUNT });
    const run = await headlessRun(oldChromium(old), script);
    try {
      const stored = JSON.parse(run.report) as Stored;
      expect(stored.records.notes!.length).toBeGreaterThan(count / 2);
      const indexedDb = join(run.profile, 'IndexedDB');
      const records = await readRecords(join(indexedDb, readdirSync(indexedDb).find((name) => name.endsWith('.leveldb'))!));
      expect(records).toEqual(old.version < DESCRIBES_FILES ? withoutFileFacts(stored.records) : stored.records);
      // The browser is wrong there, not the values.
      if (old.version >= CLONES_ERRORS && old.version < READS_ERRORS) expect(stored.misread).toBeGreaterThan(0);
      else if (old.version >= DESCRIBES_FILES) expect(stored.misread).toBe(0);
      expect(await readItems(join(run.profile, 'Local Storage/leveldb'), run.origin)).toEqual([...stored.local].sort(byKey));
      const session = join(run.profile, 'Session Storage');
      expect(existsSync(session)).toBe(old.version >= KEEPS_SESSIONS);
      if (existsSync(session)) {
        const items = old.version >= DELETES_SESSIONS ? await readDeletedSessionItems(session) : await readSessionItems(session, `${run.origin}/`);
        expect(items).toEqual([...stored.session].sort(byKey));
      }
    } finally {
      run.remove();
    }
  });
});
