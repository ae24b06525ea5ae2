import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAbstractSuite, WHOLE_SUITE } from '@bloom/fixtures/abstract-suite';
import { BloomLevel } from '@bloom/level';
import { ClassicLevel } from 'classic-level';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** Every fourth folder is opened again. `F long-tests level-folders` opens all. */
const STEP = Number(process.env.BLOOM_FOLDER_STEP ?? 4);

let root = '';
let folders = 0;
beforeAll(() => void (root = mkdtempSync(join(tmpdir(), 'bloom-level-'))));
afterAll(() => rmSync(root, { recursive: true }));

test('on files, every assertion of abstract-level 3.1.1 holds, of the level and of a sublevel', async () => {
  const result = await runAbstractSuite((options) => new BloomLevel(join(root, String(folders++)), options));
  expect(result).toEqual(WHOLE_SUITE);
});

test('classic-level finds in the folders of the suite what a level finds', async () => {
  const options = { keyEncoding: 'hex', valueEncoding: 'hex', createIfMissing: false } as const;
  let opened = 0;
  let entries = 0;
  for (let i = 0; i < folders; i += STEP) {
    const path = join(root, String(i));
    // A level that was not opened, or was to be opened with createIfMissing: false.
    if (!existsSync(join(path, 'CURRENT'))) continue;
    const ours = new BloomLevel(path, { ...options, readOnly: true });
    const expected = await ours.iterator().all();
    await ours.close();
    // Some tests leave their level open, so that the folder itself is locked.
    const copy = `${path}-copy`;
    cpSync(path, copy, { recursive: true });
    const theirs = new ClassicLevel(copy, options);
    expect(await theirs.iterator().all()).toEqual(expected);
    await theirs.close();
    opened++;
    entries += expected.length;
  }
  expect(opened).toBeGreaterThan(900 / STEP);
  expect(entries).toBeGreaterThan(7000 / STEP);
});
