/**
 * What Chromium stored in other years. `BLOOM_OLD_CHROMIUM=1` downloads the builds, about 700 MB: `npx pnpm@10 --filter
 * @bloom/long-tests old-chromium`. The profiles in `fixtures/data/web-storage` are from these builds, and are read without them.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Stored } from '../../src/described-storage.js';
import { headlessRun } from '../../src/headless-run.js';
import { OLD_CHROMIUMS, oldChromium } from '../../src/old-chromium.js';
import { bundledForOld } from '../../src/origin.js';
import { byKey, readDeletedSessionItems, readItems, readRecords, readSessionItems } from '../../src/read-storage.js';

const wanted = process.env.BLOOM_OLD_CHROMIUM;
/** From this version on, headless Chromium keeps Session Storage on the disk. */
const KEEPS_SESSIONS = 79;
/** From this version on, it handles the signal that asks it to end, and deletes Session Storage then. */
const DELETES_SESSIONS = 119;
/** From this version on, size and date of files are stored. */
const DESCRIBES_FILES = 83;
/** From the first of these versions on, errors are cloned. Up to the second, V8 counts them when it writes references, but not when it reads them. */
const CLONES_ERRORS = 77;
const READS_ERRORS = 106;
const COUNT = 200;

function withoutFileFacts(records: Stored['records']): Stored['records'] {
  return JSON.parse(JSON.stringify(records).replaceAll(/(File file \d+\.txt text\/plain) \d+ \d+/gu, '$1 undefined undefined')) as Stored['records'];
}

describe.skipIf(wanted === undefined)('Chromium of other years', () => {
  test.each(OLD_CHROMIUMS)('$version ($year): 200 random values, their indexes and all items are read as the page has them', async (old) => {
    const script = await bundledForOld('reporting-page', { __SEED__: old.version, __COUNT__: COUNT, __HAS_LARGE__: true });
    const run = await headlessRun(oldChromium(old), script);
    try {
      const stored = JSON.parse(run.report) as Stored;
      expect(stored.records.notes!.length).toBeGreaterThan(COUNT / 2);
      const indexedDb = join(run.profile, 'IndexedDB');
      const records = await readRecords(join(indexedDb, readdirSync(indexedDb).find((name) => name.endsWith('.leveldb'))!));
      expect(records).toEqual(old.version < DESCRIBES_FILES ? withoutFileFacts(stored.records) : stored.records);
      // The browser is wrong there, not the values.
      if (old.version >= CLONES_ERRORS && old.version < READS_ERRORS) expect(stored.misread).toBeGreaterThan(0);
      else expect(stored.misread).toBe(0);
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
