/** Writes `fixtures/data/web-storage-years/chromium-*` with a build of each year that npm has: small profiles, and what their pages say of them. */
import { join } from 'node:path';
import type { Stored } from './described-storage.js';
import { headlessRun } from './headless-run.js';
import { DELETES_SESSIONS, DESCRIBES_FILES, OLD_CHROMIUMS, oldChromium } from './old-chromium.js';
import { bundledForOld } from './origin.js';
import { withoutFileFacts } from './read-storage.js';
import { writeStorageFixture } from './storage-fixture.js';

const VALUES = 20;

// The last build of each year.
const years = new Map(OLD_CHROMIUMS.map((old) => [old.year, old]));
for (const old of years.values()) {
  const script = await bundledForOld('reporting-page', { __SEED__: old.version, __COUNT__: VALUES, __HAS_LARGE__: false });
  const run = await headlessRun(oldChromium(old), script);
  const { records, local, session } = JSON.parse(run.report) as Stored;
  writeStorageFixture(join(import.meta.dirname, `../../fixtures/data/web-storage-years/chromium-${old.version}`), run.profile, {
    browser: `Chromium ${old.version}`,
    year: old.year,
    storageKey: run.origin,
    deletedSession: old.version >= DELETES_SESSIONS,
    records: old.version < DESCRIBES_FILES ? withoutFileFacts(records) : records,
    local,
    session,
  });
  run.remove();
}
