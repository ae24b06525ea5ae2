/** The laws of what survives when the power fails, for folders whose storage can be simulated. */
import { joinedBytes, numberOf } from '@bloom/bytes/internal';
import { contents } from './contents.js';
import type { WritingLaw, WritingPlace } from './law.js';
import { differenceOf, type LawRun } from './law-run.js';

export const POWER_CUT_LAWS: readonly WritingLaw[] = [
  ['28. synced bytes survive a power cut', syncedBytes],
  ['29. names survive a power cut once the folder was synced', syncedNames],
  ['30. after a power cut a renaming has happened or not', renameInPowerCut],
];

/** How often each scene is repeated: what is left after a power cut is a matter of chance. */
const ROUNDS = 16;

async function syncedBytes(run: LawRun, place: WritingPlace): Promise<void> {
  if (place.cutPower === undefined) return;
  for (let round = 0; round < ROUNDS; round++) {
    const folder = await place.folder();
    const name = '000004.log';
    const [first, second, unsynced] = [contents(round, 900), contents(round + 100, 70_000), contents(round + 200, 400)];
    const file = await run.create(folder, name);
    await run.append(file, first);
    await run.sync(file);
    await run.syncFolder(folder);
    await run.append(file, second);
    await run.sync(file);
    if (round % 2 === 1) await run.append(file, unsynced);
    mustStartWith(run, await run.contentsOf(await place.cutPower(folder), name), name, joinedBytes([first, second]));
  }
}

function mustStartWith(run: LawRun, left: Uint8Array | undefined, name: string, synced: Uint8Array): void {
  if (left === undefined) run.fail(`"${name}" is gone after a power cut, and its name was synced by syncFolder()`);
  if (left.length < synced.length) run.fail(`"${name}" has ${numberOf(left.length, 'byte')} after a power cut, and ${synced.length} were synced`);
  const difference = differenceOf(left.subarray(0, synced.length), synced);
  if (difference !== undefined) run.fail(`after a power cut, "${name}" ${difference} and synced`);
}

async function syncedNames(run: LawRun, place: WritingPlace): Promise<void> {
  if (place.cutPower === undefined) return;
  for (let round = 0; round < ROUNDS; round++) {
    const folder = await place.folder();
    const [created, renamed, replaced, obsolete] = [contents(round, 100), contents(round + 100, 200), contents(round + 200, 300), contents(round + 300, 400)];
    await run.put(folder, 'CURRENT', replaced);
    await run.put(folder, '000001.ldb', obsolete);
    await run.syncFolder(folder);
    await run.put(folder, '000002.ldb', created);
    await run.put(folder, '000003.dbtmp', renamed);
    await run.rename(folder, '000003.dbtmp', 'CURRENT');
    await run.delete(folder, '000001.ldb');
    await run.syncFolder(folder);
    const left = await place.cutPower(folder);
    for (const [name, bytes, what] of [['000002.ldb', created, 'created'], ['CURRENT', renamed, 'replaced by a rename']] as const) {
      const found = await run.contentsOf(left, name);
      if (found === undefined || differenceOf(found, bytes) !== undefined) run.fail(`a file that was ${what} before syncFolder() is not what it was after a power cut`);
    }
    for (const [name, what] of [['000001.ldb', 'deleted'], ['000003.dbtmp', 'renamed']] as const) {
      if ((await run.contentsOf(left, name)) !== undefined) run.fail(`a file that was ${what} before syncFolder() is back after a power cut`);
    }
  }
}

async function renameInPowerCut(run: LawRun, place: WritingPlace): Promise<void> {
  if (place.cutPower === undefined) return;
  for (let round = 0; round < ROUNDS; round++) {
    const folder = await place.folder();
    const [before, after] = [contents(round, 150), contents(round + 100, 250)];
    await run.put(folder, 'CURRENT', before);
    await run.put(folder, '000003.dbtmp', after);
    await run.syncFolder(folder);
    await run.rename(folder, '000003.dbtmp', 'CURRENT');
    const left = await run.contentsOf(await place.cutPower(folder), 'CURRENT');
    if (left === undefined) run.fail('a file that another was renamed to is gone after a power cut');
    if (differenceOf(left, before) !== undefined && differenceOf(left, after) !== undefined) {
      run.fail(`a file that another was renamed to is neither the old one nor the new one after a power cut: it has ${numberOf(left.length, 'byte')}`);
    }
  }
}
