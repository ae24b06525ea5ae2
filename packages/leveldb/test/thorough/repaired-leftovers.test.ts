import process from 'node:process';
import { seeded } from '@bloom/fixtures';
import { Database, WritableMemoryFolder } from '@bloom/leveldb';
import { describe, expect, test } from 'vitest';
import { repaired } from '../interrupted-repair.js';
import { databaseWithLeftovers } from '../leftover-files.js';
import { PowerCutFolder, type Remains } from '../power-cut-folder.js';
import { asMap, entriesOf, mustBeSound } from '../some-database.js';

// tooling/long-tests has a run of 1,000.
const seeds = Array.from({ length: Number(process.env.BLOOM_REPAIRS ?? 8) }, (_, i) => i + 1);

const latin1 = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

describe.each(seeds)('of the database of seed %i, with obsolete tables, logs and MANIFESTs', (seed) => {
  test('a repair makes exactly its entries, also if it is interrupted and repeated', async () => {
    const random = seeded(seed);
    const { files, entries, obsolete } = await databaseWithLeftovers(seed);
    for (const [name, bytes] of obsolete) if (random.below(4) > 0) files.set(name, bytes);
    // The MANIFEST in use has the highest number. Without a CURRENT that names it, a repair has to find it.
    const current = random.below(3);
    if (current === 1) files.delete('CURRENT');
    if (current === 2) files.set('CURRENT', latin1('MANIFEST-999999\n'));
    const folder = new WritableMemoryFolder(files);
    const { lost, guessed, manifest } = await Database.repair(folder);
    // Without CURRENT the MANIFEST may be an old one, so a table of a compaction that never ended may be newer.
    if (current === 0) expect({ lost, guessed }).toEqual({ lost: [], guessed: [] });
    expect(files.has(manifest!)).toBe(true);
    await mustBeSound(folder);
    expect(asMap(await entriesOf(folder))).toEqual(entries);
    if (guessed.length === 0) {
      const isData = (name: string): boolean => /\.(ldb|log)$/.test(name);
      const gone = [...files.keys()].filter((name) => isData(name) && !folder.files().has(name));
      expect(folder.lostFolder().list().filter(isData).sort()).toEqual(gone.sort());
    }

    const whole = new PowerCutFolder(files);
    const cuts: Remains[] = [];
    whole.onOperation = () => cuts.push(whole.remains());
    await repaired(whole);
    for (let i = 0; i < 6; i++) {
      const again = new PowerCutFolder(cuts[random.below(cuts.length)]!.folder(random).files());
      if (random.below(2) === 0) {
        const operation = random.below(cuts.length);
        again.onOperation = (number) => {
          if (number >= operation) throw new Error('no space left');
        };
        await Database.repair(again, { lock: 'none' }).catch(() => undefined);
        again.onOperation = () => undefined;
      }
      expect((await repaired(again)).entries).toEqual(entries);
    }
    await Database.repair(folder);
    expect(asMap(await entriesOf(folder))).toEqual(entries);
  });
});
