import { seeded } from '@bloom/fixtures';
import { Database } from '@bloom/leveldb';
import { expect, test } from 'vitest';
import { collect } from '../collect.js';
import { damagedFiles, mustHaveKept, repaired } from '../interrupted-repair.js';
import { PowerCutFolder, type Remains } from '../power-cut-folder.js';
import { asMap, small, someDatabase } from '../some-database.js';

/** How often what is left of a cut is drawn; more often in the run of repairs in tooling/long-tests. */
const tries = process.env.BLOOM_REPAIRS === undefined ? 1 : 4;

test.each([
  { what: 'a damaged', filesOf: damagedFiles },
  { what: 'an intact', filesOf: async () => (await someDatabase(4)).files },
])('after a power cut before any operation of a repair, the next repair recovers the same entries, for $what database', async ({ filesOf }) => {
  const files = await filesOf();
  const random = seeded(6);
  const folder = new PowerCutFolder(files);
  const cuts: { readonly remains: Remains; readonly operation: string }[] = [];
  folder.onOperation = (_, operation) => cuts.push({ remains: folder.remains(), operation });
  const whole = await repaired(folder);
  expect(cuts.length).toBeGreaterThan(15);
  expect(whole.report.lost.length > 0).toBe(filesOf === damagedFiles);
  for (const { remains, operation } of cuts) {
    // Before a sync of the folder, the most changes are uncertain.
    for (let i = operation === 'syncFolder' ? 8 * tries : tries; i > 0; i--) {
      const again = new PowerCutFolder(remains.folder(random).files());
      // Opening the folder between the repairs does no harm: it is refused, or, if the repair was complete, finds all entries.
      const opened = await Database.open(again, small).catch((error: unknown) => error);
      if (opened instanceof Database) {
        expect(asMap(await collect(opened.entries())), operation).toEqual(whole.entries);
        await opened.close();
      } else {
        expect(opened, operation).toMatchObject({ code: expect.stringMatching(/^BLOOM_/) as string });
      }
      const outcome = await repaired(again);
      expect(outcome.entries, operation).toEqual(whole.entries);
      // If the database was opened, it has other logs by now.
      if (!(opened instanceof Database)) mustHaveKept(outcome, whole);
    }
  }
});
