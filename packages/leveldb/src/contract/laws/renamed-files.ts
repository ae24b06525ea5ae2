import { contents } from '../contents.js';
import { isChange, type LawRun } from '../law-run.js';
import type { WritingPlace } from '../places.js';
import { differenceOf } from '../show.js';
import type { WritableFolder } from '../../folder/writable-folder.js';

const CURRENT = 'CURRENT';
const TEMPORARY = '000009.dbtmp';

/** How often CURRENT is replaced while it is read. */
const ROUNDS = 12;

export async function renamedFiles<Kind extends WritableFolder>(run: LawRun, place: WritingPlace<Kind>): Promise<void> {
  const folder = await place.folder();
  const moved = contents(1, 3000);
  await run.put(folder, 'a', moved);
  await run.rename(folder, 'a', 'b');
  await run.mustHold(folder, 'b', moved, ', after a file was renamed to it');
  await run.mustBeAbsent(folder, 'a', 'after it was renamed');

  let current = contents(2, 4000);
  await run.put(folder, CURRENT, current);
  for (let round = 0; round < ROUNDS; round++) {
    const next = contents(3 + round, 2000 + 500 * (round % 5));
    await run.put(folder, TEMPORARY, next);
    const reader = await run.open(folder, CURRENT);
    await renameWhileReading(run, folder, current, next);
    await run.mustHold(folder, CURRENT, next, ', after another file was renamed to it');
    await run.mustBeAbsent(folder, TEMPORARY, 'after it was renamed');
    await run.mustReadAsBefore(reader, CURRENT, current, ' when another file is renamed to it');
    await run.closeFile(reader);
    current = next;
  }
}

/** Replaces CURRENT, and reads it until that is done: it must always be there, as it was or as it will be. */
async function renameWhileReading(run: LawRun, folder: WritableFolder, before: Uint8Array, after: Uint8Array): Promise<void> {
  const progress = { isOver: false };
  const renaming = run.rename(folder, TEMPORARY, CURRENT).finally(() => (progress.isOver = true));
  // A failure is thrown where the promise is awaited.
  renaming.catch(() => undefined);
  for (let i = 1; !progress.isOver; i++) {
    const outcome = await run.outcomeOf(`open and read of "${CURRENT}"`, async () => {
      const file = await folder.open(CURRENT);
      if (file === undefined) return undefined;
      try {
        return file.byteLength === 0 ? new Uint8Array(0) : (await file.read(0, file.byteLength)).slice();
      } finally {
        await file.close?.();
      }
    });
    if ('error' in outcome) {
      if (!isChange(outcome.error)) run.fail(`"${CURRENT}" cannot be read while another file is renamed to it: ${String(outcome.error)}`, outcome.error);
    } else if (outcome.answer === undefined) {
      run.fail(`open("${CURRENT}") gives undefined while another file is renamed to it`);
    } else if (differenceOf(outcome.answer, before) !== undefined && differenceOf(outcome.answer, after) !== undefined) {
      run.fail(`"${CURRENT}" is neither the old file nor the new one while another file is renamed to it: it has ${outcome.answer.length} bytes`);
    }
    if (i % 4 === 0) await run.turn();
  }
  await renaming;
}
